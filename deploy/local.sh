#!/usr/bin/env bash
# Runs Stanchion on this machine: builds both services, starts a private Postgres and Redis, a demo
# event and a demo shop. See --help.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/packages.sh
. "$root/deploy/lib/packages.sh"

usage() {
    cat <<'TEXT'
Runs Stanchion on this machine: a private Postgres and Redis, the waiting room, the checkout, a demo
event and a demo shop. What is missing is installed (Debian, Ubuntu) or named. Ctrl-C stops it all.

usage: deploy/local.sh [--detach] [--instances N] [--bench] [--directory DIRECTORY]
       deploy/local.sh --stop [--directory DIRECTORY]

  --detach               run in the background; return when everything is up
  --stop                 stop what runs in the background
  --instances N          N waiting rooms and N checkouts (1 to 16)
  --bench                build for speed and lift the limits per user and per address: for measuring
                         only, never for the public
  --directory DIRECTORY  where data, secrets and logs are kept (.local in the repository)

Addresses and tokens are in .local/env while it runs, logs in .local/logs. To start afresh, remove
.local while it is stopped. STANCHION_LOG=debug makes the services say more.
TEXT
}

profile=release
action=start
directory=$root/.local
arguments=("$@")
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage && exit 0 ;;
        --bench) profile=dist ;;
        --stop) action=stop ;;
        --detach | --instances=*) ;;
        --directory=*) directory=${1#*=} ;;
        --directory | --instances)
            [ $# -gt 1 ] || fail "$1 needs a value; see --help"
            if [ "$1" = --directory ]; then directory=$2; fi
            shift
            ;;
        *) usage >&2 && fail "unknown argument: $1" ;;
    esac
    shift
done
case " ${arguments[*]-} " in
    *" --directory"*) ;;
    *) arguments+=(--directory "$directory") ;;
esac

target=${CARGO_TARGET_DIR:-$root/target}

if [ "$action" = stop ]; then
    # Either profile's binary will do; nothing is built to stop something.
    for built in release dist; do
        if [ -x "$target/$built/stanchion-local" ]; then
            exec "$target/$built/stanchion-local" "${arguments[@]}"
        fi
    done
    if [ -e "$directory/pid" ]; then
        fail "the binaries are gone; stop process $(cat "$directory/pid") by hand"
    fi
    say "not running"
    exit 0
fi

ensure_packages rust compiler postgres redis

say "building (profile $profile; the first time takes some minutes)"
# From the repository, where the toolchain is pinned; a relative --directory stays the caller's.
(cd "$root" && cargo build --profile "$profile" --locked -p waiting-room -p checkout -p sandbox -p local)

# A waiting room holds many connections open; the usual soft limit is 1024.
ulimit -S -n "$(ulimit -H -n)" 2>/dev/null || true
exec "$target/$profile/stanchion-local" "${arguments[@]}"

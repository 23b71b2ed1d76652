# Finds and installs the programs that Stanchion needs on a machine. To be sourced:
#
#   . deploy/lib/packages.sh
#   ensure_packages rust compiler postgres redis chromium nginx curl jq faketime
#
# On Debian and Ubuntu what is missing is installed with apt-get (through sudo unless root); elsewhere
# it is named and the script ends. No server of the distribution is started or enabled, and no
# cluster is made on port 5432: only the programs are wanted.

# shellcheck shell=bash

POSTGRES_MIN=14
REDIS_MIN=7

say() { printf '• %s\n' "$*"; }

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Makes sure that each of the named things is there: rust, compiler, postgres, redis, chromium, nginx, curl,
# jq, faketime.
ensure_packages() {
    local thing
    local -a packages=() missing=() found=()
    for thing in "$@"; do
        if ! "has_$thing"; then
            missing+=("$thing")
            mapfile -t found < <("packages_$thing")
            packages+=("${found[@]}")
        fi
    done
    if [ "${#missing[@]}" -eq 0 ]; then return 0; fi
    if [[ " ${missing[*]} " == *" rust "* ]]; then
        fail "cargo was not found. Install Rust from https://rustup.rs, then run this again."
    fi
    if ! command -v apt-get >/dev/null; then
        fail "please install: $(describe_things "${missing[@]}")"
    fi
    install_packages "${packages[@]}"
    for thing in "${missing[@]}"; do
        "has_$thing" || fail "$(describe_things "$thing") is needed; this distribution's packages \
(${packages[*]}) did not bring it. Please install it and run this again."
    done
}

describe_things() {
    local thing cmake='' words=()
    if needs_cmake; then cmake=' and cmake'; fi
    for thing in "$@"; do
        case $thing in
            postgres) words+=("PostgreSQL $POSTGRES_MIN or newer (the server)") ;;
            redis) words+=("Redis $REDIS_MIN or newer (redis-server)") ;;
            compiler) words+=("a C compiler$cmake") ;;
            chromium) words+=("Chromium and its chromedriver") ;;
            *) words+=("$thing") ;;
        esac
    done
    local IFS=,
    printf '%s' "${words[*]}" | sed 's/,/, /g'
}

# --- what is there ------------------------------------------------------------------------------

has_rust() {
    # A fresh rustup is only in the search path of a new login.
    if ! command -v cargo >/dev/null && [ -x "$HOME/.cargo/bin/cargo" ]; then
        PATH="$HOME/.cargo/bin:$PATH"
    fi
    command -v cargo >/dev/null
}

has_compiler() {
    { command -v cc || command -v gcc || command -v clang; } >/dev/null || return 1
    if needs_cmake; then command -v cmake >/dev/null; fi
}

# The cryptography library comes ready to compile for these; elsewhere it is configured by cmake.
needs_cmake() {
    case "$(uname -s)-$(uname -m)" in
        Linux-x86_64 | Linux-aarch64 | Darwin-x86_64 | Darwin-arm64) return 1 ;;
        *) return 0 ;;
    esac
}

has_postgres() {
    local postgres
    postgres=$(find_postgres) || return 1
    [ -x "$(dirname "$(readlink -f "$postgres")")/initdb" ] || return 1
    [ "$(first_number "$("$postgres" --version)")" -ge "$POSTGRES_MIN" ]
}

# In the search path, or the newest of the distribution's: the same order as the supervisor's.
find_postgres() {
    command -v postgres && return 0
    local newest
    newest=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | sort -V | tail -n 1)
    [ -x "$newest" ] && printf '%s\n' "$newest"
}

has_redis() {
    command -v redis-server >/dev/null || return 1
    [ "$(first_number "$(redis-server --version)")" -ge "$REDIS_MIN" ]
}

has_chromium() {
    { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null &&
        command -v chromedriver >/dev/null
}

has_nginx() { command -v nginx >/dev/null || [ -x /usr/sbin/nginx ]; }
has_faketime() { command -v faketime >/dev/null; }
has_curl() { command -v curl >/dev/null; }
has_jq() { command -v jq >/dev/null; }

# "postgres (PostgreSQL) 15.14 (Debian …)" → 15
first_number() {
    [[ $1 =~ ([0-9]+) ]] && printf '%s' "${BASH_REMATCH[1]}"
}

# --- Debian and Ubuntu --------------------------------------------------------------------------

packages_rust() { :; }
packages_compiler() {
    printf 'gcc libc6-dev\n'
    if needs_cmake; then printf 'cmake\n'; fi
}
packages_postgres() { printf 'postgresql\n'; }
packages_redis() { printf 'redis-server\n'; }
# Ubuntu's `chromium` is only a pointer to a snap; its driver package points there too.
packages_chromium() { printf 'chromium\nchromium-driver\n'; }

# The light one has auth_request, and brings no modules that would want loading.
packages_nginx() { printf 'nginx-light\n'; }
packages_faketime() { printf 'faketime\n'; }
packages_curl() { printf 'curl\n'; }
packages_jq() { printf 'jq\n'; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "installing packages needs root or sudo"
    fi
}

install_packages() {
    say "installing $* (apt-get)"
    local server
    local -a new_servers=()
    for server in redis-server nginx; do
        dpkg-query --show "$server" >/dev/null 2>&1 || new_servers+=("$server")
    done
    (
        # In a subshell, so that the trap is undone when it ends, however it ends.
        trap allow_servers EXIT
        forbid_servers && apt_get update -qq && apt_get install --yes --no-install-recommends "$@"
    ) || fail "apt-get could not install $*"
    # A server that came just now shall not start at the next boot either.
    [ -d /run/systemd/system ] || return 0
    for server in "${new_servers[@]}"; do
        if [ -e "/lib/systemd/system/$server.service" ]; then
            as_root systemctl disable --quiet "$server" || true
        fi
    done
}

apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1 apt-get -o DPkg::Lock::Timeout=120 "$@"
}

POLICY=/usr/sbin/policy-rc.d
CLUSTERS=/etc/postgresql-common/createcluster.conf
MARK='# stanchion: for the time of an installation'

# Debian's own switches against starting servers (policy-rc.d) and against a first cluster
# (createcluster.conf), for the time of the installation; a file that is there already is left alone.
forbid_servers() {
    if [ ! -e "$POLICY" ]; then
        printf '#!/bin/sh\n%s\nexit 101\n' "$MARK" | as_root tee "$POLICY" >/dev/null
        as_root chmod 755 "$POLICY"
    fi
    if [ ! -e "$CLUSTERS" ]; then
        as_root mkdir -p "$(dirname "$CLUSTERS")"
        printf '%s\ncreate_main_cluster = false\n' "$MARK" | as_root tee "$CLUSTERS" >/dev/null
    fi
}

allow_servers() {
    if grep -qsF "$MARK" "$POLICY"; then as_root rm -f "$POLICY"; fi
    if grep -qsF "$MARK" "$CLUSTERS"; then
        local packaged=/usr/share/postgresql-common/createcluster.conf
        if [ -e "$packaged" ]; then
            as_root cp "$packaged" "$CLUSTERS"
        else
            as_root rm -f "$CLUSTERS"
        fi
    fi
}

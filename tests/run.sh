#!/usr/bin/env bash
# Every check there is: formatting, lints, all tests. Installs what they need (Debian, Ubuntu) or
# names it. The tests start their own stores; nothing needs to run already.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/packages.sh
. "$root/deploy/lib/packages.sh"
cd "$root"

ensure_packages rust compiler postgres redis chromium nginx faketime

say "formatting"
cargo fmt --all --check
say "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings
say "tests"
# A hot sector's test holds a thousand connections open; the usual soft limit is 1024 files.
ulimit -S -n "$(ulimit -H -n)" 2>/dev/null || true
# Some tests signal, kill or deceive the services' own processes.
cargo build --workspace --locked --bins
cargo test --workspace --locked "$@"

#!/usr/bin/env bash
# Runs the README's walk-through, to the letter, against the stack that deploy/local.sh has started,
# and checks what it comes to.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/packages.sh
. "$root/deploy/lib/packages.sh"
cd "$root"

ensure_packages curl jq

# The bash blocks between the two headings.
steps=$(awk '/^## /{inside = ($0 == "## Walk through")} inside && /^```$/{block = 0} block; inside && /^```bash$/{block = 1}' README.md)
[ -n "$steps" ] || fail "the README has no walk-through"

output=$(bash -euo pipefail -c "$steps")
printf '%s\n' "$output"
grep -q '"state": "confirmed"' <<<"$output" || fail "the walk-through did not end in a confirmed reservation"
grep -q '"consistent": true' <<<"$output" || fail "the stock does not add up after the walk-through"
say "the walk-through works"

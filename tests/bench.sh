#!/usr/bin/env bash
# Measures everything against its limits and its peers, and prints one table; `--write` keeps it in docs/performance.md.
# It builds with optimization, into the same target folder, and wants a machine that does nothing else meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
measure() {
  cargo bench --quiet --locked "$@" | tee /dev/stderr | grep '^|' >>"$rows"
}
measure -p stellar-vm --bench machine
measure -p stellar-runtime --bench store
measure -p stellar-tests --bench whole

cpu=$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -1)
kernel=$(uname -sr)
table() {
  echo "| what | figure | limit | |"
  echo "|---|---|---|---|"
  cat "$rows"
  echo
  echo "Measured on $(date -u +%Y-%m-%d): $(nproc) × ${cpu:-an unknown processor}, $kernel, $(rustc --version)."
}
echo
table
if [ "${1:-}" = "--write" ]; then
  page=docs/performance.md
  { sed '/^<!-- measured -->$/q' "$page"; echo; table; } >"$page.new"
  mv "$page.new" "$page"
fi

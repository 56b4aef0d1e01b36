#!/usr/bin/env bash
# Passes every check and every test of the workspace, and prints how many tests there were.
# Installs what they need beyond the Rust toolchain; at present that is two of its own components.
set -euo pipefail
cd "$(dirname "$0")/.."

for component in rustfmt clippy; do
  cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 || rustup component add "$component"
done

export CI="${CI:-true}" # a missing snapshot fails instead of being written
cargo fmt --all --check
cargo clippy --workspace --all-targets --locked -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
cargo test --workspace --locked --no-fail-fast 2>&1 | tee "$log" || status=$?

# The closing line: the sum over all test programs.
awk '/^test result:/ { passed += $4; failed += $6; ignored += $8 }
     END { printf "%d passed, %d failed, %d skipped\n", passed, failed, ignored; exit ignored > 0 || failed > 0 }' "$log" || status=1
exit "$status"

#!/usr/bin/env bash
# Builds the fuzzer and lets it look for inputs that something does not hold for:
#   tests/fuzz/run.sh TARGET [SECONDS]        or, to try files again:  tests/fuzz/run.sh TARGET FILE…
# Needs a C++ compiler, for libFuzzer. What it learns is kept in tests/fuzz/corpus/TARGET, what it finds in
# tests/fuzz/found/TARGET; what was mended belongs in tests/fixtures/fuzz/TARGET, where a test tries it for good.
set -euo pipefail
cd "$(dirname "$0")"
target=$1
what=${2:-600}

export RUSTC_WRAPPER="$PWD/instrument.sh"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../../target}"
cargo build --locked
unset RUSTC_WRAPPER
fuzz="$CARGO_TARGET_DIR/debug/stellar-fuzz"
export STELLAR_FUZZ="$target"
if [[ -e $what ]]; then
  exec "$fuzz" "${@:2}"
fi

corpus="corpus/$target"
mkdir -p "$corpus" "found/$target"
cargo run --quiet --manifest-path ../Cargo.toml --bin mutations -- --seeds "$target" --found "$corpus" --words "found/$target/words"
exec "$fuzz" "$corpus" "../fixtures/fuzz/$target" -dict="found/$target/words" -artifact_prefix="found/$target/" \
  -max_total_time="$what" -timeout=20 -rss_limit_mb=3000 -max_len=20000 -print_final_stats=1

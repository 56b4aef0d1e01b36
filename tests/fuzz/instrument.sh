#!/usr/bin/env bash
# Stands before rustc: our own crates are compiled so that libFuzzer sees what they cover and compare, others as they are.
set -euo pipefail
flags=()
case " $* " in
  *" --crate-name stellar_tests "* | *" --crate-name stellar_fuzz "*) ;;
  *" --crate-name stellar_"*)
    flags=(
      -Cpasses=sancov-module
      -Cllvm-args=-sanitizer-coverage-level=4
      -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
      -Cllvm-args=-sanitizer-coverage-pc-table
      -Cllvm-args=-sanitizer-coverage-trace-compares
    )
    ;;
esac
exec "$@" "${flags[@]}"

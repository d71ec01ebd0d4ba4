#!/bin/sh
# Builds the benchmarks with the release profile and prints their tables. Arguments go to the first (`--quick`).
set -eu
cd "$(dirname "$0")/.."
cargo bench --quiet --locked -p cogtcp-simulator --bench engine -- "$@"
exec cargo bench --quiet --locked -p cogtcp-simulator --bench adhoc

#!/bin/sh
# Builds the benchmark with the release profile and prints its tables. Arguments go to it (`--quick`).
set -eu
cd "$(dirname "$0")/.."
exec cargo bench --quiet --locked -p cogtcp-simulator --bench engine -- "$@"

#!/bin/sh
# Builds the benchmarks with the release profile and prints their tables: some ten minutes on one core, three with --quick.
# ns-2 and htsim take part where they are installed: see benches/engine.rs and benches/htsim.sh.
set -eu
cd "$(dirname "$0")/.."
case "${1-}" in "" | --quick) ;; *) echo "usage: benches/run.sh [--quick]" >&2; exit 2 ;; esac
cargo bench --quiet --locked -p cogtcp-simulator --bench engine -- "$@"
exec cargo bench --quiet --locked -p cogtcp-simulator --bench adhoc -- "$@"

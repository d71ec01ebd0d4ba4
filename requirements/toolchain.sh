#!/bin/sh
# Rust for machines that have none: `make` calls this.
#
#   toolchain.sh found VERSION           is there a cargo whose rustc is VERSION or newer?
#   toolchain.sh get VERSION FOLDER      put one into FOLDER (rustup's stable, by puccinialin from PyPI, as maturin
#                                        does), touching neither the home folder nor the PATH of a shell
set -eu

what=$1 wanted=$2

found() {
  command -v cargo >/dev/null || return 1
  # A shim of rustup without a toolchain is there, and fails; Debian's is there, and too old.
  version=$(rustc --version 2>/dev/null | sed -n 's/^rustc \([0-9]*\.[0-9]*\).*/\1/p') && [ -n "$version" ] || return 1
  [ "${version%.*}" -gt "${wanted%.*}" ] ||
    { [ "${version%.*}" -eq "${wanted%.*}" ] && [ "${version#*.}" -ge "${wanted#*.}" ]; }
}

if [ "$what" = found ]; then
  found
  exit
fi

folder=$3
python=${PYTHON:-python3}
log=$folder/log
mkdir -p "$folder"
cat >&2 <<END
There is no Rust $wanted or newer on this machine: getting one into $folder/
(about 650 MB, by rustup from static.rust-lang.org; delete the folder to be rid of it) ...
END
if { [ -x "$folder/python/bin/pip" ] || { rm -rf "$folder/python"; "$python" -m venv "$folder/python"; }; } >"$log" 2>&1 &&
  "$folder/python/bin/python" -m pip install --require-hashes -r requirements/toolchain.txt >>"$log" 2>&1 &&
  # A cargo that is too old must not be taken for the new one; RUSTUP_* and CARGO_* are those of this folder.
  env -u RUSTUP_TOOLCHAIN "$folder/python/bin/python" -m puccinialin --location "$folder" >>"$log" 2>&1 &&
  RUSTUP_HOME=$folder/rustup CARGO_HOME=$folder/cargo PATH="$folder/cargo/bin:$PATH" found; then
  echo "Rust is there: $(RUSTUP_HOME=$folder/rustup "$folder/cargo/bin/rustc" --version)" >&2
else
  reason=$(grep -v '^ *$' "$log" | tail -n 1 | cut -c 1-200)
  cat >&2 <<END
cogtcp needs Rust $wanted or newer, and it could not be had (the whole log: $log):
  ${reason:-no reason given}
Install it from https://rustup.rs (it needs no root), then run make again.
END
  exit 1
fi

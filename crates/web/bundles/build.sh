#!/bin/sh
# Bundles what the lab's page takes from npm: build.sh FOLDER. Versions and hashes are those of package-lock.json.
# Fails where there is no npm, or no registry: the page then has a plain text field.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cp "$here"/*.json "$here"/*.js "$1"
cd "$1"
npm ci --silent --ignore-scripts --no-audit --no-fund

# bundle NAME PACKAGE...: the licences of these packages stand at its head, each text once.
bundle() {
  name=$1
  shift
  node_modules/.bin/esbuild "$name.js" --bundle --minify --format=esm --target=es2022 --log-level=warning --outfile="$name.code.js"
  {
    echo "/*"
    for package in "$@"; do cksum <"node_modules/$package/LICENSE" | tr '\n' ' '; echo "$package"; done |
      awk '!seen[$1]++ { print $3 }' | while read -r package; do cat "node_modules/$package/LICENSE"; done
    echo "*/"
    cat "$name.code.js"
  } >"$name.bundle.js"
}

bundle editor @codemirror/view @lezer/common @marijn/find-cluster-break crelt style-mod w3c-keyname

#!/usr/bin/env bash
# Makes gradstep.vsix in this folder; needs Node.js.
set -euo pipefail
cd "$(dirname "$0")"
cp ../../LICENSE .
trap 'rm LICENSE' EXIT
npx --yes @vscode/vsce@3 package --no-dependencies --out gradstep.vsix

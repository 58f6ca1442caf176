#!/usr/bin/env bash
# Makes gradstep.vsix in this folder; needs Node.js.
set -euo pipefail
cd "$(dirname "$0")"
npx --yes @vscode/vsce@3 package --no-dependencies --allow-missing-repository --skip-license \
    --out gradstep.vsix

#!/usr/bin/env bash
# Builds everything, lints, and runs the quick tests; --all adds the long ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tier=(-L quick)
case "${1:-}" in
  '') ;;
  --all) tier=() ;;
  *)
    echo "usage: tools/test.sh [--all]" >&2
    exit 2
    ;;
esac

tools/setup.sh
cmake --preset release
cmake --build --preset release
tools/lint.sh build/release
ctest --test-dir build/release "${tier[@]}" --output-on-failure --no-tests=error --parallel "$(nproc)"

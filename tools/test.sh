#!/usr/bin/env bash
# Builds everything, lints, and runs the quick tests; --all adds the long ones, and machine code of CUDA kernels where there
# is no device. --asan adds the tests of the program, those
# with a window among them, under the address and undefined-behaviour sanitizers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tier=(-L quick)
cuda=()
asan=false
for option in "$@"; do
  case "$option" in
    --all) tier=() cuda=(-DSTICKSLIP_CUDA_ARCH=90) ;;
    --asan) asan=true ;;
    *)
      echo "usage: tools/test.sh [--all] [--asan]" >&2
      exit 2
      ;;
  esac
done

tools/setup.sh --test
cmake --preset release "${cuda[@]}"
cmake --build --preset release
tools/lint.sh build/release
tools/gpu_check.sh --self-check
ctest --test-dir build/release "${tier[@]}" --output-on-failure --no-tests=error --parallel "$(nproc)"
tools/fuzz.sh 10

if $asan; then
  cmake --preset asan
  cmake --build --preset asan --target stickslip test_app
  ctest --preset asan --exclude-regex '^(scene|test)_' --no-tests=error --parallel "$(nproc)"
fi

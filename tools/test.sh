#!/usr/bin/env bash
# Builds everything, lints, and runs the quick tests. --all adds the long tests; machine code of the CUDA kernels, with a
# limit for their stacks; and, on machines without a device, nvcc's compilation of the device tests. --asan adds the
# program's tests, including those with a window, under the address and undefined-behaviour sanitizers. With NAME, a
# regular expression: builds, and runs only the matching tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tier=(-L quick)
all=false
asan=false
name=
for option in "$@"; do
  case "$option" in
    --all) tier=() all=true ;;
    --asan) asan=true ;;
    -*)
      echo "usage: tools/test.sh [--all] [--asan] [NAME]" >&2
      exit 2
      ;;
    *) name=$option ;;
  esac
done

# Precompiled headers save an eighth of the build; clang-tidy and clang compile without them. Sources of a batch share headers and
# instances of templates: for nvcc, batches of twelve take 0.4 times the processor time of batches of four; for the host
# compiler, batches of forty take two thirds of the time of batches of eight, and those a half of single sources.
options=(-DSTICKSLIP_PCH=ON -DSTICKSLIP_GPU_BATCH=40 -DSTICKSLIP_UNIT_BATCH=24 -DSTICKSLIP_GROUP_TESTS=ON)
batch=12
# Without a device nothing runs what nvcc makes: it need not be fast code. This saves a sixth of the build. Each library is then one
# batch; with optimisation the largest would take too long and too much memory.
if $all; then
  options+=(-DSTICKSLIP_CUDA_ARCH=90 -DSTICKSLIP_CUDA_TESTS=ON -DCMAKE_CUDA_FLAGS= '-DCMAKE_CUDA_FLAGS_RELEASE=-O3 -DNDEBUG')
elif ! nvidia-smi -L >/dev/null 2>&1; then
  batch=100
  options+=('-DCMAKE_CUDA_FLAGS=-Xcicc -O0' '-DCMAKE_CUDA_FLAGS_RELEASE=-O0 -DNDEBUG')
else
  options+=(-DCMAKE_CUDA_FLAGS= '-DCMAKE_CUDA_FLAGS_RELEASE=-O3 -DNDEBUG')
fi
options+=("-DSTICKSLIP_CUDA_BATCH=$batch")

# stage NAME COMMAND...: runs it and records its time.
times=()
stage() {
  local name=$1 start=$SECONDS code=0
  shift
  "$@" || code=$?
  times+=("$(printf '%5d s  %s%s' $((SECONDS - start)) "$name" "$([ "$code" -eq 0 ] || echo ': FAILED')")")
  return "$code"
}
summary() {
  [ ${#times[@]} -eq 0 ] || printf '%s\n' 'test: where the time went' "${times[@]}" "$(printf '%5d s  in all' "$SECONDS")"
}
trap summary EXIT

# One more than there are processors: those with a window mostly wait.
run_tests() { ctest --test-dir build/release --output-on-failure --no-tests=error --parallel $(($(nproc) + 1)) "$@"; }

run_asan_tests() {
  cmake --preset asan && cmake --build --preset asan --target stickslip test_app &&
    ctest --preset asan --exclude-regex '^(scene|test|gpu_check)_' --no-tests=error --parallel "$(nproc)"
}

stage packages tools/setup.sh --test
stage configure cmake --preset release "${options[@]}"
stage build cmake --build --preset release
if [ -n "$name" ]; then
  STICKSLIP_SINGLE_TESTS=1 stage tests run_tests -R "$name"
  exit
fi
stage lint tools/lint.sh build/release
! $all || stage 'stacks of kernels' tools/kernel_resources.py build/release
stage tests run_tests "${tier[@]}"
stage fuzzers tools/fuzz.sh 5
! $asan || stage 'sanitizers' run_asan_tests

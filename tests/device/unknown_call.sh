#!/usr/bin/env bash
# A call of the CUDA runtime that the emulated device lacks must fail the link, under its name where nvcc's own runtime is not linked;
# a call that it has must link.
# usage: unknown_call.sh COMPILER HEADERS NVCC_RUNTIME LIBRARY...
set -euo pipefail
compiler=$1 headers=$2 runtime=$3
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# links CALL LIBRARY...: a program that makes this call after a known one.
links() {
  printf '#include <cuda_runtime.h>\nint main() { return cudaSetDevice(0) | static_cast<int>(%s); }\n' "$1" >"$scratch/a.cpp"
  "$compiler" -std=c++20 -isystem "$headers" "$scratch/a.cpp" "${@:2}" -lpthread -ldl -lrt -o "$scratch/a" 2>"$scratch/messages"
}
fail() {
  cat "$scratch/messages"
  echo "unknown_call: $1"
  exit 1
}

for with in '' "$runtime"; do
  links 'cudaSetDevice(0)' "$@" ${with:+"$with"} || fail 'a known call does not link'
  "$scratch/a" || fail 'a known call fails'
  for call in 'cudaStreamWaitEvent(nullptr, nullptr, 0)' 'cudaDeviceSynchronize()' 'cudaMemGetInfo(nullptr, nullptr)'; do
    name=${call%%(*}
    ! links "$call" "$@" ${with:+"$with"} || fail "$name links, though the emulated device lacks it"
    if [ -z "$with" ]; then grep -q "undefined reference to .$name'" "$scratch/messages" || fail "$name is not named"
    else grep -q 'multiple definition of .cuda' "$scratch/messages" || fail "$name fails for another reason"; fi
  done
done

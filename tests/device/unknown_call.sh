#!/usr/bin/env bash
# A call of the CUDA runtime that the emulated device lacks must fail the link under its name, a call that it has must link.
# usage: unknown_call.sh COMPILER HEADERS LIBRARY...
set -euo pipefail
compiler=$1 headers=$2
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# links CALL: a program of this one call.
links() {
  printf '#include <cuda_runtime.h>\nint main() { return static_cast<int>(%s); }\n' "$1" >"$scratch/a.cpp"
  "$compiler" -std=c++20 -isystem "$headers" "$scratch/a.cpp" "${@:2}" -o "$scratch/a" 2>"$scratch/messages"
}

links 'cudaSetDevice(0)' "$@" || { cat "$scratch/messages"; echo 'a known call does not link'; exit 1; }
"$scratch/a" || { echo 'a known call fails'; exit 1; }
for call in 'cudaStreamWaitEvent(nullptr, nullptr, 0)' 'cudaDeviceSynchronize()' 'cudaMallocManaged(nullptr, 8, 1)'; do
  name=${call%%(*}
  ! links "$call" "$@" || { echo "$name links, though the emulated device lacks it"; exit 1; }
  grep -q "undefined reference to .$name'" "$scratch/messages" || { cat "$scratch/messages"; echo "$name is not named"; exit 1; }
done

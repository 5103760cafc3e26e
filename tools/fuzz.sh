#!/usr/bin/env bash
# Builds the fuzz targets (needs clang) and runs each for SECONDS (default 30), several in parallel. Fails
# when a target finds a fault; the input is kept in build/fuzz/found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-30}
if [[ $# -gt 1 || ! $seconds =~ ^0*[1-9][0-9]*$ ]]; then
  echo "usage: tools/fuzz.sh [SECONDS]" >&2
  exit 2
fi

build=build/fuzz
CC=clang CXX=clang++ cmake -G Ninja -S . -B "$build" -DSTICKSLIP_FUZZ=ON -DSTICKSLIP_CUDA=OFF >/dev/null
cmake --build "$build"
mkdir -p "$build/found"
rm -f "$build"/found/*

# One target: its corpus in the build folder starts from the stored corpus and grows.
fuzz() {
  local name=$1
  mkdir -p "$build/corpus/$name"
  if "$build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -max_len=4096 -timeout=25 -rss_limit_mb=2048 \
    -close_fd_mask=3 -print_final_stats=1 -artifact_prefix="$build/found/$name-" \
    "$build/corpus/$name" "tests/fuzz/corpus/$name" >"$build/$name.log" 2>&1; then
    echo "fuzz: $name: nothing found, $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log") runs"
  else
    echo "fuzz: $name: FOUND SOMETHING, see $build/$name.log and $build/found" >&2
    tail -n 30 "$build/$name.log" >&2
    return 1
  fi
}

# The targets from number $1 on, in steps of the number of lanes.
lane() {
  local i status=0
  for ((i = $1; i < ${#targets[@]}; i += lanes)); do fuzz "${targets[i]}" || status=1; done
  return $status
}

targets=()
for corpus in tests/fuzz/corpus/*/; do targets+=("$(basename "$corpus")"); done
lanes=$(($(nproc) + 1))
running=()
for ((first = 0; first < lanes; first++)); do
  lane "$first" &
  running+=($!)
done
failed=0
for process in "${running[@]}"; do wait "$process" || failed=1; done
exit "$failed"

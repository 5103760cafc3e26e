#!/usr/bin/env bash
# Does the CUDA backend work on this machine? Needs a CUDA device, the CUDA Toolkit, CMake and a compiler.
usage() {
  cat <<'TEXT'
usage: tools/gpu_check.sh [options]    builds, then runs tests, comparisons, compute-sanitizer and benches
       tools/gpu_check.sh --bring DIR  collects there, on a machine that has them, what a bare one lacks
  --json FILE     the table of results as JSON as well
  --only STAGES   of build,tests,compare,sanitize,bench: some, comma-separated (default: all)
  --quick         no long tests, one sanitizer tool, the shortest bench
  --vendor DIR    GoogleTest and Eigen as --bring left them (default: build/bring when it is there)
  --build DIR     where to build (default: build/gpu_check)
  --jobs N        compilers at once (default: all cores)
  --self-check    checks this script on made-up programs; no device, nothing built
exit code: 0 all good, 1 a check failed, 2 bad usage, 3 no CUDA device answers
TEXT
}
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

stages=build,tests,compare,sanitize,bench
quick=no json='' vendor='' build=$root/build/gpu_check jobs=$(nproc 2>/dev/null || echo 4)
rows=()       # NAME|STATUS|SECONDS|DETAIL
bench_json=() # files that benches wrote

# --- rows -------------------------------------------------------------------------------------------------------

# row NAME STATUS SECONDS DETAIL: status is good, FAILED or skipped.
row() {
  rows+=("$1|$2|$3|${4//|//}")
  printf -- '-- %s: %s (%s s) %s\n' "$1" "$2" "$3" "$4"
}

log_of() { printf '%s/logs/%s.log' "$build" "$(tr -c 'A-Za-z0-9\n' _ <<<"$1")"; }

# logged NAME LIMIT_S COMMAND...: output goes to the log; leaves `code` and `took`.
logged() {
  local name=$1 limit=$2 start=$SECONDS
  shift 2
  code=0
  timeout "$limit" "$@" >"$(log_of "$name")" 2>&1 || code=$?
  took=$((SECONDS - start))
}

# why_failed NAME: the most telling line of its log.
why_failed() {
  [ "$code" -ne 124 ] || { echo "stopped at the time limit"; return; }
  grep -m1 -E ': Failure|what\(\)|[Ee]rror|ERROR|FAILED' "$(log_of "$1")" ||
    echo "exit code $code at: $(tail -n 1 "$(log_of "$1")" | cut -c1-160)"
}

# counted LOG WORD: the number in gtest's summary line "[  WORD  ] N tests".
counted() { sed -nE "s/^\[ +$2 +\] ([0-9]+) tests?[.,].*/\1/p" "$1" | tail -n 1; }

# test_row NAME PROGRAM FILTER LIMIT_S [WRAPPER...]: a GoogleTest program; one that skips everything fails.
test_row() {
  local name=$1 program=$2 filter=$3 limit=$4 passed skipped failed
  shift 4
  [ -x "$program" ] || { row "$name" FAILED 0 "$program was not built"; return; }
  logged "$name" "$limit" "$@" "$program" "--gtest_filter=$filter" "--gtest_output=json:$(log_of "$name").json"
  passed=$(counted "$(log_of "$name")" PASSED) skipped=$(counted "$(log_of "$name")" SKIPPED)
  failed=$(counted "$(log_of "$name")" FAILED)
  local counts="${passed:-0} passed, ${failed:-0} failed, ${skipped:-0} skipped"
  if [ "$code" -ne 0 ]; then
    row "$name" FAILED "$took" "$counts: $(why_failed "$name")"
  elif [ "${passed:-0}" -gt 0 ]; then
    row "$name" good "$took" "$counts"
  elif [ "${skipped:-0}" -gt 0 ]; then
    row "$name" FAILED "$took" "every test was skipped: $(grep -m1 -A1 Skipped "$(log_of "$name")" | tail -n 1)"
  else
    row "$name" FAILED "$took" "no such tests"
  fi
}

print_table() {
  printf '\n%-34s %-8s %6s  %s\n' check status s detail
  local entry name status seconds detail
  for entry in "${rows[@]}"; do
    IFS='|' read -r name status seconds detail <<<"$entry"
    printf '%-34s %-8s %6s  %s\n' "$name" "$status" "$seconds" "$detail"
  done
}

quoted() { printf '"%s"' "$(tr -d '\000-\037' <<<"$1" | sed 's/\\/\\\\/g; s/"/\\"/g')"; }

# write_json FILE: {"device", "host", "checks": [...], "benches": [...]}.
write_json() {
  local entry name status seconds detail comma='' file
  {
    printf '{"device": %s,\n "host": %s,\n "checks": [' "$(quoted "$device")" "$(quoted "$(uname -srm)")"
    for entry in "${rows[@]}"; do
      IFS='|' read -r name status seconds detail <<<"$entry"
      printf '%s\n  {"name": %s, "status": %s, "seconds": %s, "detail": %s}' "$comma" "$(quoted "$name")" \
        "$(quoted "$status")" "$seconds" "$(quoted "$detail")"
      comma=,
    done
    printf '],\n "benches": ['
    comma=''
    for file in "${bench_json[@]}"; do
      # Each file is a JSON array: without its brackets it joins the others.
      printf '%s\n%s' "$comma" "$(sed '1s/^\[//; $s/\]$//' "$file")"
      comma=,
    done
    printf ']}\n'
  } >"$1.part"
  mv "$1.part" "$1"
}

failed_rows() { printf '%s\n' "${rows[@]}" | grep -c '|FAILED|' || true; }

# --- stages -----------------------------------------------------------------------------------------------------

wanted() { [[ ,$stages, == *,$1,* ]]; }

# Folders with tests of the library, from the one list there is.
test_folders() { sed -nE 's/^stickslip_test\(([a-z]+) .*/\1/p' "$root/tests/CMakeLists.txt"; }

find_tool() { # NAME: on the PATH or where the toolkit lies
  local nvcc folder
  nvcc=$(command -v nvcc || true)
  for folder in "$(dirname "${nvcc:-/none/nvcc}")" /usr/local/cuda/bin /usr/local/cuda/compute-sanitizer /opt/cuda/bin; do
    [ ! -x "$folder/$1" ] || { echo "$folder/$1"; return; }
  done
  command -v "$1" || true
}

# The device's name, or nothing. `arch` becomes its compute capability.
find_device() {
  device='' arch=''
  if command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then
    device=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)
    arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
  else
    local query
    query=$(find_tool __nvcc_device_query)
    [ -z "$query" ] || arch=$("$query" 2>/dev/null | head -n 1 | grep -xE '[0-9]+' || true)
    [ -z "$arch" ] || device="a CUDA device of compute capability $arch"
  fi
}

stage_build() {
  local tool options=(-DCMAKE_BUILD_TYPE=Release -DSTICKSLIP_APP=OFF -DSTICKSLIP_CUDA=ON -DSTICKSLIP_WERROR=OFF)
  for tool in cmake nvcc; do
    [ -n "$(find_tool $tool)" ] || { row "find $tool" FAILED 0 "not on the PATH"; return; }
  done
  [ -z "$arch" ] || options+=("-DSTICKSLIP_CUDA_ARCH=$arch")
  if [ -n "$vendor" ]; then options+=("-DSTICKSLIP_VENDOR=$vendor"); fi
  # A folder keeps the generator that it was configured with.
  if [ ! -f "$build/CMakeCache.txt" ] && command -v ninja >/dev/null; then options+=(-G Ninja); fi
  logged configure 300 cmake -S "$root" -B "$build" "${options[@]}"
  if [ "$code" -ne 0 ]; then
    row configure FAILED "$took" "$(why_failed configure); GoogleTest and Eigen come with --bring"
    return
  fi
  row configure good "$took" "$(grep -m1 'CUDA backend' "$(log_of configure)")"
  logged build 3000 cmake --build "$build" --parallel "$jobs"
  if [ "$code" -eq 0 ]; then row build good "$took" ''; else row build FAILED "$took" "$(why_failed build)"; fi
}

stage_tests() {
  local folder long='*Long*'
  [ "$quick" = yes ] || long=none
  for folder in $(test_folders); do
    [ "$folder" != app ] || continue
    test_row "tests $folder, cpu" "$build/tests/test_$folder" "-*cuda*:$long" 1200
    if ls "$root/tests/$folder"/*.cu >/dev/null 2>&1 || [ "$folder" = step ]; then
      test_row "tests $folder, cuda" "$build/tests/test_$folder" "*cuda*:-$long:*BackendsAgree*" 1200
    fi
  done
}

# Whole steps of the same model on both backends, one row per model.
stage_compare() {
  local program=$build/tests/test_step test name times
  [ -x "$program" ] || { row compare FAILED 0 "$program was not built"; return; }
  while read -r test; do
    name="compare ${test%/*}"
    test_row "$name" "$program" "*BackendsAgree.$test" 600
    times=$(sed -nE 's/.*"(first|second)_ms_per_step": "([0-9.]+)".*/\2/p' "$(log_of "$name").json" 2>/dev/null | paste -sd' ' || true)
    [ -z "$times" ] || rows[-1]+="; ms/step on cpu and cuda: $times"
  done < <("$program" '--gtest_filter=*BackendsAgree*cuda*' --gtest_list_tests | sed -nE 's/^  ([^ ]+).*/\1/p')
}

# Under the tools a kernel takes 10 to 100 times longer, so only the short tests; those of errors make errors.
stage_sanitize() {
  local sanitizer folder tool tools=(memcheck racecheck)
  [ "$quick" = no ] || tools=(memcheck)
  sanitizer=$(find_tool compute-sanitizer)
  [ -n "$sanitizer" ] || { row compute-sanitizer skipped 0 'not found beside nvcc or on the PATH'; return; }
  for tool in "${tools[@]}"; do
    for folder in core math broadphase ccd energy linear solver; do
      [ -x "$build/tests/test_$folder" ] || continue
      test_row "$tool $folder" "$build/tests/test_$folder" "cuda_*:-*Long*:cuda_Errors*" 300 \
        "$sanitizer" --tool "$tool" --error-exitcode 9
    done
    test_row "$tool whole step" "$build/tests/test_step" '*falls_freely*/cuda:*half_space_can*/cuda' 300 \
      "$sanitizer" --tool "$tool" --error-exitcode 9
  done
}

stage_bench() {
  local backend name names=(primitives lbvh spmv contacts pile)
  [ "$quick" = no ] || names=(primitives)
  for backend in cuda cpu; do
    for name in "${names[@]}"; do
      logged "bench $name $backend" 900 "$build/gpu/stickslip_bench" --backend "$backend" \
        --json "$(log_of "bench $name $backend").json" "$name"
      if [ "$code" -eq 0 ]; then
        bench_json+=("$(log_of "bench $name $backend").json")
        row "bench $name, $backend" good "$took" "$(sed -n 2p "$(log_of "bench $name $backend")" | tr -s ' ')"
        cat "$(log_of "bench $name $backend")"
      else
        row "bench $name, $backend" FAILED "$took" "$(why_failed "bench $name $backend")"
      fi
    done
  done
}

run_stages() {
  mkdir -p "$build/logs"
  if wanted build; then stage_build; fi
  if [ "$(failed_rows)" = 0 ]; then
    if wanted tests; then stage_tests; fi
    if wanted compare; then stage_compare; fi
    if wanted sanitize; then stage_sanitize; fi
    if wanted bench; then stage_bench; fi
  fi
  print_table
  [ -z "$json" ] || write_json "$json"
}

# --- what a bare machine lacks ------------------------------------------------------------------------------------

bring() {
  local googletest=/usr/src/googletest/googletest eigen=/usr/include/eigen3/Eigen
  if [ ! -d "$googletest" ] || [ ! -d "$eigen" ]; then
    echo "gpu_check: --bring copies from Debian's packages: apt-get install libgtest-dev libeigen3-dev" >&2
    exit 2
  fi
  mkdir -p "$1/googletest" "$1/eigen3"
  cp -r "$googletest"/{CMakeLists.txt,cmake,include,src} "$1/googletest/"
  cp -r "$eigen" "$1/eigen3/"
  echo "gpu_check: $1 is ready ($(du -sh "$1" | cut -f1)); carry it along and pass --vendor"
}

# --- self-check -------------------------------------------------------------------------------------------------

# Programs that print what the real ones do: one folder fails, one skips everything, one never ends.
make_programs() {
  local folder
  mkdir -p "$build/tests" "$build/gpu" "$build/logs" "$build/bin"
  program() { cat >"$1" && chmod +x "$1"; }
  for folder in $(test_folders); do
    program "$build/tests/test_$folder" <<'TEXT'
#!/bin/sh
case "$*" in *list_tests*) printf 'Engines/BackendsAgree.\n  on_a_bar/cpu_and_cuda  # GetParam()\n' ;;
*) printf '[  PASSED  ] 3 tests.\n[  SKIPPED ] 1 test, listed below:\n'
  for a in "$@"; do case "$a" in --gtest_output=json:*)
    printf '"first_ms_per_step": "1.5",\n"second_ms_per_step": "0.5"\n' >"${a#--gtest_output=json:}" ;; esac; done ;;
esac
TEXT
  done
  program "$build/tests/test_core" <<'TEXT'
#!/bin/sh
printf 'x.cu:7: Failure\n[  PASSED  ] 2 tests.\n[  FAILED  ] 1 test, listed below:\n'; exit 1
TEXT
  program "$build/tests/test_math" <<'TEXT'
#!/bin/sh
printf 'x.cu:7: Skipped\nno device\n[  PASSED  ] 0 tests.\n[  SKIPPED ] 2 tests, listed below:\n'
TEXT
  program "$build/bin/compute-sanitizer" <<'TEXT'
#!/bin/sh
shift 4; exec "$@"
TEXT
  program "$build/gpu/stickslip_bench" <<'TEXT'
#!/bin/sh
printf 'primitives on a "device"\n  triad   1 GB/s\n'; printf '[{"bench": "primitives", "figures": []}]\n' >"$4"
TEXT
}

expect() { # PATTERN: a line of the table
  grep -qE "$1" "$build/table" || { echo "self-check: no line '$1' in:"; cat "$build/table"; exit 1; }
}

self_check() {
  local folder
  build=$(mktemp -d)
  trap 'rm -rf "$build"' EXIT
  device='a "made-up" device' stages=tests,compare,sanitize,bench quick=yes json=$build/out.json
  make_programs
  PATH=$build/bin:$PATH run_stages >"$build/table"
  expect '^tests core, cuda +FAILED +[0-9]+  2 passed, 1 failed, 0 skipped: x.cu:7: Failure$'
  expect '^tests math, cuda +FAILED .*every test was skipped: no device$'
  expect '^tests linear, cpu +good +[0-9]+  3 passed, 0 failed, 1 skipped$'
  expect '^compare on_a_bar +good .*ms/step on cpu and cuda: 1.5 0.5$'
  expect '^memcheck linear +good '
  expect '^bench primitives, cuda +good +[0-9]+ + triad 1 GB/s'
  [ "$(failed_rows)" = 6 ] || { echo "self-check: $(failed_rows) failed rows instead of 6"; cat "$build/table"; exit 1; }
  logged slow 1 sleep 5
  [ "$(why_failed slow)" = 'stopped at the time limit' ] || { echo 'self-check: no time limit'; exit 1; }
  for folder in core solver step; do
    test_folders | grep -qx "$folder" || { echo "self-check: tests/$folder is not found"; exit 1; }
  done
  if command -v python3 >/dev/null; then
    python3 -c '
import json, sys
result = json.load(open(sys.argv[1]))
assert result["device"] == "a \"made-up\" device", result
assert len(result["checks"]) > 15 and len(result["benches"]) == 2, result' "$json"
  fi
  echo "gpu_check: self-check good; the device part was skipped"
}

# --- main -------------------------------------------------------------------------------------------------------

bad_usage() {
  echo "gpu_check: $1" >&2
  usage >&2
  exit 2
}

mode=run
while [ $# -gt 0 ]; do
  case "$1" in
    --quick) quick=yes ;;
    --self-check) mode=self_check ;;
    -h | --help) usage && exit ;;
    --json | --only | --vendor | --build | --jobs | --bring)
      [ $# -ge 2 ] || bad_usage "$1 needs a value"
      case "$1" in
        --json) json=$2 ;;
        --only) stages=$2 ;;
        --vendor) vendor=$(realpath "$2") ;;
        --build) build=$(realpath -m "$2") ;;
        --jobs) jobs=$2 ;;
        --bring) bring "$2" && exit ;;
      esac
      shift
      ;;
    *) bad_usage "unknown option $1" ;;
  esac
  shift
done
for stage in ${stages//,/ }; do
  [[ ,build,tests,compare,sanitize,bench, == *,$stage,* ]] || bad_usage "there is no stage '$stage'"
done

if [ "$mode" = self_check ]; then
  self_check
  exit
fi
find_device
if [ -z "$device" ]; then
  echo "gpu_check: no CUDA device answers (nvidia-smi and nvcc's device query see none); only the self-check runs"
  self_check
  exit 3
fi
echo "gpu_check: $device"
if [ -z "$vendor" ] && [ -d "$root/build/bring" ]; then vendor=$root/build/bring; fi
run_stages
[ "$(failed_rows)" = 0 ]

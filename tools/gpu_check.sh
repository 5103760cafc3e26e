#!/usr/bin/env bash
# Checks that the CUDA backend works on this machine. Needs a CUDA device, the CUDA Toolkit, CMake and a
# compiler.
usage() {
  cat <<'TEXT'
usage: tools/gpu_check.sh [options]    builds, then runs tests, comparisons, compute-sanitizer and benches
       tools/gpu_check.sh --bring DIR  collects there, on a machine that has them, what a bare one lacks
  --json FILE     the table of results as JSON as well
  --only STAGES   of build,tests,compare,determinism,sanitize,bench: some, comma-separated (default: all)
  --real REAL     double, float or both (default); compute-sanitizer and benches take the first of them
  --quick         no long tests, one sanitizer tool, few scenes, the shortest bench
  --limit S       starts nothing after S seconds and ends what runs then: "not run" in the table
  --resume        keeps what an earlier call with the same --build found good, and does the rest
  --at-once N     tests and sanitizer runs side by side (default: 4)
  --vendor DIR    GoogleTest, Eigen and toml++ as --bring left them (default: build/bring when it is there)
  --build DIR     where to build (default: build/gpu_check)
  --jobs N        compilers at once (default: all cores)
  --device emulated  on the software device of tests/device: no times; the checks of memory and races are its own
  --self-check    checks this script on made-up programs; no device, nothing built
exit code: 0 all good, 1 a check failed, 2 bad usage, 3 no CUDA device answers, 4 nothing failed but something was not run
TEXT
}
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

all_stages=build,tests,compare,determinism,sanitize,bench
stages=$all_stages reals='double float'
quick=no resume=no json='' vendor='' base=$root/build/gpu_check jobs=$(nproc 2>/dev/null || echo 4) at_once=4 limit=1000000
real=double build=$base/double
app=OFF targets=() cuda_flags=() emulated=no

# --- rows -------------------------------------------------------------------------------------------------------
# Every check writes a file in $base/rows, NAME|STATUS|SECONDS|DETAIL, with a status of good, FAILED, skipped
# or not run. Checks run in parallel, and a later call continues from these files.

slug() { tr -c 'A-Za-z0-9\n' _ <<<"$1"; }
row_file() { printf '%s/rows/%s%s' "$base" "$stage_number" "$(slug "$1")"; }
log_of() { printf '%s/logs/%s.log' "$base" "$(slug "$1")"; }
remaining() { echo $((limit - SECONDS)); }

row() { # NAME STATUS SECONDS DETAIL
  printf '%s|%s|%s|%s\n' "$1" "$2" "$3" "${4//|//}" >"$(row_file "$1")"
  printf -- '-- %s: %s (%s s) %s\n' "$1" "$2" "$3" "$4"
}

# logged NAME LIMIT_S COMMAND...: writes the output to the log; sets `code` and `took`.
logged() {
  local name=$1 most=$2 start=$SECONDS left
  shift 2
  left=$(remaining)
  [ "$most" -le "$left" ] || most=$left
  code=0
  timeout "$((most > 0 ? most : 1))" "$@" >"$(log_of "$name")" 2>&1 || code=$?
  took=$((SECONDS - start))
}

out_of_time() { [ "$code" -eq 124 ] && [ "$(remaining)" -le 1 ]; }

# failed_row NAME DETAIL: a check that --limit ended counts as not run.
failed_row() {
  if out_of_time; then row "$1" 'not run' "$took" 'the time is up'; else row "$1" FAILED "$took" "$2"; fi
}

# why_failed NAME: the most informative line of its log.
why_failed() {
  [ "$code" -ne 124 ] || { echo "stopped at the time limit"; return; }
  grep -m1 -E ': Failure|what\(\)|[Ee]rror|ERROR|FAILED' "$(log_of "$1")" ||
    echo "exit code $code at: $(tail -n 1 "$(log_of "$1")" | cut -c1-160)"
}

# check NAME FUNCTION ARGUMENTS...: calls FUNCTION NAME ARGUMENTS in parallel with others; FUNCTION writes a
# row.
check() {
  local name=$1 function=$2
  shift 2
  if [ "$resume" = yes ] && grep -q '|good|' "$(row_file "$name")" 2>/dev/null; then return; fi
  if [ "$(remaining)" -le 0 ]; then row "$name" 'not run' 0 'the time is up'; return; fi
  while [ "$(jobs -rp | wc -l)" -ge "$side_by_side" ]; do wait -n || true; done
  if [ "$side_by_side" -eq 1 ]; then "$function" "$name" "$@"; else "$function" "$name" "$@" & fi
}

# counted LOG WORD: the number in gtest's summary line "[  WORD  ] N tests".
counted() { sed -nE "s/^\[ +$2 +\] ([0-9]+) tests?[.,].*/\1/p" "$1" | tail -n 1; }

# test_row NAME PROGRAM FILTER LIMIT_S [WRAPPER...]: a GoogleTest program; a program that skips all tests
# fails.
test_row() {
  local name=$1 program=$2 filter=$3 most=$4 passed skipped failed
  shift 4
  [ -x "$program" ] || { row "$name" FAILED 0 "$program was not built"; return; }
  logged "$name" "$most" "$@" "$program" "--gtest_filter=$filter" "--gtest_output=json:$(log_of "$name").json"
  passed=$(counted "$(log_of "$name")" PASSED) skipped=$(counted "$(log_of "$name")" SKIPPED)
  failed=$(counted "$(log_of "$name")" FAILED)
  local counts="${passed:-0} passed, ${failed:-0} failed, ${skipped:-0} skipped"
  if [ "$code" -ne 0 ]; then
    failed_row "$name" "$counts: $(why_failed "$name")"
  elif [ "${passed:-0}" -gt 0 ]; then
    local times
    times=$(sed -nE 's/.*"(first|second)_ms_per_step": "([0-9.]+)".*/\2/p' "$(log_of "$name").json" 2>/dev/null | paste -sd' ' || true)
    row "$name" good "$took" "$counts${times:+; ms/step on cpu and cuda: $times}"
  elif [ "${skipped:-0}" -gt 0 ]; then
    row "$name" FAILED "$took" "every test was skipped: $(grep -m1 -A1 Skipped "$(log_of "$name")" | tail -n 1)"
  else
    row "$name" FAILED "$took" "no such tests"
  fi
}

# compare_row NAME LIMIT_S ARGUMENTS...: one scene through stickslip_compare; the detail is its result line.
compare_row() {
  local name=$1 most=$2 line
  shift 2
  logged "$name" "$most" "$build/tests/compare/stickslip_compare" "$@"
  line=$(sed -nE 's/^[^ ]+ +(good|FAILED) +(.*)/\2/p' "$(log_of "$name")" | tail -n 1 | tr -s ' ')
  if [ "$code" -eq 0 ]; then row "$name" good "$took" "$line"; else failed_row "$name" "${line:-$(why_failed "$name")}"; fi
}

bench_row() { # NAME BACKEND PROGRAM ARGUMENT...
  logged "$1" 900 "$3" --backend "$2" --json "$(log_of "$1").json" "${@:4}"
  if [ "$code" -eq 0 ]; then
    row "$1" good "$took" "$(sed -n 2p "$(log_of "$1")" | tr -s ' ')"
    cat "$(log_of "$1")"
  else
    failed_row "$1" "$(why_failed "$1")"
  fi
}

all_rows() { cat "$base"/rows/* 2>/dev/null || true; }
with_status() { all_rows | grep -c "|$1|" || true; }

print_table() {
  printf '\n%-46s %-8s %6s  %s\n' check status s detail
  local name status seconds detail
  while IFS='|' read -r name status seconds detail; do
    printf '%-46s %-8s %6s  %s\n' "$name" "$status" "$seconds" "$detail"
  done < <(all_rows)
}

quoted() { printf '"%s"' "$(tr -d '\000-\037' <<<"$1" | sed 's/\\/\\\\/g; s/"/\\"/g')"; }

# write_json FILE: {"device", "host", "checks": [...], "benches": [...]}.
write_json() {
  local name status seconds detail comma='' file
  {
    printf '{"device": %s,\n "host": %s,\n "checks": [' "$(quoted "$device")" "$(quoted "$(uname -srm)")"
    while IFS='|' read -r name status seconds detail; do
      printf '%s\n  {"name": %s, "status": %s, "seconds": %s, "detail": %s}' "$comma" "$(quoted "$name")" \
        "$(quoted "$status")" "$seconds" "$(quoted "$detail")"
      comma=,
    done < <(all_rows)
    printf '],\n "benches": ['
    comma=''
    for file in "$base"/logs/bench_*.json; do
      [ -s "$file" ] || continue
      # Each file is a JSON array: without its brackets it is appended to the others.
      printf '%s\n%s' "$comma" "$(sed '1s/^\[//; $s/\]$//' "$file")"
      comma=,
    done
    printf ']}\n'
  } >"$1.part"
  mv "$1.part" "$1"
}

# --- stages -----------------------------------------------------------------------------------------------------

# Folders with tests of the library, from the list in tests/CMakeLists.txt.
test_folders() { sed -nE 's/^stickslip_test\(([a-z]+) .*/\1/p' "$root/tests/CMakeLists.txt" | grep -vxE 'app|reference'; }
has_kernels() { ls "$root/tests/$1"/*.cu >/dev/null 2>&1; }

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

configure_row() {
  local options=(-DCMAKE_BUILD_TYPE=Release "-DSTICKSLIP_APP=$app" -DSTICKSLIP_CUDA=ON -DSTICKSLIP_WERROR=OFF "-DSTICKSLIP_REAL=$real" "${cuda_flags[@]}")
  [ -z "$arch" ] || options+=("-DSTICKSLIP_CUDA_ARCH=$arch")
  if [ -n "$vendor" ]; then options+=("-DSTICKSLIP_VENDOR=$vendor"); fi
  # A build folder keeps the generator of its first configuration.
  if [ ! -f "$build/CMakeCache.txt" ] && command -v ninja >/dev/null; then options+=(-G Ninja); fi
  logged "$1" 300 cmake -S "$root" -B "$build" "${options[@]}"
  if [ "$code" -eq 0 ]; then row "$1" good "$took" "$(grep -m1 'CUDA backend' "$(log_of "$1")")"
  else failed_row "$1" "$(why_failed "$1"); GoogleTest, Eigen and toml++ come with --bring"; fi
}

build_row() {
  logged "$1" 3000 cmake --build "$build" --parallel "$jobs" "${targets[@]}"
  if [ "$code" -eq 0 ]; then row "$1" good "$took" ''; else failed_row "$1" "$(why_failed "$1")"; fi
}

stage_build() {
  local tool
  side_by_side=1
  for tool in cmake nvcc; do
    [ -n "$(find_tool $tool)" ] || { row "find $tool" FAILED 0 "not on the PATH"; return; }
  done
  check "configure, $real" configure_row
  check "build, $real" build_row
}

stage_tests() {
  local folder long='*Long*'
  side_by_side=$at_once
  [ "$quick" = yes ] || long=none
  for folder in $(test_folders); do
    check "tests $folder, cpu, $real" test_row "$build/tests/test_$folder" "-*cuda*:$long" 1200
    if has_kernels "$folder" || [ "$folder" = step ]; then
      check "tests $folder, cuda, $real" test_row "$build/tests/test_$folder" "*cuda*:-$long:*BackendsAgree*" 1200
    fi
  done
  wait
}

# Whole steps on both backends: small models of the tests, and every shipped scene.
stage_compare() {
  local test scene program=$build/tests/compare/stickslip_compare
  side_by_side=1
  while read -r test; do
    check "compare ${test%/*}, $real" test_row "$build/tests/test_step" "*BackendsAgree.$test" 600
  done < <("$build/tests/test_step" '--gtest_filter=*BackendsAgree*cuda*' --gtest_list_tests 2>/dev/null | sed -nE 's/^  ([^ ]+).*/\1/p')
  [ -x "$program" ] || { row "compare scenes, $real" FAILED 0 'stickslip_compare was not built: toml++ comes with --bring'; return; }
  for scene in $("$program" --list | if [ "$quick" = yes ]; then grep -E '^(erleben-spikes|box-stack|jelly-tower)$'; else cat; fi); do
    check "compare $scene, $real" compare_row 300 --steps 5 --then 5 "$scene"
  done
}

# Ten runs with equal bits, and the cost of determinism. There is no other mode: no kernel adds floating-point
# numbers atomically; sums are gathers in a fixed order wherever the backend computes any, and those are
# timed.
stage_determinism() {
  local scene scenes=(erleben-spikes box-stack jelly-tower) program=$build/tests/compare/stickslip_compare
  side_by_side=1
  [ -x "$program" ] || { row "ten runs, $real" FAILED 0 'stickslip_compare was not built: toml++ comes with --bring'; return; }
  [ "$quick" = yes ] || scenes+=(drop pachinko card-house dominoes mixed ragdoll-stairs)
  check "cost of a fixed order, $real" compare_row 300 --order-cost cuda
  for scene in "${scenes[@]}"; do
    check "ten runs of $scene, cuda, $real" compare_row 600 --first cuda --second cuda --runs 5 --steps 10 "$scene"
    check "ten runs of $scene, 1 and 2 threads, $real" compare_row 600 --first cpu:1 --second cpu:2 --runs 5 --steps 5 "$scene"
  done
}

# Under the sanitizers a kernel takes 10 to 100 times longer: only the short tests run. Tests of errors are
# excluded, because they cause errors deliberately. Loops run from the host, as with an old driver: memcheck 2025.3
# (CUDA 13.0) reports errors in loops of the device that hold a graph, at addresses inside their allocation.
stage_sanitize() {
  local sanitizer folder tool tools=(memcheck racecheck initcheck synccheck)
  side_by_side=$at_once
  [ "$quick" = no ] || tools=(memcheck)
  sanitizer=$(find_tool compute-sanitizer)
  [ -n "$sanitizer" ] || { row compute-sanitizer skipped 0 'not found beside nvcc or on the PATH'; return; }
  for tool in "${tools[@]}"; do
    for folder in $(test_folders); do
      if ! has_kernels "$folder" || [ "$folder" = bench ]; then continue; fi
      check "$tool $folder, $real" test_row "$build/tests/test_$folder" "cuda_*:-*Long*:cuda_Errors*:cuda_LostDevice*:*LaunchGraph.*" 600 \
        env STICKSLIP_KEEP_NO_MEMORY=1 STICKSLIP_NO_DEVICE_LOOPS=1 "$sanitizer" --tool "$tool" --error-exitcode 9
    done
    check "$tool whole step, $real" test_row "$build/tests/test_step" '*falls_freely*/cuda:*half_space_can*/cuda' 600 \
      env STICKSLIP_KEEP_NO_MEMORY=1 STICKSLIP_NO_DEVICE_LOOPS=1 "$sanitizer" --tool "$tool" --error-exitcode 9
  done
  wait
}

stage_bench() {
  local backend name full names=(device primitives lbvh queries spmv pcg assembly contacts memory pile)
  side_by_side=1
  [ "$quick" = no ] || names=(primitives)
  for backend in cuda cpu; do
    for name in "${names[@]}"; do
      full=()
      if [ "$backend" = cuda ] && [[ $name = contacts || $name = memory ]]; then full=(--full); fi
      check "bench $name, $backend, $real" bench_row "$backend" "$build/bench/stickslip_kernel_bench" "${full[@]}" "$name"
    done
  done
  # Whole steps at their published sizes run only on the device.
  [ "$quick" = yes ] ||
    check "bench steps, cuda, $real" bench_row cuda "$build/tests/compare/stickslip_steps" --full --warm 20 --steps 10
}

run_stages() {
  local stage first=${reals%% *} stage_number=0
  mkdir -p "$base/logs" "$base/rows"
  for stage in ${all_stages//,/ }; do
    stage_number=$((stage_number + 1))
    [[ ,$stages, == *,$stage,* ]] || continue
    # Without a build nothing can run.
    [ "$(all_rows | grep -cE '^(configure|build|find).*\|(FAILED|not run)\|' || true)" = 0 ] || [ "$stage" = build ] || break
    [ "$resume" = yes ] || rm -f "$base/rows/$stage_number"*
    for real in $reals; do
      build=$base/$real
      if [ "$real" != "$first" ] && [[ ,sanitize,bench, == *,$stage,* ]]; then continue; fi
      "stage_$stage"
    done
  done
  print_table
  [ -z "$json" ] || write_json "$json"
}

# --- what a bare machine lacks ------------------------------------------------------------------------------------

bring() {
  local googletest=/usr/src/googletest/googletest eigen=/usr/include/eigen3/Eigen toml=/usr/include/toml++
  if [ ! -d "$googletest" ] || [ ! -d "$eigen" ] || [ ! -d "$toml" ]; then
    echo "gpu_check: --bring copies from Debian's packages: apt-get install libgtest-dev libeigen3-dev libtomlplusplus-dev" >&2
    exit 2
  fi
  mkdir -p "$1/googletest" "$1/eigen3" "$1/tomlplusplus"
  cp -r "$googletest"/{CMakeLists.txt,cmake,include,src} "$1/googletest/"
  cp -r "$eigen" "$1/eigen3/"
  cp -r "$toml" "$1/tomlplusplus/"
  echo "gpu_check: $1 is ready ($(du -sh "$1" | cut -f1)); carry it along and pass --vendor"
}

# --- self-check -------------------------------------------------------------------------------------------------

# shellcheck source=tools/gpu_check_self.sh
. "$root/tools/gpu_check_self.sh"

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
    --resume) resume=yes ;;
    --self-check) mode=self_check ;;
    -h | --help) usage && exit ;;
    --device | --json | --only | --real | --limit | --at-once | --vendor | --build | --jobs | --bring)
      [ $# -ge 2 ] || bad_usage "$1 needs a value"
      case "$1" in
        --json) json=$2 ;;
        --device)
          [ "$2" = emulated ] || bad_usage "--device $2: the only one to choose is emulated"
          # shellcheck source=tools/gpu_check_emulated.sh
          . "$root/tools/gpu_check_emulated.sh"
          ;;
        --only) stages=$2 ;;
        --real) reals=${2/both/double float} ;;
        --limit) limit=$2 ;;
        --at-once) at_once=$2 ;;
        --vendor) vendor=$(realpath "$2") ;;
        --build) base=$(realpath -m "$2") ;;
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
  [[ ,$all_stages, == *,$stage,* ]] || bad_usage "there is no stage '$stage'"
done
if [ "$emulated" = yes ]; then
  [ "$reals" != float ] || bad_usage "the emulated device runs the build in double"
  reals=double
fi
[[ $reals =~ ^(double|float|double float)$ ]] || bad_usage "--real $reals: must be double, float or both"
[[ $limit =~ ^[0-9]+$ && $at_once =~ ^[1-9][0-9]*$ ]] || bad_usage "--limit and --at-once take whole numbers"

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
[ "$(with_status FAILED)" = 0 ] || exit 1
[ "$(with_status 'not run')" = 0 ] || exit 4

# shellcheck shell=bash
# The stages of gpu_check.sh on the emulated device (tests/device), which sources this for `--device emulated`.
# shellcheck disable=SC2034,SC2154  # the variables are those of gpu_check.sh

emulated=yes
[ "$base" != "$root/build/gpu_check" ] || base=$root/build/gpu_check_emulated
app=ON targets=(--target stickslip test_device emulated_compare device_model)
# Nothing runs what nvcc makes: it need not be fast code.
cuda_flags=('-DCMAKE_CUDA_FLAGS=-Xcicc -O0' '-DCMAKE_CUDA_FLAGS_RELEASE=-O0 -DNDEBUG')

find_device() { device='emulated device' arch=''; }
tests_program() { echo "$build/tests/device/test_device"; }
compare_program() { echo "$build/tests/device/emulated_compare"; }

# checked_row SEED FUNCTION NAME ARGUMENTS...: with checks of memory and races.
checked_row() {
  local seed=$1
  shift
  STICKSLIP_DEVICE_CHECK=races STICKSLIP_DEVICE_SEED=$seed "$@"
}
# A test is checked wholly for its first accesses and then by samples, as in the tests checked* (tests/device/README.md).
checked_tests_row() { STICKSLIP_DEVICE_CHECK_MOST=100 checked_row "$2" test_row "$1" "$(tests_program)" "$3" 3000; }
# suites FILTER: those with a matching test.
suites() { "$(tests_program)" "--gtest_filter=$1" --gtest_list_tests 2>/dev/null | sed -nE 's/^([^ ]+)\.( .*)?$/\1/p'; }
# of_suite NAME FILTER: the suite's tests of the device, less those that FILTER excludes.
of_suite() { case $1 in *cuda*) echo "$1.*-${2#*-}" ;; *) echo "$1.*cuda*-${2#*-}" ;; esac; }
checked_compare_row() { checked_row "$2" emulated_compare_row "$1" 3000 "${@:3}"; }

# As compare_row, with the program of the emulated device.
emulated_compare_row() {
  local name=$1 most=$2 line
  shift 2
  logged "$name" "$most" "$(compare_program)" "$@"
  line=$(sed -nE 's/^[^ ]+ +(good|FAILED) +(.*)/\2/p' "$(log_of "$name")" | tail -n 1 | tr -s ' ')
  if [ "$code" -eq 0 ]; then row "$name" good "$took" "$line"; else failed_row "$name" "$(grep -m1 '^emulated device' "$(log_of "$name")" || echo "${line:-$(why_failed "$name")}")"; fi
}

scenes_of() { "$(compare_program)" --list | if [ "$quick" = yes ]; then grep -E '^(erleben-spikes|box-stack|jelly-tower)$'; else cat; fi; }

stage_tests() {
  local long='*Long*' suite filter
  side_by_side=$at_once
  [ "$quick" = yes ] || long=none
  filter="*cuda*-$long:*BackendsAgree*"
  for suite in $(suites "$filter"); do
    check "tests $suite, $real" test_row "$(tests_program)" "$(of_suite "$suite" "$filter")" 3000
  done
  wait
}

stage_compare() {
  local test scene
  side_by_side=$at_once
  while read -r test; do
    check "compare ${test%/*}, $real" test_row "$(tests_program)" "*BackendsAgree.$test" 3000
  done < <("$(tests_program)" '--gtest_filter=*BackendsAgree*cuda*' --gtest_list_tests 2>/dev/null | sed -nE 's/^  ([^ ]+).*/\1/p')
  for scene in $(scenes_of); do check "compare $scene, $real" emulated_compare_row 3000 --steps 2 "$scene"; done
  wait
}

stage_determinism() {
  local scene
  side_by_side=$at_once
  for scene in erleben-spikes box-stack jelly-tower; do
    check "ten runs of $scene, cuda, $real" emulated_compare_row 3000 --first cuda --second cuda --runs 5 --steps 2 "$scene"
    check "ten runs of $scene, 1 and 2 threads, $real" emulated_compare_row 3000 --first cpu:1 --second cpu:2 --runs 5 --steps 5 "$scene"
  done
  wait
}

stage_sanitize() {
  local seed scene suite filter='*cuda*-*Long*' seeds=(1 2 3)
  side_by_side=$at_once
  [ "$quick" = no ] || seeds=(1)
  for seed in "${seeds[@]}"; do
    for suite in $(suites "$filter"); do
      check "checked $suite, seed $seed, $real" checked_tests_row "$seed" "$(of_suite "$suite" "$filter")"
    done
    for scene in $(scenes_of); do check "checked $scene, seed $seed, $real" checked_compare_row "$seed" --brief --steps 2 "$scene"; done
  done
  wait
}

# No times: what the steps would cost by the model of tests/device.
stage_bench() {
  local scene device
  side_by_side=$at_once
  for scene in drop stack box-stack; do
    for device in h100 rtx4090; do check "model of $scene on $device, $real" model_row "$scene" "$device"; done
  done
  wait
}
model_row() {
  logged "$1" 1800 "$build/tests/device/device_model" "$2" --device "$3" --json "$base/logs/model_$2_$3.json"
  if [ "$code" -eq 0 ]; then row "$1" good "$took" "$(grep -m1 '^sum ' "$(log_of "$1")" | awk '{print $8 " us a step, bound by " $9 ($10 ? " " $10 : "")}')"; else failed_row "$1" "$(why_failed "$1")"; fi
}

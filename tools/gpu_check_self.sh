# shellcheck shell=bash
# The self-check of gpu_check.sh, which sources this: its stages on made-up programs.
# shellcheck disable=SC2034,SC2154  # the variables are those of gpu_check.sh

# Programs that mimic the output of the real ones: one folder fails, one skips everything, one scene differs,
# one hangs.
make_programs() {
  local folder
  mkdir -p "$build/tests/compare" "$build/bench" "$base/bin"
  program() { cat >"$1" && chmod +x "$1"; }
  for folder in $(test_folders); do
    program "$build/tests/test_$folder" <<'TEXT'
#!/bin/sh
case "$*" in *list_tests*) printf 'Engines/BackendsAgree.\n  on_a_bar/cpu_and_cuda  # GetParam()\n' ;;
*) printf '[  PASSED  ] 3 tests.\n[  SKIPPED ] 1 test, listed below:\n'
  for a in "$@"; do case "$a" in --gtest_output=json:*)
    case "$*" in *BackendsAgree.*)
      printf '"first_ms_per_step": "1.5",\n"second_ms_per_step": "0.5"\n' >"${a#--gtest_output=json:}" ;; esac ;; esac; done ;;
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
  program "$build/tests/compare/stickslip_compare" <<'TEXT'
#!/bin/sh
case "$*" in --list) printf 'box-stack\ndrop\nerleben-spikes\n' ;;
*order-cost*) printf 'sums good in a fixed order 1 ms, by atomics 2 ms\n' ;;
*runs*) printf '5 runs\nbox-stack   good   0123\n' ;;
*spikes) printf 'erleben-spikes   FAILED   1e-3 1e-5  positions are too far apart\n'; exit 1 ;;
*) printf 'box-stack   good   1e-9   1e-6\n1 scenes, 0 failed, 0 not run\n' ;; esac
TEXT
  program "$base/bin/compute-sanitizer" <<'TEXT'
#!/bin/sh
shift 4; exec "$@"
TEXT
  program "$build/bench/stickslip_kernel_bench" <<'TEXT'
#!/bin/sh
printf 'primitives on a "device"\n  triad   1 GB/s\n'; printf '[{"bench": "primitives", "figures": []}]\n' >"$4"
TEXT
}

expect() { # PATTERN: a line of the table
  grep -qE "$1" "$base/table" || { echo "self-check: no line '$1' in:"; cat "$base/table"; exit 1; }
}

expect_count() { # STATUS NUMBER
  [ "$(with_status "$1")" = "$2" ] || { echo "self-check: $(with_status "$1") rows '$1' instead of $2"; cat "$base/table"; exit 1; }
}

# The stages on the emulated device: one scene differs, and has a fault when it is checked.
check_emulated_stages() (
  # shellcheck source=tools/gpu_check_emulated.sh
  . "$root/tools/gpu_check_emulated.sh"
  stages=tests,compare,sanitize limit=1000000 at_once=2
  rm -f "$base"/rows/*
  mkdir -p "$build/tests/device"
  cp "$build/tests/test_linear" "$(tests_program)"
  program "$(compare_program)" <<'TEXT'
#!/bin/sh
case "$*$STICKSLIP_DEVICE_CHECK" in --list) printf 'box-stack\ndrop\nerleben-spikes\n' ;;
*spikesraces) printf 'erleben-spikes good   1e-9   1e-6\nemulated device: race: write at x.cu:7\n'; exit 4 ;;
*spikes) printf 'erleben-spikes   FAILED   1e-3 1e-5  positions are too far apart\n'; exit 1 ;;
*) printf 'box-stack   good   1e-9   1e-6\n' ;; esac
TEXT
  run_stages >"$base/table"
  expect '^tests Engines/BackendsAgree, double +good +[0-9]+  3 passed, 0 failed, 1 skipped'
  expect '^checked Engines/BackendsAgree, seed 1, double +good +[0-9]+  3 passed, 0 failed, 1 skipped'
  expect '^compare box-stack, double +good +[0-9]+  1e-9 1e-6$'
  expect '^compare erleben-spikes, double +FAILED +[0-9]+  1e-3 1e-5 positions are too far apart$'
  expect '^checked erleben-spikes, seed 1, double +FAILED +[0-9]+  emulated device: race: write at x.cu:7$'
  expect_count FAILED 2
)

self_check() {
  local folder first
  base=$(mktemp -d) reals=double
  build=$base/double
  trap 'rm -rf "$base"' EXIT
  device='a "made-up" device' stages=tests,compare,determinism,sanitize,bench quick=yes json=$base/out.json
  make_programs
  PATH=$base/bin:$PATH run_stages >"$base/table"
  expect '^tests core, cuda, double +FAILED +[0-9]+  2 passed, 1 failed, 0 skipped: x.cu:7: Failure$'
  expect '^tests math, cuda, double +FAILED .*every test was skipped: no device$'
  expect '^tests linear, cpu, double +good +[0-9]+  3 passed, 0 failed, 1 skipped$'
  expect '^compare on_a_bar, double +good .*ms/step on cpu and cuda: 1.5 0.5$'
  expect '^compare box-stack, double +good +[0-9]+  1e-9 1e-6$'
  expect '^compare erleben-spikes, double +FAILED +[0-9]+  1e-3 1e-5 positions are too far apart$'
  expect '^cost of a fixed order, double +good +[0-9]+  in a fixed order 1 ms, by atomics 2 ms$'
  expect '^ten runs of box-stack, cuda, double +good +[0-9]+  0123$'
  for folder in linear collide dfcp rigid; do expect "^memcheck $folder, double +good "; done
  expect '^bench primitives, cuda, double +good +[0-9]+ + triad 1 GB/s'
  expect_count FAILED 7
  if command -v python3 >/dev/null; then
    python3 -c '
import json, sys
result = json.load(open(sys.argv[1]))
assert result["device"] == "a \"made-up\" device", result
assert len(result["checks"]) > 30 and len(result["benches"]) == 2, result' "$json"
  fi
  # Only the failed checks run again.
  first=$(all_rows)
  printf '#!/bin/sh\necho "[  PASSED  ] 9 tests."\n' >"$build/tests/test_core"
  resume=yes
  PATH=$base/bin:$PATH run_stages >"$base/table"
  expect '^tests core, cuda, double +good +[0-9]+  9 passed'
  expect_count FAILED 4
  [ "$(all_rows | grep -c '|good|')" -gt "$(grep -c '|good|' <<<"$first")" ]
  # After the limit nothing starts, and running checks end.
  rm "$base"/rows/*
  printf '#!/bin/sh\nsleep 60\n' >"$build/tests/test_core"
  stages=tests resume=no at_once=1 limit=$((SECONDS + 1))
  PATH=$base/bin:$PATH run_stages >"$base/table"
  expect '^tests core, cpu, double +not run +[0-9]+  the time is up$'
  expect '^tests linear, cpu, double +not run +0  the time is up$'
  expect_count FAILED 0
  check_emulated_stages
  for folder in core barrier step; do
    test_folders | grep -qx "$folder" || { echo "self-check: tests/$folder is not found"; exit 1; }
  done
  echo "gpu_check: self-check good; the device part was skipped"
}

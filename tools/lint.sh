#!/usr/bin/env bash
# Format, includes, file lengths, shell scripts, clang-tidy: tools/lint.sh [build folder, already configured].
# clang-tidy reads the host sources and the CPU copy of every kernel; tests are checked only by compiler
# warnings.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/release}
failed=0
jobs=$(nproc)

# stage NAME COMMAND...: runs all stages, so that one run shows every fault.
stage() {
  local name=$1 start=$SECONDS
  shift
  if "$@"; then
    echo "lint: $name: good ($((SECONDS - start)) s)"
  else
    echo "lint: $name: FAILED"
    failed=1
  fi
}

# shellcheck disable=SC2317  # called through stage
check_format() {
  find gpu app bench examples tests \( -name '*.h' -o -name '*.cuh' -o -name '*.cu' -o -name '*.cpp' \) -print0 |
    xargs -0 -r -n 16 -P "$jobs" clang-format --dry-run -Werror
}

# shellcheck disable=SC2317  # called through stage
check_tidy() {
  [ -f "$build/compile_commands.json" ] || {
    echo "lint: $build is not configured: cmake --preset release"
    return 1
  }
  python3 tools/tidy_database.py "$build" |
    xargs -r -d '\n' -n 1 -P "$jobs" clang-tidy --quiet -p "$build/tidy" 2> >(grep -v 'warnings\? generated' >&2)
}

stage "self-test of the checks" python3 tools/test_checks.py
stage "test of grouped tests" python3 tools/test_group.py
stage "test of the benches' report" python3 tools/bench/test_report.py
stage "test of the races' plot" python3 tools/bench/test_race_plot.py
stage "test of the table of reproductions" python3 tools/bench/test_reproduction.py
stage "test of the device's table" python3 tools/bench/test_device_table.py
stage "test of central paths" python3 tools/bench/test_central_path.py
stage "test of the peers of contact solvers" python3 tools/bench/test_fclib_peers.py
stage "test of the table of laws" python3 tools/test_law_matrix.py
stage "test of the search for bad seeds" python3 tools/test_try_seeds.py
stage "test of the generated documents" python3 tools/test_make_docs.py
stage "test of the pages of solvers" python3 tools/test_solver_pages.py
stage "test of the films" python3 tools/test_films.py
stage "test of the gallery" python3 tools/test_gallery.py
stage "test of the table of kernels" python3 tools/test_kernel_resources.py
stage "include direction" python3 tools/check_includes.py
stage "file length" python3 tools/check_length.py
stage "links of pages" python3 tools/check_links.py
stage "references" python3 tools/check_references.py
stage "retired words" python3 tools/check_words.py
stage "names of tests" python3 tools/check_tests.py
stage "generated documents" python3 tools/make_docs.py --check --program "$build/app/stickslip"
stage "shell scripts" shellcheck -x tools/*.sh tests/*.sh tests/program/*.sh tests/device/*.sh .ci/run
stage "format" check_format
stage "clang-tidy" check_tidy
exit "$failed"

#!/usr/bin/env bash
# group.sh PROGRAM NAMES [ARGUMENT...]: runs tests (NAMES as for --gtest_filter) in one process. Where a test ends the process, it
# counts as failed, and a new process runs those that have not begun.
set -uo pipefail
program=$1 filter=$2
shift 2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
while true; do
  "$program" "--gtest_filter=$filter" "$@" 2>&1 | tee "$log"
  code=${PIPESTATUS[0]}
  if grep -q '^\[==========\] .* ran\.' "$log"; then
    [ "$code" -eq 0 ] && exit "$failed"
    exit 1
  fi
  began=$(sed -n 's/.*\[ RUN      \] //p' "$log")
  if [ -z "$began" ]; then
    echo "group: no test began: exit code $code"
    exit 1
  fi
  echo "[  FAILED  ] $(tail -n 1 <<<"$began"): it ended the process, exit code $code"
  failed=1
  [[ $filter == *-* ]] && filter+=: || filter+=-
  filter+=${began//$'\n'/:}
done

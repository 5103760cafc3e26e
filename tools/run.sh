#!/usr/bin/env bash
# Builds the program and runs it: tools/run.sh [arguments of stickslip].
# Without arguments: the window on the default scene or, where there is no display, a short video of it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/tools/setup.sh"
# The program's stdout stays clean: its last line is for machines.
(
  cd "$root"
  cmake --preset release
  cmake --build --preset release --target stickslip
) >&2

program="$root/build/release/app/stickslip"
if [ $# -gt 0 ]; then
  exec "$program" "$@"
elif [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  exec "$program" view
else
  echo "run: no display, so the default scene goes to a video" >&2
  "$program" run drop --frames 120 --video drop.mp4
  echo "run: see $PWD/drop.mp4" >&2
fi

#!/usr/bin/env bash
# Builds the program and runs it: tools/run.sh [--cuda] [arguments of stickslip].
# Without arguments: the window with the default scene or, without a display, a short video of it. The CUDA
# backend is built if a device is available; --cuda forces it on other machines (a separate, longer build).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=run
if [ "${1:-}" = --cuda ]; then
  preset=run-cuda
  shift
fi
program="$root/build/$preset/app/stickslip"

"$root/tools/setup.sh"
# The program's stdout stays clean, because its last line is machine-readable.
(
  cd "$root"
  [ -x "$program" ] || echo "run: building the program; the first time takes a few minutes" >&2
  cmake --preset "$preset" --log-level=WARNING
  # Finished and total steps, percentage, and elapsed seconds.
  NINJA_STATUS='[%f of %t, %p, %e s] ' cmake --build --preset "$preset" --target stickslip
) >&2

if [ $# -gt 0 ]; then
  exec "$program" "$@"
elif [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  exec "$program" view
else
  echo "run: no display, so the default scene goes to a video" >&2
  "$program" run drop --frames 120 --video drop.mp4
  echo "run: see $PWD/drop.mp4" >&2
fi

#!/usr/bin/env bash
# Makes the films and pictures of docs/manual.md and of docs/tour.md anew, from the program (default:
# build/release/app/stickslip). It takes about twenty minutes on two processors, and needs Xvfb, xdotool and ffmpeg.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=${1:-build/release/app/stickslip}
tools/films.py --program "$program"
tools/tour.py --program "$program"

#!/usr/bin/env bash
# install.sh BUILD COMPILER: installs a build and runs the program from where it is, without the source tree; then builds
# examples/find_package with the installed library.
set -euo pipefail
unset STICKSLIP_ASSETS
build=$1 compiler=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Not below the build folder, where the program would find the assets of the source tree.
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
# shellcheck source=tests/program/installed.sh
. "$source/tests/program/installed.sh"

cmake --install "$build" --prefix "$place/prefix" >/dev/null
check_installed "$place/prefix" "$source"

# A program without its scenes says so, and takes none from elsewhere. It looks in folders beside and above itself: none
# of these is shared with other programs.
mkdir -p "$place/far/from/others"
cp "$place/prefix/bin/stickslip" "$place/far/from/others/stickslip"
(cd "$place/far/from/others" && ! ./stickslip run slope --frames 1 2>"$place/alone")
grep -q 'the shipped scenes were not found' "$place/alone"

cp -r "$source/examples/find_package" "$place/example"
cmake -S "$place/example" -B "$place/example/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$place/prefix" --log-level=WARNING
cmake --build "$place/example/build" >/dev/null
"$place/example/build/sliding_boxes"

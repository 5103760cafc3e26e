#!/usr/bin/env bash
# package.sh BUILD: packs a build as .deb files, unpacks them, and runs the program from there without the source tree.
set -euo pipefail
build=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
# shellcheck source=tests/program/installed.sh
. "$source/tests/program/installed.sh"

# Uncompressed: that is faster.
cpack --config "$build/CPackConfig.cmake" -D CPACK_DEBIAN_COMPRESSION_TYPE=none -B "$place" >"$place/log" 2>&1 || {
  cat "$place/log"
  exit 1
}
for name in stickslip libstickslip-dev; do
  dpkg-deb --field "$place/$name"_*.deb Package Version Depends
done
program=$(echo "$place"/stickslip_*.deb)
# The libraries that the program is linked with come from packages that it depends on.
depends=$(dpkg-deb --field "$program" Depends)
for library in libc6 libvulkan1 libglfw3 libhdf5; do
  grep -q "$library" <<<"$depends" || {
    echo "$program does not depend on $library: $depends" >&2
    exit 1
  }
done
dpkg-deb --extract "$program" "$place/root"
check_installed "$place/root/usr" "$source"
dpkg-deb --extract "$place"/stickslip-bench_*.deb "$place/root"
if [ -x "$place/root/usr/bin/stickslip-bench" ]; then  # where it was built
  "$place/root/usr/bin/stickslip" bench --help | grep Examples:
fi
dpkg-deb --contents "$place"/libstickslip-dev_*.deb | grep stickslipConfig.cmake

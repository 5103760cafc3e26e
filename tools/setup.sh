#!/usr/bin/env bash
# Installs the Debian packages for building and running stickslip; does nothing if all are installed.
# tools/setup.sh --test adds those of tools/test.sh: lint, fuzzers, tests and their windows.
set -euo pipefail

packages=(
  g++ cmake ninja-build
  libtbb-dev libeigen3-dev
  libvulkan-dev mesa-vulkan-drivers glslc libglfw3-dev libxext-dev libimgui-dev libglm-dev
  libtomlplusplus-dev nlohmann-json3-dev libcli11-dev libspdlog-dev libfmt-dev libstb-dev libhdf5-dev
  ffmpeg tetgen fonts-dejavu-core
)
test_packages=(
  ccache git python3
  clang-format clang-tidy shellcheck
  clang libclang-rt-dev
  libgtest-dev libgmp-dev libboost-context-dev dpkg-dev file
  vulkan-validationlayers xvfb xauth xdotool libxcb1-dev
)

case "${1:-}" in
  '') ;;
  --test) packages+=("${test_packages[@]}") ;;
  *)
    echo "usage: tools/setup.sh [--test]" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is no Debian; please install the equivalents of: ${packages[*]}" >&2
  exit 1
fi

installed=$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
missing=()
for package in "${packages[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "setup: installing ${missing[*]}" >&2
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: installing packages needs root or sudo; please run as root: tools/setup.sh ${1:-}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
"${as_root[@]}" apt-get -o Acquire::Retries=3 update >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get -o Acquire::Retries=3 install --yes --no-install-recommends "${missing[@]}" >&2

#!/usr/bin/env bash
# Installs the Debian packages that stickslip is built and tested with; does nothing when all are there.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache git python3
  clang-format clang-tidy shellcheck
  clang libclang-rt-dev tetgen
  libtbb-dev
  libvulkan-dev vulkan-validationlayers mesa-vulkan-drivers glslc libglfw3-dev libimgui-dev libglm-dev
  libtomlplusplus-dev nlohmann-json3-dev libcli11-dev libspdlog-dev libfmt-dev libstb-dev libhdf5-dev
  ffmpeg
  libgtest-dev libeigen3-dev libgmp-dev xvfb xauth xdotool fonts-dejavu-core
)

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
    echo "setup: installing packages needs root or sudo; please run as root: tools/setup.sh" >&2
    exit 1
  fi
  as_root=(sudo)
fi
"${as_root[@]}" apt-get -o Acquire::Retries=3 update >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get -o Acquire::Retries=3 install --yes --no-install-recommends "${missing[@]}" >&2

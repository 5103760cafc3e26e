#include "app/render/palette.h"

#include <array>

#include "app/render/frame_view.h"

namespace stickslip {
namespace {

constexpr Vec3f rgb(int hex) {
  return {static_cast<float>(hex >> 16 & 255) / 255, static_cast<float>(hex >> 8 & 255) / 255,
          static_cast<float>(hex & 255) / 255};
}

constexpr std::array<Vec3f, 10> kPalette = {
    rgb(0xe07a5f),  // terracotta
    rgb(0x3d7ea6),  // lake blue
    rgb(0xf2b84b),  // amber
    rgb(0x5b9e7c),  // sage
    rgb(0x8c6bb1),  // violet
    rgb(0xd95d7a),  // rose
    rgb(0x4fb3b0),  // teal
    rgb(0xb08457),  // ochre
    rgb(0x6b7fb8),  // periwinkle
    rgb(0xa3b356),  // moss
};

}  // namespace

Vec3f palette_color(std::size_t index) { return kPalette[index % kPalette.size()]; }
std::size_t palette_size() { return kPalette.size(); }

// They stay apart for eyes that lack one kind of cones: CIEDE2000 is at least 27 between any two.
Vec3f contact_color(ShownState state) {
  switch (state) {
    case ShownState::stick:
      return rgb(0x286d6e);
    case ShownState::slip:
      return rgb(0xe83c01);
    case ShownState::unconverged:
      return rgb(0xbe61ff);
    case ShownState::open:
      break;
  }
  return rgb(0xb9cabf);
}

Vec3f joint_color() { return rgb(0x0b7a75); }
Vec3f pin_color() { return rgb(0xd6336c); }
Vec3f multiplier_color() { return rgb(0x7b2ff2); }

}  // namespace stickslip

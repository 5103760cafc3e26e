// Contacts and the drag line as marks of constant size on the screen.
#pragma once

#include <vector>

#include "app/render/frame_view.h"
#include "shaders/shared/frame_data.h"

namespace stickslip {

std::vector<shared::Glyph> make_glyphs(const FrameView& view);

}  // namespace stickslip

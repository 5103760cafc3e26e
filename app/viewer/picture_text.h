// Text in pictures without panels, in the font of the window. Needs an ImGui context whose fonts are built.
#pragma once

#include <imgui.h>

#include <string_view>

#include "app/render/image.h"

namespace stickslip {

/// [px] x and y from the upper left corner, up to `x1` and `y1`, which are not part of it.
struct PictureArea {
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

/// Covers the area with a colour, by its alpha; what was transparent becomes opaque by as much.
void fill_area(Image& image, const PictureArea& area, ImU32 color);
/// One line of UTF-8, from its upper left corner, `scale` times as large as in the window. Draws nothing
/// outside of `clip`.
void draw_text(Image& image, float x, float y, std::string_view text, ImU32 color, float scale,
               const PictureArea& clip);

}  // namespace stickslip

// Colours, spacing and font of the window.
#pragma once

#include <imgui.h>

#include "gpu/math/vec.h"

namespace stickslip::theme {

constexpr ImU32 text = IM_COL32(214, 218, 226, 255);
constexpr ImU32 dim_text = IM_COL32(140, 147, 160, 255);
constexpr ImU32 accent = IM_COL32(94, 160, 222, 255);
constexpr ImU32 good = IM_COL32(112, 184, 124, 255);
constexpr ImU32 warning = IM_COL32(226, 176, 84, 255);
constexpr ImU32 bad = IM_COL32(228, 104, 96, 255);
constexpr ImU32 plot_background = IM_COL32(14, 16, 20, 255);
constexpr ImU32 plot_grid = IM_COL32(44, 49, 58, 255);
constexpr ImU32 bar_background = IM_COL32(34, 38, 46, 255);

/// Colours of plot lines and of stages of a step, distinct in hue and lightness.
constexpr ImU32 series[] = {IM_COL32(94, 160, 222, 255),  IM_COL32(226, 152, 76, 255),
                            IM_COL32(112, 184, 124, 255), IM_COL32(206, 116, 178, 255),
                            IM_COL32(214, 206, 112, 255), IM_COL32(116, 200, 200, 255),
                            IM_COL32(150, 156, 168, 255)};

/// Any number of colours, distinct in hue; successive ones differ strongly.
ImU32 wheel(std::size_t index);

ImVec4 rgba(ImU32 color);
ImU32 rgb(const Vec3f& srgb);

/// Sets style and font of the current ImGui context for a display with `scale` pixels per 1/96 inch. Call
/// before the first frame.
void apply(float scale);

}  // namespace stickslip::theme

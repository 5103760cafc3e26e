// Contacts, the drag line, and colliders without a surface, as marks of constant size on the screen.
#pragma once

#include <vector>

#include "app/render/frame_view.h"
#include "app/render/scene_buffers.h"
#include "shaders/shared/frame_data.h"

namespace stickslip {

std::vector<shared::Glyph> make_glyphs(const FrameView& view, const SceneBuffers& scene);

}  // namespace stickslip

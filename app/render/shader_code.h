// The compiled shaders, as the build embeds them.
#pragma once

#include <cstdint>
#include <span>

namespace stickslip::shader_code {

using Words = std::span<const std::uint32_t>;
Words normals_comp();
Words depth_vert();
Words mesh_vert();
Words mesh_frag();
Words plane_vert();
Words plane_frag();
Words sky_vert();
Words sky_frag();
Words wire_vert();
Words wire_frag();
Words tube_vert();
Words tube_cap_vert();
Words tube_depth_vert();
Words hair_vert();
Words hair_frag();
Words glyph_vert();
Words glyph_frag();

}  // namespace stickslip::shader_code

#include "app/render/shader_code.h"

namespace stickslip::shader_code {
namespace {
constexpr std::uint32_t kNormalsComp[] =
#include "spirv/normals.comp.inc"
    ;
constexpr std::uint32_t kDepthVert[] =
#include "spirv/depth.vert.inc"
    ;
constexpr std::uint32_t kMeshVert[] =
#include "spirv/mesh.vert.inc"
    ;
constexpr std::uint32_t kMeshFrag[] =
#include "spirv/mesh.frag.inc"
    ;
constexpr std::uint32_t kPlaneVert[] =
#include "spirv/plane.vert.inc"
    ;
constexpr std::uint32_t kPlaneFrag[] =
#include "spirv/plane.frag.inc"
    ;
constexpr std::uint32_t kSkyVert[] =
#include "spirv/sky.vert.inc"
    ;
constexpr std::uint32_t kSkyFrag[] =
#include "spirv/sky.frag.inc"
    ;
constexpr std::uint32_t kWireVert[] =
#include "spirv/wire.vert.inc"
    ;
constexpr std::uint32_t kWireFrag[] =
#include "spirv/wire.frag.inc"
    ;
constexpr std::uint32_t kGlyphVert[] =
#include "spirv/glyph.vert.inc"
    ;
constexpr std::uint32_t kGlyphFrag[] =
#include "spirv/glyph.frag.inc"
    ;
constexpr std::uint32_t kTubeVert[] =
#include "spirv/tube.vert.inc"
    ;
constexpr std::uint32_t kTubeCapVert[] =
#include "spirv/tube_cap.vert.inc"
    ;
constexpr std::uint32_t kHairVert[] =
#include "spirv/hair.vert.inc"
    ;
constexpr std::uint32_t kHairFrag[] =
#include "spirv/hair.frag.inc"
    ;
constexpr std::uint32_t kTubeDepthVert[] =
#include "spirv/tube_depth.vert.inc"
    ;
}  // namespace

Words normals_comp() { return kNormalsComp; }
Words depth_vert() { return kDepthVert; }
Words mesh_vert() { return kMeshVert; }
Words mesh_frag() { return kMeshFrag; }
Words plane_vert() { return kPlaneVert; }
Words plane_frag() { return kPlaneFrag; }
Words sky_vert() { return kSkyVert; }
Words sky_frag() { return kSkyFrag; }
Words wire_vert() { return kWireVert; }
Words wire_frag() { return kWireFrag; }
Words tube_vert() { return kTubeVert; }
Words tube_cap_vert() { return kTubeCapVert; }
Words tube_depth_vert() { return kTubeDepthVert; }
Words hair_vert() { return kHairVert; }
Words hair_frag() { return kHairFrag; }
Words glyph_vert() { return kGlyphVert; }
Words glyph_frag() { return kGlyphFrag; }

}  // namespace stickslip::shader_code

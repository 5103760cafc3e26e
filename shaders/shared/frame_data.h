// Data that C++ passes to the shaders, defined once for both. std140 for FrameData, std430 for the rest.
#ifdef __cplusplus
#pragma once

#include <cstdint>
#include <glm/mat4x4.hpp>
#include <glm/vec4.hpp>

namespace stickslip::shared {
using glm::mat4;
using glm::vec4;
using uint = std::uint32_t;
#endif

// Bindings of the single descriptor set.
const int kFrameBinding = 0;     // FrameData
const int kPositionBinding = 1;  // float[3] per node
const int kVertexBinding = 2;    // MeshVertex
const int kFanBinding = 3;       // uint: triangles around each vertex
const int kTriangleBinding = 4;  // uint[3]: nodes
const int kNormalBinding = 5;    // float[3] per vertex
const int kObjectBinding = 6;    // ObjectLook
const int kGlyphBinding = 7;     // Glyph
const int kSunMapBinding = 8;    // depth seen from the sun, compared
const int kSunDepthBinding = 9;  // the same, as plain depth
const int kSkyMapBinding = 10;   // tiles of depth seen from directions over the sky, compared
const int kRodBinding = 11;      // RodPiece
const int kHeatBinding = 12;     // float per node: its place on the scale in [0, 1]; < 0: the object's colour

const int kMaxSkyViews = 36;

struct FrameData {
  mat4 view_projection;
  vec4 eye;            // xyz [m]; w: metres per pixel at unit depth
  vec4 forward;        // xyz; w: how far up the centre of the view is, in half heights
  vec4 viewport;       // width, height [px], scale of screen-constant sizes, unused
  vec4 corner;         // xy: upper left corner of the view in the picture [px]; zw: 1 / width, 1 / height
  vec4 scene;          // centre [m], radius [m]
  vec4 grid;           // cell [m], distance at which the ground has faded [m], unused
  vec4 sun_direction;  // xyz towards the sun; w: size of a shadow texel [m]
  mat4 sun_matrix;     // world to (u, v, depth) of the sun's map
  vec4 sky_layout;  // tiles per row, 1 where surfaces have the colours of kHeatBinding, size of a sky texel
                    // [m], 1 where objects have patterns
  vec4 clip;        // bodies are not drawn where dot(xyz, place) > w [m]; xyz 0: nowhere
  vec4 x_ray;       // share of the pixels of bodies that are drawn, unused
  mat4 sky_matrix[kMaxSkyViews];
  vec4 sky_direction[kMaxSkyViews];
};

/// Colours of scales, sRGB: equally far apart, from dark blue over green to yellow, rising in lightness.
#define STICKSLIP_SCALE_COLORS(COLOR) \
  COLOR(0.20, 0.15, 0.45)             \
  COLOR(0.20, 0.33, 0.60)             \
  COLOR(0.14, 0.52, 0.60)             \
  COLOR(0.22, 0.69, 0.50)             \
  COLOR(0.58, 0.83, 0.30)             \
  COLOR(0.99, 0.91, 0.22)
const int kScaleColors = 6;

/// A corner of the surface: nodes are split where the surface has a crease.
struct MeshVertex {
  uint node;
  uint look;                // one ObjectLook per object, and behind them one per object for its odd panels
  uint fan_begin, fan_end;  // triangles that share its normal
  float place_x, place_y, place_z;  // [m] where its pattern is, fixed to the material. Cloth: along warp and
                                    // weft at rest; round rigid bodies: in the body's frame; other solids:
                                    // [cells] of their checker, see app/render/checker.h
};

/// A segment of a rod, and the nodes before and after it: its own ends where the rod ends.
struct RodPiece {
  uint a, b;
  uint before, after;
  uint object;
  float radius;  // [m]
  uint ghost, ghost_before,
      ghost_after;         // nodes that carry the frames of these segments, see gpu/model/rod.h
  float along_a, along_b;  // [m] of its ends along the rod at rest; of hair: as shares of the strand
  float chance;            // of its strand, even in [0, 1)
};
const int kTubeCapVertices = 16;
const int kRibbonVertices = 4;  // of a segment of hair

const float kPatternOfRods = 0;
const float kPatternOfCloth = 1;
const float kPatternOfRoundBodies = 2;
const float kPatternOfSolids = 3;

struct ObjectLook {
  vec4 color;    // linear; w: 1 when highlighted
  vec4 pattern;  // x: [1/m] threads of cloth or cells along rods, 0: it has no pattern; y: a kind of kPattern
};

const uint kGlyphDisc = 0u;   // at a; b.w: its radius in units of screen-constant size, 0: the usual one
const uint kGlyphArrow = 1u;  // from a along the unit vector b
const uint kGlyphLine = 2u;   // from a to b
const uint kGlyphRing = 3u;   // about a; b.w: radius in units of screen-constant size
/// Added to a kind: a and b are nodes with numbers x + kGlyphNodeDigit y.
const uint kGlyphOfNodes = 4u;
const uint kGlyphNodeDigit = 4096u;  // floats represent both digits exactly

struct Glyph {
  vec4 a;  // xyz [m]; w: kind
  vec4 b;
  vec4 color;  // sRGB, as it appears
};

/// Push constants; each pipeline reads the struct with its name.
struct PlanePush {
  vec4 center;  // xyz [m]; w: offset of the grid along u
  vec4 u;       // xyz: half extent along u [m]; w: offset of the grid along v
  vec4 v;       // xyz: half extent along v [m]; w: 1 for the ground, 0 for a finite plane
};
struct DepthPush {
  mat4 matrix;  // world to clip space of the light
};
struct GlyphPush {
  vec4 look;  // opacity, unused
};

#ifdef __cplusplus
}  // namespace stickslip::shared
#endif

#version 460
#extension GL_GOOGLE_include_directive : require
// Screen-constant marks: each instance is a rectangle in which the fragment shader draws the shape.
#include "frame.glsl"

layout(set = 0, binding = kGlyphBinding, std430) readonly buffer Glyphs { Glyph glyphs[]; };

layout(location = 0) out vec2 at;              // [px] along and across, from a
layout(location = 1) flat out float length_px;  // from a to b
layout(location = 2) flat out uint kind;
layout(location = 3) flat out vec4 tint;
layout(location = 4) flat out float radius;  // [px] of a ring or a disc; of a line half its width; 0: as usual

vec2 to_screen(vec4 clip) { return clip.xy / clip.w * 0.5 * frame.viewport.xy; }

vec3 at_node(vec4 digits) { return node_position(uint(digits.x) + kGlyphNodeDigit * uint(digits.y)); }

void main() {
  Glyph glyph = glyphs[gl_InstanceIndex];
  kind = uint(glyph.a.w);
  if (kind >= kGlyphOfNodes) {
    kind -= kGlyphOfNodes;
    glyph.a.xyz = at_node(glyph.a);
    glyph.b.xyz = at_node(glyph.b);
  }
  tint = glyph.color;
  const float size = frame.viewport.z;
  const float depth = max(dot(glyph.a.xyz - frame.eye.xyz, frame.forward.xyz), 1e-6);
  vec3 head = glyph.b.xyz;
  if (kind == kGlyphDisc || kind == kGlyphRing) head = glyph.a.xyz;
  if (kind == kGlyphArrow) head = glyph.a.xyz + glyph.b.xyz * (30 * size * frame.eye.w * depth);

  // Moved towards the eye, so that the surface does not cut a mark on it.
  const vec4 clip_a = frame.view_projection * vec4(mix(glyph.a.xyz, frame.eye.xyz, 0.004), 1);
  const vec4 clip_b = frame.view_projection * vec4(mix(head, frame.eye.xyz, 0.004), 1);
  const vec2 a = to_screen(clip_a), b = to_screen(clip_b);
  length_px = distance(a, b);
  const vec2 along = length_px > 0.01 ? (b - a) / length_px : vec2(1, 0);
  const vec2 across = vec2(-along.y, along.x);

  const vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
  radius = glyph.b.w * size;
  const float margin = max(8 * size, radius + 4 * size);
  at = vec2(mix(-margin, length_px + margin, corner.x), mix(-margin, margin, corner.y));
  const vec4 base = corner.x > 0.5 ? clip_b : clip_a;
  const vec2 pixel = a + along * at.x + across * at.y;
  gl_Position = vec4(pixel / (0.5 * frame.viewport.xy) * base.w, base.z, base.w);
  if (clip_a.w <= 0 || clip_b.w <= 0) gl_Position = vec4(0, 0, 2, 1);  // behind the eye: clipped
}

#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(push_constant) uniform Push { GlyphPush glyph; };
layout(location = 0) in vec2 at;
layout(location = 1) flat in float length_px;
layout(location = 2) flat in uint kind;
layout(location = 3) flat in vec4 tint;
layout(location = 4) flat in float radius;  // [px] of a ring or a disc; of a line half its width; 0: as usual
layout(location = 0) out vec4 color;

float segment_distance(vec2 p, float end) { return length(p - vec2(clamp(p.x, 0.0, end), 0)); }

void main() {
  const float size = frame.viewport.z;
  float outside;  // [px] distance to the shape, negative inside
  if (kind == kGlyphDisc) {
    outside = length(at) - (radius > 0 ? radius : 4.2 * size);
  } else if (kind == kGlyphRing) {
    outside = abs(length(at) - radius) - 1.0 * size;
  } else if (kind == kGlyphLine) {
    outside = segment_distance(at, length_px) - (radius > 0 ? radius : 1.3 * size);
  } else {
    const float tip = min(8 * size, 0.6 * length_px);
    const float shaft = segment_distance(at, length_px - tip) - 1.0 * size;
    const float slant = dot(vec2(at.x - length_px, abs(at.y)), normalize(vec2(0.45, 1)));
    outside = min(shaft, max(slant, length_px - tip - at.x));
  }
  const float body = clamp(0.5 - outside, 0.0, 1.0);
  // A light rim keeps marks visible on any colour. Lines of a given width have none: many of them overlap.
  const float rim = (kind == kGlyphDisc ? (radius > 0 ? 0.286 * radius : 1.2 * size) : 0.8 * size);
  const float halo = (kind == kGlyphDisc ? 0.8 : kind == kGlyphLine && radius > 0 ? 0.0 : 0.4) * clamp(0.5 + rim - outside, 0.0, 1.0);
  const float opacity = glyph.look.x * tint.a * max(body, halo);
  if (opacity < 0.004) discard;
  color = vec4(mix(vec3(0.99), tint.rgb, body), opacity);
}

#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "light.glsl"
#include "pattern.glsl"

// Nothing is left out, and no surface has the colours of a scale: see Pipelines::whole_bodies.
layout(constant_id = 3) const bool kWhole = false;

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) flat in vec4 look;
layout(location = 3) in float share;
layout(location = 4) in vec4 place;
layout(location = 5) flat in vec2 pattern;
layout(location = 6) in vec3 in_sun;
layout(location = 7) in vec3 off_surface;  // see sun_map_offset
layout(location = 8) in float height;
layout(location = 0) out vec4 color;

/// Linear colour of a place on the scale.
vec3 scale_color(float at) {
#define COLOR(r, g, b) vec3(r, g, b),
  const vec3 stops[kScaleColors + 1] = vec3[](STICKSLIP_SCALE_COLORS(COLOR) vec3(1));
  const float place = clamp(at, 0.0, 1.0) * (kScaleColors - 1);
  const int below = min(int(place), kScaleColors - 2);
  return pow(mix(stops[below], stops[below + 1], place - below), vec3(2.2));
}

/// Whether x-ray leaves this pixel to what is behind: an ordered dither by a Bayer matrix.
bool is_x_rayed(vec2 pixel) {
  const float order[16] = float[](0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5);
  const ivec2 at = ivec2(pixel) & 3;
  return order[4 * at.y + at.x] + 0.5 > 16 * frame.x_ray.x;
}

void main() {
  const vec3 to_eye = normalize(frame.eye.xyz - position);
  const float side = gl_FrontFacing ? 1 : -1;
  const vec3 n = normalize(side * normal);
  const Light arriving = light_at(position, n, in_sun + side * off_surface);  // needs all fragments of the quad
  if (!kWhole && (is_clipped(position) || is_x_rayed(gl_FragCoord.xy))) discard;
  const float tone = pattern_tone(place, pattern);
  const vec3 own = kWhole || share < -0.5 ? tone * look.rgb : scale_color(share);
  vec3 light = matte(own, arriving, height, n) + gloss(arriving, n, to_eye);
  const float rim = 1 - max(dot(n, to_eye), 0.0);
  light += look.w * (0.05 + 0.5 * rim * rim * rim) * vec3(1.0, 0.80, 0.40);
  color = display(light);
}

#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "light.glsl"
#include "pattern.glsl"
#include "surface.glsl"

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

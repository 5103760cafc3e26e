#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#define ON_A_PLANE
#include "light.glsl"

layout(push_constant) uniform Push { PlanePush plane; };
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 across;
layout(location = 2) in vec2 corner;
layout(location = 3) flat in vec3 normal;  // towards the eye
layout(location = 4) in vec3 in_sun;
layout(location = 5) in float height;
layout(location = 0) out vec4 color;

/// Share of the pixel around p that is covered by lines of half width `width` around the whole numbers.
float grid_lines(vec2 p, vec2 pixel, float width) {
  const vec2 a = p + 0.5 - 0.5 * pixel, b = a + pixel, low = floor(a), high = floor(b);
  const float from = 0.5 - width, to = 0.5 + width;
  const vec2 line = (2 * width * (high - low) + clamp(b - high, from, to) - clamp(a - low, from, to)) / pixel;
  return max(line.x, line.y);
}

void main() {
  const bool ground = plane.v.w > 0;
  const vec3 to_eye = normalize(frame.eye.xyz - position);

  const vec2 cells = across / frame.grid.x;
  const vec2 pixel = max(fwidth(cells), vec2(1e-6));
  const float fine = grid_lines(cells, pixel, 0.008);
  const float strong = grid_lines(cells / 10, pixel / 10, 0.0016);
  const float odd = mod(floor(cells.x) + floor(cells.y), 2.0);
  const float checker = ground ? 1 : mix(0.85, 1.1, odd);
  const vec3 albedo = checker * (1 - 0.26 * fine - 0.34 * strong) * vec3(0.40, 0.405, 0.415);
  const vec3 light = matte(albedo, light_at(position, normal, in_sun), height, normal);

  // The ground fades into the backdrop; a finite plane has a soft edge.
  const float away = length(position.xz - frame.scene.xz) / frame.grid.y;
  const float fade = ground ? sqrt(smoothstep(0.08, 1.0, away)) : 0;
  const vec2 edge = smoothstep(vec2(1.0), vec2(0.8), abs(corner));
  color = vec4(display(mix(light, sky(-to_eye), fade)).rgb, ground ? 1 : 0.55 * edge.x * edge.y);
}

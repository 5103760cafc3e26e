#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "light.glsl"

layout(location = 0) in vec2 screen;
layout(location = 0) out vec4 color;

void main() {
  // viewport.w: half the picture's height in metres at unit depth; forward.w: how far up its centre is.
  const vec3 right = normalize(cross(frame.forward.xyz, vec3(0, 1, 0)));
  const vec3 up = cross(right, frame.forward.xyz);
  const float aspect = frame.viewport.x / frame.viewport.y;
  const vec3 direction = frame.forward.xyz + frame.viewport.w * (screen.x * aspect * right - (screen.y + frame.forward.w) * up);
  color = display(sky(normalize(direction)));
}

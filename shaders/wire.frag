#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(location = 0) in vec3 position;
layout(location = 0) out vec4 color;

void main() {
  if (is_clipped(position)) discard;
  color = vec4(0.03, 0.05, 0.09, 0.42);
}

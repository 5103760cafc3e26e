#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "light.glsl"

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) flat in vec4 look;
layout(location = 0) out vec4 color;

void main() {
  const vec3 to_eye = normalize(frame.eye.xyz - position);
  const vec3 n = normalize(gl_FrontFacing ? normal : -normal);
  const Light arriving = light_at(position, n);
  vec3 light = matte(look.rgb, arriving, position, n) + gloss(arriving, n, to_eye);
  const float rim = 1 - max(dot(n, to_eye), 0.0);
  light += look.w * (0.05 + 0.5 * rim * rim * rim) * vec3(1.0, 0.80, 0.40);
  color = display(light);
}

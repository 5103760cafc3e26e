#version 460
#extension GL_GOOGLE_include_directive : require
// Rods seen from a light, which is far away. At least a texel of the sun's map wide.
#include "frame.glsl"
#include "tube.glsl"

layout(push_constant) uniform Push { DepthPush light; };

void main() {
  const vec3 forward = vec3(light.matrix[0][2], light.matrix[1][2], light.matrix[2][2]);
  const RodPiece rod = rods[gl_InstanceIndex];
  // Smaller than the tube that the camera sees, whose faces have other places: it does not shadow itself.
  const float radius = max(0.93 * rod.radius, 0.5 * frame.sun_direction.w);
  const TubePoint point = tube_point(rod, gl_VertexIndex, -forward, radius);
  // Of hair that is thinner than a texel, so many strands are left out that the shadow is right on average.
  const bool out_of_map = rod.chance * frame.sun_direction.w > 2 * rod.radius;
  gl_Position = out_of_map ? vec4(2, 2, 2, 1) : light.matrix * vec4(point.position, 1);
}

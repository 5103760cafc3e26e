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
  gl_Position = light.matrix * vec4(point.position, 1);
}

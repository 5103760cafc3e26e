#version 460
#extension GL_GOOGLE_include_directive : require
// A rectangle: the ground around the camera, or the visible piece of a tilted half-space.
#include "frame.glsl"

layout(push_constant) uniform Push { PlanePush plane; };
layout(location = 0) out vec3 position;
layout(location = 1) out vec2 across;  // [m] from the grid's origin
layout(location = 2) out vec2 corner;  // in [-1, 1]
layout(location = 3) flat out vec3 normal;  // towards the eye
layout(location = 4) out vec3 in_sun;
layout(location = 5) out float height;

void main() {
  corner = vec2((gl_VertexIndex & 1) * 2 - 1, (gl_VertexIndex >> 1) * 2 - 1);
  position = plane.center.xyz + corner.x * plane.u.xyz + corner.y * plane.v.xyz;
  across = vec2(plane.center.w, plane.u.w) + corner * vec2(length(plane.u.xyz), length(plane.v.xyz));
  normal = normalize(cross(plane.v.xyz, plane.u.xyz));
  if (dot(normal, frame.eye.xyz - plane.center.xyz) < 0) normal = -normal;
  in_sun = in_sun_map(position) + sun_map_offset(normal);
  height = height_above_floor(position);
  gl_Position = frame.view_projection * vec4(position, 1);
}

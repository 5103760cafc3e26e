#version 460
#extension GL_GOOGLE_include_directive : require
// The flat ends of rods: each instance is a segment whose node a is an end of its rod, drawn as a disc.
#include "frame.glsl"
#include "tube.glsl"

layout(set = 0, binding = kObjectBinding, std430) readonly buffer Objects { ObjectLook objects[]; };
layout(set = 0, binding = kHeatBinding, std430) readonly buffer Heat { float heat[]; };

layout(location = 0) out vec3 position;
layout(location = 1) out vec3 normal;
layout(location = 2) flat out vec4 look;
layout(location = 3) out float share;
layout(location = 4) out vec4 place;
layout(location = 5) flat out vec2 pattern;
layout(location = 6) out vec3 in_sun;
layout(location = 7) out vec3 off_surface;
layout(location = 8) out float height;

void main() {
  const RodPiece rod = rods[gl_InstanceIndex];
  const vec3 node = node_position(rod.a);
  const vec3 axis = normalize(node - node_position(rod.b));
  // Seen from behind, an end is inside of its tube.
  const vec3 u = normalize(cross(axis, abs(axis.y) < 0.9 ? vec3(0, 1, 0) : vec3(1, 0, 0)));
  const vec3 v = cross(axis, u);
  // A strip to and fro across the disc: angles 0, 1, -1, 2, -2, ...
  const int k = (gl_VertexIndex + 1) / 2;
  const float angle = 2 * 3.14159265 / kTubeCapVertices * float((gl_VertexIndex & 1) == 1 ? k : -k);
  normal = axis;
  position = node + rod.radius * (cos(angle) * u + sin(angle) * v);
  look = objects[rod.object].color;
  share = frame.sky_layout.y > 0 ? heat[rod.a] : -1;
  place = vec4(0);
  pattern = vec2(0);
  in_sun = in_sun_map(position);
  off_surface = sun_map_offset(normal);
  height = height_above_floor(position);
  gl_Position = frame.view_projection * vec4(position, 1);
}

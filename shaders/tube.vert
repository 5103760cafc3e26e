#version 460
#extension GL_GOOGLE_include_directive : require
// Rods, at least a pixel wide.
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
  const vec3 node = node_position((gl_VertexIndex & 1) == 1 ? rod.b : rod.a);
  const float depth = max(dot(node - frame.eye.xyz, frame.forward.xyz), 1e-6);
  const float radius = max(rod.radius, 0.6 * frame.eye.w * depth);
  const TubePoint point = tube_point(rod, gl_VertexIndex, frame.eye.xyz - node, radius);
  position = point.position;
  normal = point.normal;
  look = objects[rod.object].color;
  const bool tip = (gl_VertexIndex & 1) == 1;
  share = -1;
  if (frame.sky_layout.y > 0) {
    // A held node has no value: its segment has that of the other end, instead of colours between both.
    const float own = heat[tip ? rod.b : rod.a];
    share = own < 0 ? heat[tip ? rod.a : rod.b] : own;
  }
  place = vec4(tip ? rod.along_b : rod.along_a, 0, around_frame(rod, tip, normal));
  pattern = frame.sky_layout.w * objects[rod.object].pattern.xy;
  in_sun = in_sun_map(position);
  off_surface = sun_map_offset(normal);
  height = height_above_floor(position);
  gl_Position = frame.view_projection * vec4(position, 1);
}

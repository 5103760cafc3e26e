#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(set = 0, binding = kVertexBinding, std430) readonly buffer Vertices { MeshVertex vertices[]; };
layout(set = 0, binding = kNormalBinding, std430) readonly buffer Normals { float normals[]; };
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
  const uint i = gl_VertexIndex;
  position = node_position(vertices[i].node);
  normal = vec3(normals[3 * i], normals[3 * i + 1], normals[3 * i + 2]);
  look = objects[vertices[i].look].color;
  place = vec4(vertices[i].place_x, vertices[i].place_y, vertices[i].place_z, 0);
  pattern = frame.sky_layout.w * objects[vertices[i].look].pattern.xy;
  share = frame.sky_layout.y > 0 ? heat[vertices[i].node] : -1;
  in_sun = in_sun_map(position);
  off_surface = sun_map_offset(normal);
  height = height_above_floor(position);
  gl_Position = frame.view_projection * vec4(position, 1);
}

#version 460
#extension GL_GOOGLE_include_directive : require
// Vertex normals: the sum over the vertex's fan of triangle normals weighted by area.
#include "frame.glsl"

layout(local_size_x = 64) in;
layout(set = 0, binding = kVertexBinding, std430) readonly buffer Vertices { MeshVertex vertices[]; };
layout(set = 0, binding = kFanBinding, std430) readonly buffer Fans { uint fans[]; };
layout(set = 0, binding = kTriangleBinding, std430) readonly buffer Triangles { uint triangles[]; };
layout(set = 0, binding = kNormalBinding, std430) writeonly buffer Normals { float normals[]; };

layout(push_constant) uniform Push { uint vertex_count; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= vertex_count) return;
  vec3 normal = vec3(0);
  for (uint f = vertices[i].fan_begin; f < vertices[i].fan_end; ++f) {
    const uint t = 3 * fans[f];
    const vec3 a = node_position(triangles[t]);
    const vec3 b = node_position(triangles[t + 1]);
    const vec3 c = node_position(triangles[t + 2]);
    normal += cross(b - a, c - a);
  }
  const float length2 = dot(normal, normal);
  normal = length2 > 0 ? normal * inversesqrt(length2) : vec3(0, 1, 0);
  normals[3 * i] = normal.x;
  normals[3 * i + 1] = normal.y;
  normals[3 * i + 2] = normal.z;
}

// Data of the frame and buffers of the scene, for every shader.
#include "shared/frame_data.h"

layout(set = 0, binding = kFrameBinding, std140) uniform Frame { FrameData frame; };
layout(set = 0, binding = kPositionBinding, std430) readonly buffer Positions { float positions[]; };

/// Whether the clipping plane takes this place of a body away.
bool is_clipped(vec3 place) { return dot(frame.clip.xyz, place) > frame.clip.w; }

// Of a vertex, for light.glsl. Both are linear in p, so what is between the vertices is exact.

/// Where p is in the sun's map, and how its depth compares.
vec3 in_sun_map(vec3 p) { return (frame.sun_matrix * vec4(p, 1)).xyz; }

/// So far the map is read above a surface with normal n, against shadows of itself.
vec3 sun_map_offset(vec3 n) { return 1.5 * frame.sun_direction.w * (mat3(frame.sun_matrix) * n); }

/// Above the floor, in radii of the scene; 1 without a floor.
float height_above_floor(vec3 p) { return frame.grid.w > 0 ? (p.y - frame.grid.z) / frame.scene.w : 1; }

vec3 node_position(uint node) {
  return vec3(positions[3 * node], positions[3 * node + 1], positions[3 * node + 2]);
}

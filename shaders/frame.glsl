// Data of the frame and buffers of the scene, for every shader.
#include "shared/frame_data.h"

layout(set = 0, binding = kFrameBinding, std140) uniform Frame { FrameData frame; };
layout(set = 0, binding = kPositionBinding, std430) readonly buffer Positions { float positions[]; };

/// Whether the clipping plane takes this place of a body away.
bool is_clipped(vec3 place) { return dot(frame.clip.xyz, place) > frame.clip.w; }

vec3 node_position(uint node) {
  return vec3(positions[3 * node], positions[3 * node + 1], positions[3 * node + 2]);
}

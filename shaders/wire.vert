#version 460
#extension GL_GOOGLE_include_directive : require
// Surface edges, drawn slightly towards the eye. Indices are nodes.
#include "frame.glsl"

void main() {
  const vec3 p = node_position(gl_VertexIndex);
  gl_Position = frame.view_projection * vec4(mix(p, frame.eye.xyz, 0.0015), 1);
}

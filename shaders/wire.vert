#version 460
#extension GL_GOOGLE_include_directive : require
// Surface edges, drawn slightly towards the eye. Indices are nodes.
#include "frame.glsl"

layout(location = 0) out vec3 position;

void main() {
  const vec3 p = node_position(gl_VertexIndex);
  position = p;
  gl_Position = frame.view_projection * vec4(mix(p, frame.eye.xyz, 0.0015), 1);
}

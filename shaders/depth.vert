#version 460
#extension GL_GOOGLE_include_directive : require
// The surface seen from a light. Indices are nodes.
#include "frame.glsl"

layout(push_constant) uniform Push { DepthPush light; };

void main() { gl_Position = light.matrix * vec4(node_position(gl_VertexIndex), 1); }

#version 460
// One triangle over the whole picture, at infinity.
layout(location = 0) out vec2 screen;

void main() {
  screen = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2.0 - 1.0;
  gl_Position = vec4(screen, 0, 1);
}

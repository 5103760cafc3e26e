#version 460
layout(location = 0) out vec4 color;

void main() { color = vec4(0.03, 0.05, 0.09, 0.42); }

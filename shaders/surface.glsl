// What is left out of surfaces and rods, and the colours of scales.

// Nothing is left out, and no surface has the colours of a scale: see Pipelines::whole_bodies.
layout(constant_id = 3) const bool kWhole = false;

/// Linear colour of a place on the scale.
vec3 scale_color(float at) {
#define COLOR(r, g, b) vec3(r, g, b),
  const vec3 stops[kScaleColors + 1] = vec3[](STICKSLIP_SCALE_COLORS(COLOR) vec3(1));
  const float place = clamp(at, 0.0, 1.0) * (kScaleColors - 1);
  const int below = min(int(place), kScaleColors - 2);
  return pow(mix(stops[below], stops[below + 1], place - below), vec3(2.2));
}

/// Whether x-ray leaves this pixel to what is behind: an ordered dither by a Bayer matrix.
bool is_x_rayed(vec2 pixel) {
  const float order[16] = float[](0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5);
  const ivec2 at = ivec2(pixel) & 3;
  return order[4 * at.y + at.x] + 0.5 > 16 * frame.x_ray.x;
}

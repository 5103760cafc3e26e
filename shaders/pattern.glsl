// Patterns of thin objects and of solids, so that their motion shows: factors of a colour around 1, as means over a pixel.
// `place` moves with the material. Where cells are smaller than a pixel, their mean remains.

const float kBandEvery = 8;  // threads of cloth, or cells of a rod

/// Share of [x - h/2, x + h/2] in bands of width 1 at the multiples of kBandEvery.
float band_share(float x, float h) {
  const vec2 ends = (x + vec2(-0.5, 0.5) * h) / kBandEvery;
  const vec2 sum = floor(ends) + min(fract(ends) * kBandEvery, 1.0);
  return (sum.y - sum.x) / h;
}

/// Mean over [x - h/2, x + h/2] of a wave that is 1 and -1 in turn over lengths 1.
float square_wave(float x, float h) {
  const vec2 sum = 1 - abs(mod(x + vec2(-0.5, 0.5) * h, 2.0) - 1);
  return (sum.y - sum.x) / h;
}

/// Plain weave with bands of darker threads. `threads`: along the warp and along the weft.
float weave(vec2 threads) {
  const vec2 pixel = clamp(fwidth(threads), vec2(1e-3), vec2(1e3));
  const vec2 at = fract(threads) - 0.5;
  const bool warp_on_top = mod(floor(threads.x) + floor(threads.y), 2.0) < 1;
  const float across = warp_on_top ? at.y : at.x, along = warp_on_top ? at.x : at.y;
  // A thread is round, and goes under at the ends of its cell; means over the cell: 1/12.
  const float thread =
      (warp_on_top ? 0.05 : -0.05) - 0.9 * (across * across - 1 / 12.0) - 0.5 * (along * along - 1 / 12.0);
  const float seen = 1 - smoothstep(0.3, 0.7, max(pixel.x, pixel.y));
  const float bands = band_share(threads.x, pixel.x) + band_share(threads.y, pixel.y);
  return 1 + seen * thread + 0.22 * (2 / kBandEvery - bands);
}

/// A chess board on the tube, two cells around, and rings that remain where the tube is too thin for it. `along`: in cells; `around`: cosine and sine of the angle in
/// the material frame, of any length.
float cells(float along, vec2 around) {
  const float pixel = clamp(fwidth(along), 1e-3, 1e3);
  const float side = around.x * inversesqrt(max(dot(around, around), 1e-12));
  const float edge = max(fwidth(side), 1e-4);
  const float sides = clamp(side / edge, -1.0, 1.0) * (1 - smoothstep(0.8, 1.6, edge));
  return 1 + 0.36 * square_wave(along, pixel) * sides + 0.32 * (1 / kBandEvery - band_share(along, pixel));
}

/// Dark and light in turn over the eight octants of a body's frame.
float octants(vec3 place) {
  const vec3 side = clamp(place / max(fwidth(place), vec3(1e-9)), -1.0, 1.0);
  return 1 + 0.3 * side.x * side.y * side.z;
}

/// Blocks that are dark and light in turn, where they are larger than some pixels: small ones are a grain that says nothing.
/// `place`: in cells. Seen a bit below the surface, so that a border that lies in a face does not flicker there.
float blocks(vec3 place) {
  const vec3 inwards = (gl_FrontFacing ? 1 : -1) * cross(dFdx(place), dFdy(place));
  const vec3 pixel = clamp(fwidth(place), vec3(1e-3), vec3(1e3));
  const vec3 at = place + 0.02 * inwards * inversesqrt(max(dot(inwards, inwards), 1e-30));
  const float seen = 1 - smoothstep(0.1, 0.25, max(pixel.x, max(pixel.y, pixel.z)));
  return 1 + 0.13 * seen * square_wave(at.x, pixel.x) * square_wave(at.y, pixel.y) * square_wave(at.z, pixel.z);
}

/// `pattern`: see ObjectLook.
float pattern_tone(vec4 place, vec2 pattern) {
  const float whole = octants(place.xyz), checked = blocks(place.xyz);
  const float woven = weave(pattern.x * place.xy), striped = cells(pattern.x * place.x, place.zw);
  if (pattern.x <= 0) return 1;
  return pattern.y == kPatternOfSolids ? checked : pattern.y == kPatternOfRoundBodies ? whole : pattern.y == kPatternOfCloth ? woven : striped;
}

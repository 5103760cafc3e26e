// Studio lighting: a soft sun, a sky dome, a bright floor, and the conversion to the screen. Colours are
// linear until `display`.

layout(constant_id = 0) const int kSunTaps = 4;
layout(constant_id = 1) const bool kSoftSun = false;
layout(constant_id = 2) const int kSkyViews = 0;

layout(set = 0, binding = kSunMapBinding) uniform sampler2DShadow sun_map;
layout(set = 0, binding = kSunDepthBinding) uniform sampler2D sun_depth;
layout(set = 0, binding = kSkyMapBinding) uniform sampler2DShadow sky_map;

const vec3 kSunLight = vec3(1.66, 1.52, 1.33);
const vec3 kSkyLight = vec3(0.42, 0.49, 0.59);
const vec3 kFloorLight = vec3(0.30, 0.28, 0.26);
const float kSunWidth = 0.11;  // tangent of the sun's angular size
#ifdef ON_A_PLANE
const float kWidestPixel = 0.06;  // of the map, beyond which shadows of a far scene may be ragged
const vec2 kSpread = vec2(0.5, 1.2);
#else
// Points so far apart would be beside a body, or behind its next fold.
const float kWidestPixel = 0;
const vec2 kSpread = vec2(0.2, 1.0);
#endif
const int kBlockerTaps = 8;
const float kGolden = 2.39996323;

/// The backdrop in a direction.
vec3 sky(vec3 direction) {
  const float height = max(direction.y, 0.0);
  const vec3 horizon = vec3(0.74, 0.78, 0.82);
  const vec3 zenith = vec3(0.30, 0.42, 0.58);
  return mix(horizon, zenith, 1 - exp(-1.6 * height));
}

/// Of the view, from its upper left corner.
vec2 pixel() { return gl_FragCoord.xy - frame.corner.xy; }

float pixel_noise() {
  return fract(52.9829189 * fract(dot(pixel(), vec2(0.06711056, 0.00583715))));
}

// The four fragments of a quad (2 x 2 pixels of one primitive) test different points of the sun and of the
// sky, and share the results. So each has four times as many, without noise, and none of another surface.

ivec2 place_in_quad() { return ivec2(gl_FragCoord.xy) & 1; }

/// A multiple of a quarter turn, another for each fragment of the quad: the mean of a turned point is 0.
mat2 quad_turn() {
  const vec2 sides = 1 - 2 * vec2(place_in_quad());
  const vec2 column = sides.x == sides.y ? vec2(sides.x, 0) : vec2(0, sides.x);
  return mat2(column, vec2(-column.y, column.x));
}

/// A derivative: all fragments of the quad must come here.
vec3 quad_mean(vec3 x) {
  const vec2 to_center = 0.5 - vec2(place_in_quad());
  const vec3 row = x + to_center.x * dFdxFine(x);
  return row + to_center.y * dFdyFine(row);
}
vec2 quad_mean(vec2 x) { return quad_mean(vec3(x, 0)).xy; }
float quad_mean(float x) { return quad_mean(vec3(x, 0, 0)).x; }

/// The i-th of n points that, with their quarter turns, fill the unit disc evenly.
vec2 disc_point(int i, int n) {
  const float angle = 0.25 * kGolden * float(i);
  return sqrt((float(i) + 0.5) / float(n)) * vec2(cos(angle), sin(angle));
}

/// The i-th of n points on the sun, whose light falls as 1 - r^2 towards its rim: all have the same share of it.
vec2 sun_point(int i, int n) {
  const float within = (float(i) + 0.5) / float(n);
  return sqrt((1 - sqrt(1 - within)) / within) * disc_point(i, n);
}

/// Visible share of the sun from a place in its map. The map's depth and its u, v have the same unit, its width.
float sun_visibility(vec3 at, vec3 n, float n_dot_l) {
  const float texel = 1 / float(textureSize(sun_map, 0).x);
  const bool outside = any(lessThan(at.xy, vec2(0))) || any(greaterThan(at.xy, vec2(1)));
  if (kSunTaps == 1) {
    const float seen = textureLod(sun_map, vec3(at.xy, min(at.z - 0.5 * texel, 0.9999)), 0);
    return outside ? 1.0 : seen;
  }

  const float slope = min(sqrt(max(1 - n_dot_l * n_dot_l, 0.0)) / max(n_dot_l, 0.05), 4.0);
  // Of the depth of the surface, by the texture coordinates.
  const vec3 facing = mat3(frame.sun_matrix) * n;
  const vec2 tilt = slope * facing.xy / max(length(facing.xy), 1e-9);
  float radius = 1.8 * texel;
  const mat2 turn = quad_turn();
  if (kSoftSun) {
    const float reach = 0.06;
    float blockers = 0, gap = 0;
    for (int i = 0; i < kBlockerTaps; ++i) {
      const vec2 offset = reach * (turn * disc_point(i, kBlockerTaps));
      const float away = at.z + dot(tilt, offset) - textureLod(sun_depth, at.xy + offset, 0).r;
      if (away > 0.25 * slope * length(offset) + texel) {
        blockers += 1;
        gap += away;
      }
    }
    const vec2 found = quad_mean(vec2(blockers, gap));
    // Without a blocker the small radius stays: an occluder that is very near escapes the coarse search.
    if (found.x > 0.1) radius = clamp(0.6 * kSunWidth * found.y / found.x, 1.8 * texel, reach);
  }
  // At least as wide as some pixels, so that edges are not ragged where texels are smaller: an ellipse with these half axes.
  const vec2 by_x = dFdxFine(at.xy), by_y = dFdyFine(at.xy), longer = dot(by_x, by_x) > dot(by_y, by_y) ? by_x : by_y;
  const float long_side = max(length(longer), 1e-9), area = abs(by_x.x * by_y.y - by_x.y * by_y.x);
  const vec2 first = longer / long_side, second = vec2(-first.y, first.x);
  const vec2 extents = clamp(1.8 * vec2(long_side, area / long_side), radius, max(radius, kWidestPixel));
  const mat2 ellipse = mat2(extents.x * first, extents.y * second);
  const float reference = at.z - 0.25 * slope * max(extents.x, extents.y) - 0.5 * texel;
  float lit = 0;
  vec2 rise = vec2(0);
  for (int i = 0; i < kSunTaps; ++i) {
    const vec2 tap = sun_point(i, kSunTaps), offset = ellipse * (turn * tap);
    const float seen = texture(sun_map, vec3(at.xy + offset, min(reference + dot(tilt, offset), 0.9999)));
    lit += seen;
    rise += seen * tap;
  }
  lit /= float(kSunTaps);
  rise *= 4.8 / float(kSunTaps);
  // `rise`, the slope of `lit` in units of the half axes, is that of the line through all points of the quad by least
  // squares (the mean of r^2 is 1/3), times 0.8 for that of a sharp edge through the middle.
  // The mean belongs to the quad's centre; the slope leads from there to this fragment. Where the quad is
  // larger than the penumbra, the fragment's own points are dense enough.
  const vec2 away = at.xy - quad_mean(at.xy), own = vec2(dot(first, away), dot(second, away)) / extents;
  const float led = quad_mean(lit) + dot(quad_mean(turn * rise), own);
  const float here = clamp(mix(led, lit, smoothstep(kSpread.x, kSpread.y, length(own))), 0.0, 1.0);
  return outside ? 1.0 : here;
}

/// Interpolation between four texels in the order of textureGather; x, y: its slope per texel, z: its value.
vec3 interpolated(vec4 texels, vec2 between) {
  const vec2 low = texels.wz, high = texels.xy;
  return vec3(mix(low.y - low.x, high.y - high.x, between.y), mix(high.x - low.x, high.y - low.y, between.x),
              mix(mix(low.x, low.y, between.x), mix(high.x, high.y, between.x), between.y));
}

/// Share of the sky's light that reaches p on a surface with normal n: from directions over the dome, each
/// with a depth map.
float sky_visibility(vec3 p, vec3 n) {
  if (kSkyViews == 0) return 1;
  const float away = distance(p, frame.scene.xyz) / frame.scene.w;
  const float tiles = frame.sky_layout.x, texels = float(textureSize(sky_map, 0).x) / tiles;
  const vec3 from = p + n * (1.2 * frame.sky_layout.z);
  // A square that is turned until its projections on both axes are evenly spaced.
  const ivec2 place = place_in_quad();
  const vec2 shift = 1.25 / texels * vec2(2 * place.x + place.y - 1.5, 2 * place.y - place.x - 0.5);
  float seen = 1e-4, all = 1e-4;
  vec3 rise = vec3(0);  // of `seen` [1/m]
  for (int k = 0; k < kSkyViews; ++k) {
    const float weight = dot(n, frame.sky_direction[k].xyz);
    if (weight <= 0) continue;
    all += weight;
    const mat4 view = frame.sky_matrix[k];
    const vec3 at = (view * vec4(from, 1)).xyz;
    const vec2 uv = at.xy + shift;
    if (any(lessThan(uv, vec2(0))) || any(greaterThan(uv, vec2(1)))) {
      seen += weight;
      continue;
    }
    const vec2 tile = vec2(mod(float(k), tiles), floor(float(k) / tiles));
    const vec4 open = textureGather(sky_map, (tile + uv) / tiles, min(at.z - frame.sky_direction[k].w, 0.9999));
    const vec3 share = weight * interpolated(open, fract(uv * texels - 0.5));
    seen += share.z;
    rise += texels * (share.xy * mat3x2(view));
  }
  // From the quad's centre to this fragment as in sun_visibility, by half a texel at most.
  const vec3 own = p - quad_mean(p);
  const float led = dot(quad_mean(rise), own) * min(1, 0.5 * frame.sky_layout.z / length(own));
  const vec2 sums = quad_mean(vec2(seen, all));
  const float here = clamp((sums.x + led) / sums.y, 0.0, 1.0);
  return away > 5 ? 1.0 : mix(here, 1.0, smoothstep(3.0, 5.0, away));
}

struct Light {
  float sun;   // visible share of the sun, times the cosine
  float open;  // visible share of the sky
};

/// `in_sun_map`: of p with its offset, see frame.glsl.
Light light_at(vec3 p, vec3 n, vec3 in_sun_map) {
  const float n_dot_l = dot(n, frame.sun_direction.xyz);
  return Light(max(n_dot_l, 0.0) * sun_visibility(in_sun_map, n, n_dot_l), sky_visibility(p, n));
}

/// `height`: see height_above_floor.
vec3 matte(vec3 albedo, Light light, float height, vec3 n) {
  const float upward = 0.5 + 0.5 * n.y;
  // Where the sky is occluded, the floor's light is too: both fade towards a contact.
  const float floor_open = mix(0.35, 1.0, smoothstep(0.0, 0.5, height)) * mix(0.5, 1.0, light.open);
  const vec3 around = kSkyLight * upward * light.open + kFloorLight * (1 - upward) * floor_open;
  return albedo * (kSunLight * light.sun + around);
}

float power5(float x) { return x * x * x * x * x; }

/// Reflection of a thin, slightly rough clear coat.
vec3 gloss(Light light, vec3 n, vec3 to_eye) {
  const float toward_half = max(dot(n, normalize(frame.sun_direction.xyz + to_eye)), 0.0);
  const float highlight = pow(toward_half, 48.0) * light.sun;
  const float fresnel = 0.04 + 0.36 * power5(1 - max(dot(n, to_eye), 0.0));
  return 0.35 * highlight * kSunLight + fresnel * 0.5 * light.open * sky(reflect(-to_eye, n));
}

/// Linear up to 0.8, then compressed so that bright colours keep their hue and never clip.
vec3 tone_map(vec3 color) {
  const float start = 0.76, room = 1 - start;
  const float peak = max(color.r, max(color.g, color.b));
  const float bent = min(peak, 1 - room * room / (max(peak - start, 0.0) + room));
  const float white = 0.2 * (peak - bent);
  return (color * (bent / max(peak, 1e-6)) + white * bent) / (1 + white);
}

/// sRGB of linear values up to 1, within a tenth of a step of 1/255: a power costs software renderers much.
vec3 encoded(vec3 c) {
  const vec3 root = sqrt(c);
  return max(0.8339679 * root + 0.2979264 * sqrt(root) - 0.0553907 * c - 0.0768640, 0.0);
}

/// Linear light to screen values: darker towards the corners, with noise of half a step against banding.
vec4 display(vec3 color) {
  const vec2 off_center = pixel() * frame.corner.zw - 0.5;
  const vec3 c = tone_map(color * (1 - 0.22 * dot(off_center, off_center)));
  return vec4(encoded(c) + (pixel_noise() - 0.5) / 255, 1);
}

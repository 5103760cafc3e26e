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
const int kBlockerTaps = 16;
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

/// A rotation that varies between pixels: it turns the banding of few samples into fine noise.
mat2 pixel_turn() {
  const float angle = 6.2831853 * pixel_noise();
  return mat2(cos(angle), sin(angle), -sin(angle), cos(angle));
}

/// The i-th of n points that fill the unit disc evenly.
vec2 disc_point(int i, int n) {
  const float angle = kGolden * float(i);
  return sqrt((float(i) + 0.5) / float(n)) * vec2(cos(angle), sin(angle));
}

/// Visible share of the sun from p. The map's depth and its u, v have the same unit, its width.
float sun_visibility(vec3 p, vec3 n, float n_dot_l) {
  const float texel = 1 / float(textureSize(sun_map, 0).x);
  const vec3 at = (frame.sun_matrix * vec4(p + n * (1.5 * frame.sun_direction.w), 1)).xyz;
  if (any(lessThan(at.xy, vec2(0))) || any(greaterThan(at.xy, vec2(1)))) return 1;
  if (kSunTaps == 1) return texture(sun_map, vec3(at.xy, min(at.z - 0.5 * texel, 0.9999)));

  const float slope = min(sqrt(1 - n_dot_l * n_dot_l) / max(n_dot_l, 0.05), 4.0);
  float radius = 1.5 * texel;
  mat2 turn = mat2(1);
  if (kSoftSun) {
    turn = pixel_turn();
    const float reach = 0.06;
    float blockers = 0, depth = 0;
    for (int i = 0; i < kBlockerTaps; ++i) {
      const vec2 offset = reach * (turn * disc_point(i, kBlockerTaps));
      const float seen = textureLod(sun_depth, at.xy + offset, 0).r;
      if (seen < at.z - 0.5 * slope * length(offset) - texel) {
        blockers += 1;
        depth += seen;
      }
    }
    // Without a blocker the small radius stays: an occluder that is very near escapes the coarse search.
    if (blockers > 0) radius = clamp((at.z - depth / blockers) * 0.5 * kSunWidth, 1.5 * texel, reach);
  }
  const float reference = min(at.z - 0.6 * slope * radius - 0.5 * texel, 0.9999);
  float lit = 0;
  for (int i = 0; i < kSunTaps; ++i)
    lit += texture(sun_map, vec3(at.xy + radius * (turn * disc_point(i, kSunTaps)), reference));
  return lit / float(kSunTaps);
}

/// Share of the sky's light that reaches p on a surface with normal n: from directions over the dome, each
/// with a depth map.
float sky_visibility(vec3 p, vec3 n) {
  if (kSkyViews == 0) return 1;
  const float away = distance(p, frame.scene.xyz) / frame.scene.w;
  if (away > 5) return 1;
  const float tiles = frame.sky_layout.x;
  const vec3 from = p + n * (1.2 * frame.sky_layout.z);
  const mat2 turn = pixel_turn();
  const float spread = 2.5 / float(textureSize(sky_map, 0).x) * tiles;
  float seen = 0, all = 1e-4;
  for (int k = 0; k < kSkyViews; ++k) {
    const float weight = dot(n, frame.sky_direction[k].xyz);
    if (weight <= 0) continue;
    all += weight;
    const vec3 at = (frame.sky_matrix[k] * vec4(from, 1)).xyz;
    const vec2 uv = at.xy + spread * (turn * disc_point(k, kSkyViews));
    if (any(lessThan(uv, vec2(0))) || any(greaterThan(uv, vec2(1)))) {
      seen += weight;
      continue;
    }
    const vec2 tile = vec2(mod(float(k), tiles), floor(float(k) / tiles));
    seen += weight * texture(sky_map, vec3((tile + uv) / tiles, min(at.z - frame.sky_direction[k].w, 0.9999)));
  }
  return mix((seen + 1e-4) / all, 1.0, smoothstep(3.0, 5.0, away));
}

struct Light {
  float sun;   // visible share of the sun, times the cosine
  float open;  // visible share of the sky
};

Light light_at(vec3 p, vec3 n) {
  const float n_dot_l = dot(n, frame.sun_direction.xyz);
  return Light(n_dot_l > 0 ? n_dot_l * sun_visibility(p, n, n_dot_l) : 0, sky_visibility(p, n));
}

vec3 matte(vec3 albedo, Light light, vec3 p, vec3 n) {
  const float upward = 0.5 + 0.5 * n.y;
  // Where the sky is occluded, the floor's light is too: both fade towards a contact.
  const float height = frame.grid.w > 0 ? (p.y - frame.grid.z) / frame.scene.w : 1;
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
  const float start = 0.76;
  const float peak = max(color.r, max(color.g, color.b));
  if (peak <= start) return color;
  const float room = 1 - start;
  const float bent = 1 - room * room / (peak - start + room);
  return mix(color * (bent / peak), vec3(bent), 1 - 1 / (0.2 * (peak - bent) + 1));
}

/// Linear light to screen values: darker towards the corners, with noise of half a step against banding.
vec4 display(vec3 color) {
  const vec2 off_center = pixel() / frame.viewport.xy - 0.5;
  const vec3 c = tone_map(color * (1 - 0.22 * dot(off_center, off_center)));
  const vec3 srgb = max(1.055 * pow(c, vec3(1 / 2.4)) - 0.055, 0.0);
  return vec4(srgb + (pixel_noise() - 0.5) / 255, 1);
}

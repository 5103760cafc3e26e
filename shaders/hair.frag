#version 460
#extension GL_GOOGLE_include_directive : require
// Hair: fibres with two highlights, after Marschner et al. 2003 ("Light Scattering from Human Hair Fibers").
#include "frame.glsl"
#include "light.glsl"
#include "surface.glsl"

layout(constant_id = 5) const int kSamples = 1;  // of a pixel

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 in_sun;
layout(location = 2) in vec4 around;  // see hair.vert
layout(location = 3) in vec4 fibre;
layout(location = 4) in vec4 seen;
layout(location = 5) flat in vec4 look;
layout(location = 6) flat in float chance;
layout(location = 7) in vec2 share;
layout(location = 0) out vec4 color;

/// The samples of this pixel that the fibre covers: so many that the mean over pixels is right, others for each
/// strand, so that strands behind each other hide together what is behind all of them.
int covered_samples(float coverage) {
  const float noise = fract(pixel_noise() + 7 * chance), turn = fract(31 * noise);
  const int count = int(float(kSamples) * coverage + noise), first = int(float(kSamples) * turn);
  const int bits = ((1 << count) - 1) << first;
  return bits | (bits >> kSamples);
}

const vec3 kSheen = vec3(0.60, 0.68, 0.75);  // the sky, as a rough surface reflects it

/// A normal distribution.
float lobe(float x, float width) { return exp(-0.5 * x * x / (width * width)) / (2.5066 * width); }

void main() {
  const float from_sun = fibre.x, to_viewer = fibre.y;  // sines of inclinations
  const float facing = sqrt(max(1 - from_sun * from_sun, 1e-4));
  const float across = clamp(fibre.w, -1.0, 1.0), front = sqrt(1 - across * across);
  const float round_here = seen.y;

  // A matte cylinder: where it is wide, each place of it, otherwise its mean
  //   sin(theta) ((pi - phi) cos(phi) + sin(phi)) / 4, here as a polynomial in cos(phi).
  const float mean = 0.25 * facing + 0.39 * around.x + 0.14 * around.x * around.x / facing;
  const float matte = mix(mean, max(front * around.x + across * around.y, 0.0), round_here);
  // Light goes through fibres: a part of it comes out at any side.
  const float spread = 0.7 * max(matte, 0.0) + 0.15 * facing;
  const float sun = sun_visibility(in_sun, frame.sun_direction.xyz, 1);

  // R: reflected at the scales of the surface, which tilt it towards the root. TRT: reflected at the far side,
  // through the coloured inside, tilted towards the tip, wider.
  const float tilt = from_sun + to_viewer + 0.12 * (fract(5 * chance) - 0.5);
  const float azimuth = 0.5 + 0.5 * fibre.z;
  const float r = 0.05 * sqrt(azimuth) * lobe(tilt - 0.10, 0.12);
  const float trt = 0.45 * azimuth * azimuth * lobe(tilt + 0.18, 0.20);

  const float upward = 0.5 + 0.5 * (around.z * mix(1.0, front, round_here) + across * round_here * around.w);
  const float open = seen.z;
  const float floor_open = mix(0.35, 1.0, smoothstep(0.0, 0.5, seen.w)) * mix(0.5, 1.0, open);
  const vec3 sky_light = kSkyLight * upward * open + kFloorLight * (1 - upward) * floor_open;

  if (!kWhole && (is_clipped(position) || is_x_rayed(gl_FragCoord.xy))) discard;
  // Strands are told apart by their tones and darker edges; roots are darker than tips.
  const float tone = mix(0.75, 1.05, smoothstep(0.0, 0.5, share.y)) * (0.55 + 0.8 * chance) * (1.1 - 0.4 * across * across);
  const vec3 own = kWhole || share.x < -0.5 ? tone * look.rgb : scale_color(share.x);
  vec3 light = own * (spread * sun * kSunLight + sky_light);
  light += sun * facing * kSunLight * (r + trt * own) + 0.03 * tone * open * kSheen;
  light += look.w * 0.25 * vec3(1.0, 0.80, 0.40);
  color = display(light);
  gl_SampleMask[0] = covered_samples(seen.x);
}

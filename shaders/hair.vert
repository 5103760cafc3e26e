#version 460
#extension GL_GOOGLE_include_directive : require
// Hair: a segment is a ribbon that faces the viewer, round by its shading. What a fibre needs of directions are
// a few scalars, which change slowly along it: see hair.frag.
#include "frame.glsl"
#include "tube.glsl"

layout(constant_id = 2) const int kSkyViews = 0;

layout(set = 0, binding = kObjectBinding, std430) readonly buffer Objects { ObjectLook objects[]; };
layout(set = 0, binding = kHeatBinding, std430) readonly buffer Heat { float heat[]; };
layout(set = 0, binding = kSkyMapBinding) uniform sampler2DShadow sky_map;

layout(location = 0) out vec3 position;
layout(location = 1) out vec3 in_sun;
layout(location = 2) out vec4 around;  // of the sun: along the front and the side; y: of the front and the side
layout(location = 3) out vec4 fibre;   // sines of the angles of sun and viewer; cosine of the angle between both around
                                       // the fibre; place across in [-1, 1]
layout(location = 4) out vec4 seen;    // coverage; how round; visible share of the sky; height, see height_above_floor
layout(location = 5) flat out vec4 look;
layout(location = 6) flat out float chance;
layout(location = 7) out vec2 share;  // on the scale; along the strand

/// Share of the sky's light that reaches a fibre along t. It changes slowly: vertices are dense enough.
float sky_visibility(vec3 p, vec3 t) {
  if (kSkyViews == 0) return 1;
  const float tiles = frame.sky_layout.x;
  float seen = 1e-4, all = 1e-4;
  for (int k = 0; k < kSkyViews; ++k) {
    const vec3 direction = frame.sky_direction[k].xyz;
    const float along = dot(t, direction), weight = sqrt(max(1 - along * along, 0.0));
    all += weight;
    const vec3 at = (frame.sky_matrix[k] * vec4(p + 1.2 * frame.sky_layout.z * direction, 1)).xyz;
    const vec2 tile = vec2(mod(float(k), tiles), floor(float(k) / tiles));
    const bool outside = any(lessThan(at.xy, vec2(0))) || any(greaterThan(at.xy, vec2(1)));
    const float depth = min(at.z - frame.sky_direction[k].w, 0.9999);
    seen += weight * (outside ? 1.0 : textureLod(sky_map, vec3((tile + at.xy) / tiles, depth), 0));
  }
  return mix(0.3, 1.0, seen / all);  // through other fibres comes some of the light that they take
}

void main() {
  const RodPiece rod = rods[gl_InstanceIndex];
  const bool tip = (gl_VertexIndex & 1) == 1;
  const float across = gl_VertexIndex < 2 ? 1 : -1;
  const vec3 node = node_position(tip ? rod.b : rod.a), to_eye = frame.eye.xyz - node;
  const RodEnd end = rod_end(rod, tip, to_eye);

  // Ends are thin. What is thinner than a pixel covers a part of one.
  const float along = tip ? rod.along_b : rod.along_a;
  const float radius = rod.radius * mix(1.0, 0.55, smoothstep(0.75, 1.0, along));
  const float pixel = frame.eye.w * max(-dot(to_eye, frame.forward.xyz), 1e-6);
  const float width = 2 * radius / pixel;
  position = node + across * max(radius, 0.5 * pixel) * end.side;
  gl_Position = frame.view_projection * vec4(position, 1);

  const vec3 sun = frame.sun_direction.xyz, view = normalize(to_eye);
  // Of the side towards the sun: a fibre casts no shadow on itself.
  in_sun = in_sun_map(node + (rod.radius + 1.5 * frame.sun_direction.w) * sun);
  around = vec4(dot(end.front, sun), dot(end.side, sun), end.front.y, end.side.y);
  const float facing = length(around.xy);
  fibre = vec4(dot(end.along, sun), dot(end.along, view), around.x / max(facing, 1e-4), across);
  seen = vec4(min(width, 1.0), smoothstep(1.5, 4.0, width), sky_visibility(node, end.along), height_above_floor(node));
  look = objects[rod.object].color;
  chance = rod.chance;
  share = vec2(-1, along);
  if (frame.sky_layout.y > 0) {
    const float own = heat[tip ? rod.b : rod.a];
    share.x = own < 0 ? heat[tip ? rod.a : rod.b] : own;
  }
}

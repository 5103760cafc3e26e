// Tubes of rods: each instance is a segment, drawn as the half of its tube that faces a viewer. A strip of
// 2 (kTubeSides + 1) vertices: two ends, and kTubeSides faces around.
layout(constant_id = 4) const int kTubeSides = 8;

layout(set = 0, binding = kRodBinding, std430) readonly buffer Rods { RodPiece rods[]; };

struct TubePoint {
  vec3 position, normal;
};

/// An end of a segment, with a frame that faces a viewer.
struct RodEnd {
  vec3 node, along, side, front;  // along: the mean direction at a shared node, so that both segments end in one ring
};

/// `to_viewer`: from the node, any length.
RodEnd rod_end(RodPiece rod, bool tip, vec3 to_viewer) {
  const vec3 a = node_position(rod.a), b = node_position(rod.b);
  const vec3 next = tip ? (node_position(rod.after) - b) : (a - node_position(rod.before));
  const vec3 own = normalize(b - a);
  const vec3 sum = own + (dot(next, next) > 0 ? normalize(next) : own);
  const vec3 t = dot(sum, sum) > 1e-6 ? normalize(sum) : own;
  vec3 side = cross(t, to_viewer);
  side = dot(side, side) > 1e-12 * dot(to_viewer, to_viewer) ? normalize(side) : vec3(t.y, -t.x, 0);
  return RodEnd(tip ? b : a, t, side, cross(side, t));
}

TubePoint tube_point(RodPiece rod, int vertex, vec3 to_viewer, float radius) {
  const RodEnd end = rod_end(rod, (vertex & 1) == 1, to_viewer);
  const float angle = 3.14159265 * (0.5 - float(vertex >> 1) / float(kTubeSides));
  const vec3 normal = sin(angle) * end.side + cos(angle) * end.front;
  return TubePoint(end.node + radius * normal, normal);
}

/// d1 of the segment a b whose frame the node `ghost` carries, see gpu/energy/rod_element.h.
vec3 frame_direction(vec3 a, vec3 b, uint ghost) {
  const vec3 t = normalize(b - a), w = node_position(ghost) - 0.5 * (a + b);
  return normalize(w - dot(w, t) * t);
}

/// Components of a normal of the tube along d1 and d2 of its frame. At a shared node the frame is the mean of
/// those of both segments.
vec2 around_frame(RodPiece rod, bool tip, vec3 normal) {
  const vec3 a = node_position(rod.a), b = node_position(rod.b), t = normalize(b - a);
  const vec3 own = frame_direction(a, b, rod.ghost);
  vec3 other = own;
  if (tip && rod.after != rod.b) other = frame_direction(b, node_position(rod.after), rod.ghost_after);
  if (!tip && rod.before != rod.a) other = frame_direction(node_position(rod.before), a, rod.ghost_before);
  const vec3 sum = own + other;
  const vec3 d1 = dot(sum, sum) > 1e-6 ? normalize(sum) : own;
  return vec2(dot(normal, d1), dot(normal, cross(t, d1)));
}

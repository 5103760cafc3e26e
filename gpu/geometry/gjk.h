// Distance of two convex shapes by the algorithm of Gilbert, Johnson and Keerthi: the point of the Minkowski
// difference a - b that is nearest to the origin, through simplices of its support points.
#pragma once

#include "gpu/geometry/convex.h"

namespace stickslip::narrow {

/// Up to four points w = a - b of the difference and the weights of their nearest point.
struct Simplex {
  V3 w[4], a[4], b[4];
  double weight[4];
  int count;
};

/// Weights of the point of a segment, triangle or tetrahedron that is nearest to the origin; corners outside
/// the smallest face that holds it weigh 0.
struct Weights {
  double w[4];
  double d2;  // [m^2] of that point from the origin
};

SS_HD inline Weights nearest_on_segment(const V3& p, const V3& q) {
  const V3 e = q - p;
  const double along = -dot(p, e), length2 = norm2(e);
  if (!(along > 0)) return {{1, 0, 0, 0}, norm2(p)};
  if (along >= length2) return {{0, 1, 0, 0}, norm2(q)};
  const double t = along / length2;
  return {{1 - t, t, 0, 0}, norm2(p + t * e)};
}

SS_HD inline Weights nearest_on_triangle(const V3& p, const V3& q, const V3& r) {
  const V3 n = cross(q - p, r - p);
  const double n2 = norm2(n);
  // Areas of the sub-triangles that the origin's foot cuts off, times |n|.
  const double u = dot(n, cross(q, r)), v = dot(n, cross(r, p)), w = dot(n, cross(p, q));
  if (n2 > 0 && u >= 0 && v >= 0 && w >= 0) {
    const double s = 1 / (u + v + w), height = dot(n, p);
    return {{s * u, s * v, s * w, 0}, height * height / n2};
  }
  Weights best = nearest_on_segment(p, q);
  const Weights qr = nearest_on_segment(q, r), rp = nearest_on_segment(r, p);
  if (qr.d2 < best.d2) best = {{0, qr.w[0], qr.w[1], 0}, qr.d2};
  if (rp.d2 < best.d2) best = {{rp.w[1], 0, rp.w[0], 0}, rp.d2};
  return best;
}

/// d2 = 0 when the origin is inside. `outside`: it is known not to be, whatever rounding says of a flat one.
SS_HD inline Weights nearest_on_tetrahedron(const V3 (&p)[4], bool outside) {
  constexpr int faces[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};  // and the apex
  Weights best{{0.25, 0.25, 0.25, 0.25}, -1};
  for (const auto& f : faces) {
    const V3 n = cross(p[f[1]] - p[f[0]], p[f[2]] - p[f[0]]);
    const double apex = dot(n, p[f[3]] - p[f[0]]), origin = -dot(n, p[f[0]]);
    if (!outside && apex * origin > 0) continue;
    const Weights face = nearest_on_triangle(p[f[0]], p[f[1]], p[f[2]]);
    if (best.d2 >= 0 && !(face.d2 < best.d2)) continue;
    best = {{0, 0, 0, 0}, face.d2};
    for (int k = 0; k < 3; ++k) best.w[f[k]] = face.w[k];
  }
  if (best.d2 < 0) best.d2 = 0;
  return best;
}

/// Drops corners without weight; returns the nearest point.
SS_HD_LARGE inline V3 shrink_to_nearest(Simplex& s, bool outside) {
  Weights nearest{{1, 0, 0, 0}, 0};
  if (s.count == 2) nearest = nearest_on_segment(s.w[0], s.w[1]);
  if (s.count == 3) nearest = nearest_on_triangle(s.w[0], s.w[1], s.w[2]);
  if (s.count == 4) nearest = nearest_on_tetrahedron(s.w, outside);
  V3 v{0, 0, 0};
  int kept = 0;
  for (int i = 0; i < s.count; ++i) {
    if (!(nearest.w[i] > 0)) continue;
    s.w[kept] = s.w[i], s.a[kept] = s.a[i], s.b[kept] = s.b[i];
    s.weight[kept] = nearest.w[i];
    v += nearest.w[i] * s.w[i];
    ++kept;
  }
  s.count = kept;
  return v;
}

/// Where two cores are nearest to each other. Not `apart`: they overlap or come within `touch`, and nothing
/// else is set.
struct Nearest {
  bool apart;
  double distance;  // [m]
  V3 normal;        // unit, from b to a
  V3 on_a, on_b;    // [m]
};

/// Cores of a, moved by `shift`, and b. Distances up to `give_up` are found, larger ones only so far that
/// they are known to be larger. `start`: about the direction from b to a. Relative error of the distance:
/// 1e-10, of the normal of round shapes 1e-5; of polyhedra rounding only.
SS_HD_LARGE inline Nearest nearest_points(const Convex& a, const Convex& b, const V3& shift, const V3& start,
                                          double give_up, double touch) {
  Simplex s{};
  V3 v = start;
  if (!(norm2(v) > 0)) v = {0, 1, 0};
  double d2 = -1;
  bool outside = false;
  for (int round = 0; round < 128; ++round) {
    const int k = s.count;
    s.a[k] = support(a, -v) + shift;
    s.b[k] = support(b, v);
    s.w[k] = s.a[k] - s.b[k];
    const double along = dot(v, s.w[k]);
    if (d2 >= 0) {
      // v . w / |v| is a lower bound.
      if (d2 - along <= 1e-10 * d2) break;
      if (along > 0 && along * along > d2 * give_up * give_up) break;
      bool known = false;
      for (int i = 0; i < k; ++i) known = known || s.w[i] == s.w[k];
      if (known) break;
    }
    outside = outside || (d2 >= 0 && along > 0);
    const Simplex before = s;
    s.count = k + 1;
    const V3 next = shrink_to_nearest(s, outside);
    const double next2 = norm2(next);
    if ((s.count == 4 && !outside) || !(next2 > touch * touch)) return {};
    if (d2 >= 0 && !(next2 < d2)) {  // rounding decides now
      s = before;
      break;
    }
    v = next, d2 = next2;
  }
  Nearest result{true, std::sqrt(d2), {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  result.normal = v / result.distance;
  for (int i = 0; i < s.count; ++i) {
    result.on_a += s.weight[i] * s.a[i];
    result.on_b += s.weight[i] * s.b[i];
  }
  return result;
}

}  // namespace stickslip::narrow

// Friction that varies over a surface, from a map [Course §6.1.1, §6.3].
#pragma once

#include "gpu/model/surface_texture.h"
#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/contact_rows.h"

namespace stickslip {

/// A SurfaceTexture in backend memory.
struct TextureView {
  TextureKind kind;
  std::int32_t columns, rows;
  Vec<double, 2> size, patch;  // [m]
  const Vec<float, 2>* texels;

  /// `place` in texels from the image's corner; the centres of texels have half-integer coordinates.
  SS_HD Vec<double, 2> in_texels(const Vec<double, 2>& place) const {
    return {(place[0] / size[0] + 0.5) * columns, (place[1] / size[1] + 0.5) * rows};
  }
  /// Texel of the periodic image.
  SS_HD Vec<double, 2> texel(double column, double row) const {
    const double i = column - columns * std::floor(column / columns), j = row - rows * std::floor(row / rows);
    // Rounding may lift a value just below 0 to the number of columns.
    const auto c = static_cast<std::int32_t>(i), r = static_cast<std::int32_t>(j);
    return texels[(r < rows ? r : 0) * columns + (c < columns ? c : 0)].template cast<double>();
  }
};

/// Position of a contact on an image, and the image's axes there.
struct TexturePlace {
  Vec<double, 2> at;    // [m] from the centre of the image
  Vec<double, 3> u, v;  // world: along columns, along rows
};

/// The surface is projected along the axis of `frame` that is closest to its normal. Columns and rows go
/// along x and z if this axis is y, along x and y if it is z, and along z and y if it is x.
SS_HD inline TexturePlace texture_place(const Pose& frame, const Vec<double, 3>& point,
                                        const Vec<double, 3>& normal) {
  const Vec<double, 3> p = frame.apply_back(point), n = frame.q.rotate_back(normal);
  const double x = std::fabs(n[0]), y = std::fabs(n[1]), z = std::fabs(n[2]);
  const int across = y >= x && y >= z ? 1 : z >= x ? 2 : 0;
  const int first = across == 0 ? 2 : 0, second = across == 1 ? 2 : 1;
  Vec<double, 3> u{0, 0, 0}, v{0, 0, 0};
  u[first] = v[second] = 1;
  return {{p[first], p[second]}, frame.q.rotate(u), frame.q.rotate(v)};
}

/// The structure direction of a direction map, bilinear in (cos 2a, sin 2a), because a
/// and a + pi are equivalent.
SS_HD inline Vec<double, 3> structure_direction(const TextureView& t, const TexturePlace& place) {
  const Vec<double, 2> x = t.in_texels(place.at) - Vec<double, 2>{0.5, 0.5};
  const double i = std::floor(x[0]), j = std::floor(x[1]), a = x[0] - i, b = x[1] - j;
  const Vec<double, 2> d = (1 - b) * ((1 - a) * t.texel(i, j) + a * t.texel(i + 1, j)) +
                           b * ((1 - a) * t.texel(i, j + 1) + a * t.texel(i + 1, j + 1));
  const double angle = 0.5 * std::atan2(d[1], d[0]);
  return std::cos(angle) * place.u + std::sin(angle) * place.v;
}

/// Calls visit(texel) for samples at the centres of the patch's cells, about one per texel. Returns their
/// number.
template <class F>
SS_HD inline int visit_patch(const TextureView& t, const TexturePlace& place, F&& visit) {
  const Vec<double, 2> middle = t.in_texels(place.at);
  const Vec<double, 2> side{t.patch[0] / t.size[0] * t.columns, t.patch[1] / t.size[1] * t.rows};
  const auto across = static_cast<int>(std::ceil(side[0] - 1e-6)),
             down = static_cast<int>(std::ceil(side[1] - 1e-6));
  for (int j = 0; j < down; ++j)
    for (int i = 0; i < across; ++i)
      visit(t.texel(middle[0] + ((i + 0.5) / across - 0.5) * side[0],
                    middle[1] + ((j + 0.5) / down - 0.5) * side[1]));
  return across * down;
}

/// Ploughing of a patch: means over its facets.
struct Ploughing {
  double forth[2], back[2];  // means of max(0, +-texel . t_i): friction if the surface moves along +-t_i
  double xx, xy, yy;         // of the texels' products in (t1, t2)
};

SS_HD inline Ploughing ploughing(const TextureView& t, const TexturePlace& place, const Vec<double, 3>& t1,
                                 const Vec<double, 3>& t2) {
  Ploughing sum{};
  const double u1 = dot(place.u, t1), v1 = dot(place.v, t1), u2 = dot(place.u, t2), v2 = dot(place.v, t2);
  const int count = visit_patch(t, place, [&](const Vec<double, 2>& texel) {
    const double x[2] = {texel[0] * u1 + texel[1] * v1, texel[0] * u2 + texel[1] * v2};
    for (int i = 0; i < 2; ++i) (x[i] > 0 ? sum.forth[i] : sum.back[i]) += std::fabs(x[i]);
    sum.xx += x[0] * x[0];
    sum.xy += x[0] * x[1];
    sum.yy += x[1] * x[1];
  });
  const double share = 1.0 / count;
  for (int i = 0; i < 2; ++i) {
    sum.forth[i] *= share;
    sum.back[i] *= share;
  }
  sum.xx *= share;
  sum.xy *= share;
  sum.yy *= share;
  return sum;
}

/// Velocity [m/s] of a's point relative to b's at a contact without impulses: the
/// direction of incipient sliding.
SS_HD inline Vec<double, 3> free_slide(const BodiesView& bodies, const double* free, const RigidContact& c) {
  Vec<double, 3> slide{0, 0, 0};
  for (int side = 0; side < 2; ++side) {
    const std::int32_t body = side == 0 ? c.a : c.b;
    if (body < 0) continue;
    const double* v = free + 6 * static_cast<std::size_t>(body);
    const Vec<double, 3> at = Vec<double, 3>{v[0], v[1], v[2]} +
                              cross(Vec<double, 3>{v[3], v[4], v[5]}, c.point - bodies.pose[body].x);
    slide += (side == 0 ? 1.0 : -1.0) * at;
  }
  return slide;
}

/// The same of the velocities at the start of the step.
SS_HD inline Vec<double, 3> start_slide(const BodiesView& bodies, const RigidContact& c) {
  Vec<double, 3> slide{0, 0, 0};
  for (int side = 0; side < 2; ++side) {
    const BodyAtStep at = bodies.at_step(side == 0 ? c.a : c.b);
    slide += (side == 0 ? 1.0 : -1.0) * (at.velocity + cross(at.spin, c.point - at.pose.x));
  }
  return slide;
}

/// One-sided friction: takes the coefficients for sliding towards `slide`, of any unit; along a tangent
/// without sliding, up to `still`, the larger one.
SS_HD inline void take_quadrant(const Vec<double, 3>& slide, double still, FrictionFrame& f) {
  for (int i = 0; i < 2; ++i) {
    const double along = dot(slide, i == 0 ? f.frame.t1 : f.frame.t2);
    f.take_way(i, std::fabs(along) > still ? along : f.forth[i] - f.back[i]);
  }
}

/// The textures of the two surfaces of a contact.
class TexturedContact {
 public:
  /// `textures` may be null; `a` and `b` index into it, or are -1.
  SS_HD TexturedContact(const TextureView* textures, std::int32_t a, std::int32_t b, const BodiesView& bodies,
                        const RigidContact& contact) {
    const std::int32_t of[2] = {a, b}, body[2] = {contact.a, contact.b};
    for (int side = 0; side < 2; ++side) {
      texture_[side] = textures != nullptr && of[side] >= 0 && body[side] >= 0 && body[side] < bodies.textured
                           ? textures + of[side]
                           : nullptr;
      if (texture_[side] != nullptr)
        place_[side] = texture_place(bodies.pose[body[side]] * bodies.texture_frame[body[side]],
                                     contact.point, contact.normal);
    }
  }

  /// The structure direction of a's (0) or b's (1) surface: from the map, or that of the body.
  SS_HD Vec<double, 3> grain(int side, const Vec<double, 3>& body) const {
    return texture_[side] != nullptr && texture_[side]->kind == TextureKind::direction
               ? structure_direction(*texture_[side], place_[side])
               : body;
  }

  /// `base` plus the ploughing of height maps [Course Eq.336]: a coefficient for each of the four directions
  /// along the axes, {mu_t, mu_b, mu_-t, mu_-b} of [Course §6.3.2]. The text has ploughing alone: a pair with
  /// mu = 0. Beyond the text: b moves against a, so its facets are taken for the opposite direction. Without
  /// a grain, the axes are the principal axes of the facets, with t2 across the ridges. The admissible set
  /// has a quarter of an ellipse in each quadrant (a rectangle, for solvers of box friction). mu1 and mu2 are
  /// those of `slide` [m/s], the first guess; see FrictionState::way.
  SS_HD FrictionFrame friction(const FrictionFrame& base, const SurfacePair& pair,
                               const Vec<double, 3>& slide) const {
    FrictionFrame f = base;
    if (!rough(0) && !rough(1)) return f;
    if (pair.friction_kind == FrictionKind::isotropic && !turn_to_facets(f.frame)) return f;
    double forth[2] = {0, 0}, back[2] = {0, 0};
    for (int side = 0; side < 2; ++side) {
      if (!rough(side)) continue;
      const Ploughing p = ploughing(*texture_[side], place_[side], f.frame.t1, f.frame.t2);
      for (int i = 0; i < 2; ++i) {
        forth[i] += side == 0 ? p.forth[i] : p.back[i];
        back[i] += side == 0 ? p.back[i] : p.forth[i];
      }
    }
    constexpr double still = 1e-9;     // [m/s]
    constexpr double rounding = 1e-6;  // of texels, which are floats
    for (int i = 0; i < 2; ++i) {
      double& mu = i == 0 ? f.mu1 : f.mu2;
      f.forth[i] = mu + forth[i];
      f.back[i] = mu + back[i];
      if (std::fabs(forth[i] - back[i]) > rounding * (forth[i] + back[i])) f.is_one_sided = true;
      mu += forth[i] > back[i] ? forth[i] : back[i];
    }
    if (f.is_one_sided) take_quadrant(slide, still, f);
    return f;
  }

 private:
  SS_HD bool rough(int side) const {
    return texture_[side] != nullptr && texture_[side]->kind == TextureKind::height;
  }

  /// Rotates the tangents so that t2 is across the ridges; false if all facets are flat.
  SS_HD bool turn_to_facets(ContactFrame& frame) const {
    double xx = 0, xy = 0, yy = 0;
    for (int side = 0; side < 2; ++side) {
      if (!rough(side)) continue;
      const Ploughing p = ploughing(*texture_[side], place_[side], frame.t1, frame.t2);
      xx += p.xx;
      xy += p.xy;
      yy += p.yy;
    }
    if (!(xx + yy > 0)) return false;
    const double angle = 0.5 * std::atan2(2 * xy, xx - yy);
    frame.t2 = std::cos(angle) * frame.t1 + std::sin(angle) * frame.t2;
    frame.t1 = cross(frame.t2, frame.n);
    return true;
  }

  const TextureView* texture_[2];
  TexturePlace place_[2];
};

}  // namespace stickslip

// MergedManifold: the manifolds of all shape pairs of two compound bodies, grouped by direction.
#pragma once

#include "gpu/geometry/manifold_reduce.h"
#include "gpu/geometry/shape.h"

namespace stickslip {

/// A name for a feature of shapes number i and j of the two bodies. Two bodies have few shape pairs compared
/// with 2^32, so collisions are rare; one costs a warm start.
SS_HD inline std::uint32_t compound_feature(std::uint32_t feature, std::int32_t i, std::int32_t j) {
  std::uint32_t h =
      feature ^ (static_cast<std::uint32_t>(i) * 0x9e3779b1u + static_cast<std::uint32_t>(j) * 0x85ebca77u);
  h ^= h >> 15;
  h *= 0x2c1b3c6du;
  return h ^ h >> 13;
}

/// Contacts with similar normals act as one manifold and are reduced together; contacts of another direction
/// support the body differently and are kept.
struct MergedManifold {
  static constexpr int kMost = 8;         // directions
  static constexpr double kAlike = 0.98;  // cosine, 11 degrees
  Manifold parts[kMost];
  Vec<double, 3> direction[kMost];  // of a part's first manifold; the part has the normal of its deepest one
  int count = 0;

  SS_HD static double deepest(const Manifold& m) {
    double least = m.points[0].gap;
    for (int i = 1; i < m.count; ++i) least = m.points[i].gap < least ? m.points[i].gap : least;
    return least;
  }

  /// When all directions are in use, a deeper manifold replaces the shallowest one.
  SS_HD void add(const Manifold& m) {
    if (m.count == 0) return;
    for (int k = 0; k < count; ++k)
      if (dot(direction[k], m.normal) > kAlike) return join(parts[k], m);
    int at = count;
    if (count < kMost) {
      ++count;
    } else {
      at = 0;
      for (int k = 1; k < kMost; ++k)
        if (deepest(parts[k]) > deepest(parts[at])) at = k;
      if (!(deepest(m) < deepest(parts[at]))) return;
    }
    parts[at] = m;
    direction[at] = m.normal;
  }

  SS_HD static void join(Manifold& into, const Manifold& m) {
    ManifoldPoint all[2 * Manifold::kMost];
    int n = 0;
    for (int i = 0; i < into.count; ++i) all[n++] = into.points[i];
    for (int i = 0; i < m.count; ++i) all[n++] = m.points[i];
    if (deepest(m) < deepest(into)) into.normal = m.normal;
    into.count = narrow::reduce_points(all, n, into.normal, Manifold::kMost);
    for (int i = 0; i < into.count; ++i) into.points[i] = all[i];
  }

  SS_HD void reduce(int most) {
    for (int k = 0; k < count; ++k) reduce_manifold(parts[k], most);
  }
};

}  // namespace stickslip

// Triangle surfaces that are difficult for a broad phase, in host memory, reproducible from a seed.
#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu/broadphase/candidates.h"
#include "gpu/core/buffer.h"

namespace stickslip::testing {

struct Soup {
  std::vector<Vec3> x, p;
  std::vector<std::uint8_t> fixed;
  std::vector<Vec3i> triangles;
  std::vector<Vec2i> edges;
  std::vector<std::int32_t> nodes;
  std::vector<Real> radius = {};  // empty: all 0

  double radius_of(std::int32_t node) const {
    return radius.empty() ? 0.0 : static_cast<double>(radius[static_cast<std::size_t>(node)]);
  }
};

/// Derives edges and surface nodes from the triangles, and fills missing per-node data.
inline void complete(Soup& soup) {
  std::set<std::pair<int, int>> edges;
  std::set<int> nodes;
  for (const Vec3i& t : soup.triangles)
    for (int c = 0; c < 3; ++c) {
      const int a = t[c], b = t[(c + 1) % 3];
      edges.insert({std::min(a, b), std::max(a, b)});
      nodes.insert(a);
    }
  soup.edges.clear();
  for (const auto& [a, b] : edges) soup.edges.push_back({a, b});
  soup.nodes.assign(nodes.begin(), nodes.end());
  soup.p.resize(soup.x.size(), Vec3::zero());
  soup.fixed.resize(soup.x.size(), 0);
}

inline Vec3 random_point(std::mt19937& rng, double low, double high) {
  std::uniform_real_distribution<double> u(low, high);
  return {Real(u(rng)), Real(u(rng)), Real(u(rng))};
}

/// Separate triangles of about `size` in the unit cube.
inline Soup random_soup(std::mt19937& rng, int count, double size) {
  Soup soup;
  for (int i = 0; i < count; ++i) {
    const Vec3 center = random_point(rng, 0, 1);
    for (int c = 0; c < 3; ++c) soup.x.push_back(center + random_point(rng, -size, size));
    soup.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  complete(soup);
  return soup;
}

/// Triangles over few nodes: most pairs share a node.
inline Soup connected_soup(std::mt19937& rng, int count, int node_count) {
  Soup soup;
  for (int i = 0; i < node_count; ++i) soup.x.push_back(random_point(rng, 0, 1));
  std::uniform_int_distribution<int> pick(0, node_count - 1);
  while (static_cast<int>(soup.triangles.size()) < count) {
    Vec3i t{pick(rng), pick(rng), pick(rng)};
    std::sort(t.v, t.v + 3);
    // A duplicate triangle would be found twice.
    const bool known = std::find(soup.triangles.begin(), soup.triangles.end(), t) != soup.triangles.end();
    if (t[0] != t[1] && t[1] != t[2] && !known) soup.triangles.push_back(t);
  }
  complete(soup);
  return soup;
}

/// Zero-area triangles (points and slivers) and exact copies of others.
inline Soup degenerate_soup(std::mt19937& rng, int count) {
  Soup soup = random_soup(rng, count, 0.05);
  for (int i = 0; i < count; ++i) {
    Vec3* corner = &soup.x[3 * i];
    if (i % 4 == 0) corner[1] = corner[2] = corner[0];
    if (i % 4 == 1) corner[2] = (corner[0] + corner[1]) / 2;
    if (i % 4 == 2 && i > 8) std::copy_n(&soup.x[3 * (i - 8)], 3, corner);
  }
  return soup;
}

/// Nearly all triangles in one cell of the Morton grid, and a few far away.
inline Soup clustered_soup(std::mt19937& rng, int count) {
  Soup soup = random_soup(rng, count, 0.05);
  for (int i = 0; i < count; ++i)
    for (int c = 0; c < 3; ++c) soup.x[3 * i + c] *= Real(1e-3);
  for (int i = 0; i < 5; ++i) soup.x[3 * i + i % 3] = random_point(rng, -1000, 1000);
  return soup;
}

/// A flat square sheet of 2 k^2 triangles with shared nodes.
inline Soup sheet(int k) {
  Soup soup;
  for (int j = 0; j <= k; ++j)
    for (int i = 0; i <= k; ++i) soup.x.push_back({Real(i) / k, 0, Real(j) / k});
  for (int j = 0; j < k; ++j)
    for (int i = 0; i < k; ++i) {
      const int a = j * (k + 1) + i, b = a + 1, c = a + k + 1, d = c + 1;
      soup.triangles.push_back({a, c, b});
      soup.triangles.push_back({b, c, d});
    }
  complete(soup);
  return soup;
}

inline void set_motion(Soup& soup, std::mt19937& rng, double size) {
  for (Vec3& p : soup.p) p = random_point(rng, -size, size);
}

inline void fix_some(Soup& soup, std::mt19937& rng, double share) {
  std::bernoulli_distribution toss(share);
  for (auto& f : soup.fixed) f = toss(rng);
}

/// Every kind above, by name.
inline std::vector<std::pair<std::string, Soup>> hard_soups(std::mt19937& rng) {
  std::vector<std::pair<std::string, Soup>> soups;
  soups.emplace_back("random", random_soup(rng, 150, 0.1));
  soups.emplace_back("sparse", random_soup(rng, 150, 0.01));
  soups.emplace_back("connected", connected_soup(rng, 80, 50));
  soups.emplace_back("degenerate", degenerate_soup(rng, 150));
  soups.emplace_back("clustered", clustered_soup(rng, 150));
  soups.emplace_back("sheet", sheet(10));
  soups.emplace_back("one triangle", random_soup(rng, 1, 0.1));
  soups.emplace_back("two triangles", random_soup(rng, 2, 1));
  soups.emplace_back("nothing", Soup{});
  soups.emplace_back("swept", random_soup(rng, 150, 0.02));
  set_motion(soups.back().second, rng, 0.1);
  soups.emplace_back("thick", random_soup(rng, 150, 0.05));
  set_motion(soups.back().second, rng, 0.05);
  for (std::size_t i = 0; i < soups.back().second.x.size(); ++i)
    soups.back().second.radius.push_back(Real(0.002) * Real(i / 3 % 20));
  soups.emplace_back("partly fixed", random_soup(rng, 150, 0.1));
  fix_some(soups.back().second, rng, 0.8);
  return soups;
}

}  // namespace stickslip::testing

namespace stickslip::STICKSLIP_BACKEND {

/// A Soup in backend memory.
struct DeviceSoup {
  DeviceSoup(Context& ctx, const stickslip::testing::Soup& soup)
      : x(ctx, soup.x),
        p(ctx, soup.p),
        fixed(ctx, soup.fixed),
        triangles(ctx, soup.triangles),
        edges(ctx, soup.edges),
        nodes(ctx, soup.nodes),
        radius(ctx, soup.radius) {}
  SurfaceView view() const {
    return {triangles.data(), triangles.size(), edges.data(), edges.size(),
            nodes.data(),     nodes.size(),     radius.data()};
  }
  Buffer<Vec3> x, p;
  Buffer<std::uint8_t> fixed;
  Buffer<Vec3i> triangles;
  Buffer<Vec2i> edges;
  Buffer<std::int32_t> nodes;
  Buffer<Real> radius;
};

}  // namespace stickslip::STICKSLIP_BACKEND

// Measures of data structures and geometry [Guo24 §4.2, §5]. Quantities of `ordering`, one sample per scene:
// order.tiles_ratio and order.reach_ratio: along a Morton curve over the nodes' own order, the tiles of 32x32
// nodes with an entry of the matrix, and the mean distance of the two nodes of an entry in the order. Of
// `ccd_sides`, per seed: raw.crossed and corrected.crossed, the shares of impacts of slivers at whose
// reported time the pair has passed through already, by the cubic's root alone and with the correction. Of
// `memory`, one sample: gigabytes of 9 million tets with 300k contacts, from the slopes of small piles.
#include <cmath>
#include <random>
#include <set>

#include "bench/barrier_study.h"
#include "bench/program/reproduce/measure.h"
#include "gpu/ccd/cubic.h"
#include "gpu/linear/domain_plan.h"
#include "gpu/model/element_group.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

struct OrderMeasure {
  double tiles = 0, reach = 0;
};

/// Of the pairs of nodes i > j that elements couple, with node i at place[i] of the order.
OrderMeasure measure_order(const std::set<std::pair<std::int32_t, std::int32_t>>& pairs,
                           const std::vector<std::int32_t>& place) {
  constexpr std::int32_t tile = 32;
  std::set<std::pair<std::int32_t, std::int32_t>> tiles;
  OrderMeasure out;
  for (const auto& [i, j] : pairs) {
    const std::int32_t a = std::max(place[i], place[j]), b = std::min(place[i], place[j]);
    tiles.insert({a / tile, b / tile});
    out.reach += static_cast<double>(a - b) / static_cast<double>(pairs.size());
  }
  out.tiles = static_cast<double>(tiles.size());
  return out;
}

/// f at t with more digits than the data have.
__extension__ using Quad = __float128;
Quad exact_side(const Vec3d (&x)[4], const Vec3d (&p)[4], Quad t) {
  Quad edge[3][3];
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c)
      edge[k][c] = (Quad(x[k + 1][c]) - Quad(x[0][c])) + t * (Quad(p[k + 1][c]) - Quad(p[0][c]));
  return edge[0][0] * (edge[1][1] * edge[2][2] - edge[1][2] * edge[2][1]) +
         edge[0][1] * (edge[1][2] * edge[2][0] - edge[1][0] * edge[2][2]) +
         edge[0][2] * (edge[1][0] * edge[2][1] - edge[1][1] * edge[2][0]);
}

/// A point above a triangle whose height is `thinness` times its longest side, and that passes through it.
void random_sliver(std::mt19937_64& random, double thinness, Vec3d (&x)[4], Vec3d (&p)[4]) {
  std::uniform_real_distribution<double> unit(-1, 1);
  const auto vector = [&] { return Vec3d{unit(random), unit(random), unit(random)}; };
  const Vec3d corner = vector(), along = vector();
  const Vec3d normal = cross(along, vector()) / norm(along), across = cross(normal, along) / norm(normal);
  x[1] = corner;
  x[2] = corner + along;
  x[3] = corner + 0.5 * along + thinness * across;
  const double s = 0.25 * (1 + unit(random)) * 0.9 + 0.05, t = 0.4 * (1 + unit(random)) * 0.5 + 0.05;
  const Vec3d target = x[1] + s * (x[2] - x[1]) + t * (x[3] - x[1]);
  const double height = std::exp(3 * unit(random) - 4);
  x[0] = target + height * normal;
  p[0] = -2 * height * normal;
  for (int k = 1; k < 4; ++k) p[k] = 0.1 * thinness * height * vector();
}

/// The first root of the cubic in [0, 1] at which the pair is together, as cubic::toi decides it; 1: none.
double raw_time(const Vec3d (&x)[4], const Vec3d (&p)[4], double kept) {
  const PointTriangle<double> pair{{x[0], x[1], x[2], x[3]}, {p[0], p[1], p[2], p[3]}};
  double reach = 0;
  for (int i = 0; i < 4; ++i) reach = std::max(reach, norm(x[i] - x[0]) + norm(p[i] - p[0]));
  const cubic::Roots<double> roots = cubic::roots_between(cubic::coplanarity(pair), 0.0, 1.0);
  for (int k = 0; k < roots.count; ++k)
    if (distance_at(pair, roots.t[k]) <= kept * distance_at(pair, 0.0) + 1e-12 * reach) return roots.t[k];
  return 1;
}

}  // namespace

Measurement measure_ordering(const Claim&, const ClaimRun& run, const MeasureContext& context) {
  Measurement out;
  for (const std::string& name : run.scenes) {
    context.check();
    const Scene scene = claim_scene(name, run, {});
    std::set<std::pair<std::int32_t, std::int32_t>> pairs;
    for (const Object& object : scene.model.objects)
      for (const Vec4i& tet : tets_of(scene.model, object))
        for (int a = 0; a < 4; ++a)
          for (int b = 0; b < 4; ++b)
            if (tet[a] > tet[b]) pairs.insert({tet[a], tet[b]});
    std::vector<Vec2i> links;
    links.reserve(pairs.size());
    for (const auto& [i, j] : pairs) links.push_back({i, j});
    std::vector<Vec3> positions;
    for (const Vec3d& x : scene.model.positions) positions.push_back(x.cast<Real>());
    const std::vector<std::int32_t> order = morton_order(positions, links);
    std::vector<std::int32_t> own(positions.size()), along(positions.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      own[i] = static_cast<std::int32_t>(i);
      along[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    }
    const OrderMeasure before = measure_order(pairs, own), after = measure_order(pairs, along);
    out.add("order.tiles_ratio", after.tiles / before.tiles);
    out.add("order.reach_ratio", after.reach / before.reach);
  }
  return out;
}

Measurement measure_ccd_sides(const Claim&, const ClaimRun& run, const MeasureContext& context) {
  constexpr double kKept = 0.1;  // share of the way that a step leaves
  Measurement out;
  const int queries = run.iterations > 0 ? run.iterations : 10000;
  for (int k = 0; k < run.starts; ++k) {
    std::mt19937_64 random(static_cast<std::uint64_t>(k) + 1);
    int impacts = 0, raw = 0, corrected = 0;
    for (int q = 0; q < queries; ++q) {
      if (q % 1000 == 0) context.check();
      Vec3d x[4], p[4];
      const double thinness =
          run.values.empty() ? 1e-6 : run.values[static_cast<std::size_t>(q) % run.values.size()];
      random_sliver(random, thinness, x, p);
      const bool above = exact_side(x, p, 0) > 0;
      if ((exact_side(x, p, 1) > 0) == above) continue;
      ++impacts;
      const auto fails = [&](double step) {
        const Quad side = exact_side(x, p, step);
        return step >= 1 || (above ? side < 0 : side > 0);
      };
      const double root = raw_time(x, p, kKept);
      raw += fails(root < 1 ? (1 - kKept) * root : root);
      corrected += fails(cubic::point_triangle_toi(x, p, kKept, 1.0));
    }
    if (impacts == 0) continue;
    out.add("raw.failed", static_cast<double>(raw) / impacts);
    out.add("corrected.failed", static_cast<double>(corrected) / impacts);
    out.add("impacts", impacts);
  }
  return out;
}

Measurement measure_memory_of_tets(const Claim&, const ClaimRun& run, const MeasureContext& context) {
  constexpr double kTets = 9e6, kContacts = 300e3;
  Measurement out;
  const int columns = run.sizes.empty() ? kMemoryColumns : static_cast<int>(run.sizes[0]);
  const MemoryModel memory =
      measure_memory([&] { return context.engine(); }, {barrier_methods().front()}, columns).front();
  out.add("gigabytes", 1e-9 * memory.projected(kTets, kContacts));
  out.add("bytes_per_tet", memory.bytes_per_tet);
  return out;
}

}  // namespace stickslip

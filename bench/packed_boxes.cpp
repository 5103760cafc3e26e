#include "bench/packed_boxes.h"

#include <algorithm>
#include <random>

namespace stickslip {
namespace {

constexpr double kBox = 0.1, kGap = 1.2e-3, kDistanceHat = 1e-3, kStep = 1e-3;  // [m]
// A corner of a box approaches its neighbour by at most 2 * 0.05 * kTurn + kShift =
// 0.55 mm, two corners by 1.1.
constexpr double kTurn = 4e-3, kShift = 0.15e-3;  // [rad], [m]

/// The surface of one box: nodes on a lattice of integers in [0, cells]^3.
struct LatticeBox {
  std::vector<Vec3i> nodes;
  std::vector<Vec3i> triangles;
  std::vector<Vec2i> edges;
};

LatticeBox lattice_box(int cells) {
  LatticeBox box;
  const int row = cells + 1;
  std::vector<std::int32_t> number(static_cast<std::size_t>(row) * row * row, -1);
  const auto node = [&](const Vec3i& at) {
    std::int32_t& n = number[static_cast<std::size_t>(at[0] + row * (at[1] + row * at[2]))];
    if (n < 0) {
      n = static_cast<std::int32_t>(box.nodes.size());
      box.nodes.push_back(at);
    }
    return n;
  };
  for (int axis = 0; axis < 3; ++axis)
    for (const int end : {0, cells})
      for (int j = 0; j < cells; ++j)
        for (int i = 0; i < cells; ++i) {
          const auto corner = [&](int di, int dj) {
            Vec3i at{0, 0, 0};
            at[axis] = end;
            at[(axis + 1) % 3] = i + di;
            at[(axis + 2) % 3] = j + dj;
            return node(at);
          };
          const std::int32_t a = corner(0, 0), b = corner(1, 0), c = corner(1, 1), d = corner(0, 1);
          const bool outward = end != 0;
          box.triangles.push_back(outward ? Vec3i{a, b, c} : Vec3i{a, c, b});
          box.triangles.push_back(outward ? Vec3i{a, c, d} : Vec3i{a, d, c});
        }
  for (const Vec3i& t : box.triangles)
    for (int k = 0; k < 3; ++k)
      // Each edge belongs to two triangles, once in each direction.
      if (t[k] < t[(k + 1) % 3]) box.edges.push_back({t[k], t[(k + 1) % 3]});
  return box;
}

}  // namespace

PackedSurface packed_boxes(int side, int cells) {
  const LatticeBox box = lattice_box(cells);
  PackedSurface surface;
  surface.d_hat = kDistanceHat;
  std::mt19937 engine(1);
  // Not std::uniform_real_distribution, which differs between libraries.
  const auto draw = [&](double most) { return most * (2.0 * engine() / 4294967295.0 - 1); };
  const auto draw3 = [&](double most) {
    const double a = draw(most), b = draw(most), c = draw(most);
    return Vec<double, 3>{a, b, c};
  };
  for (int z = 0; z < side; ++z)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const auto first = static_cast<std::int32_t>(surface.x.size());
        const Vec<double, 3> center =
            Vec<double, 3>{double(x), double(y), double(z)} * (kBox + kGap) + draw3(kShift);
        const Vec<double, 3> turn = draw3(kTurn), step = draw3(kStep);
        for (const Vec3i& n : box.nodes) {
          const Vec<double, 3> arm =
              Vec<double, 3>{double(n[0]), double(n[1]), double(n[2])} * (kBox / cells) -
              Vec<double, 3>::filled(kBox / 2);
          surface.x.push_back((center + arm + cross(turn, arm)).cast<Real>());
          surface.p.push_back(step.cast<Real>());
          surface.nodes.push_back(static_cast<std::int32_t>(surface.nodes.size()));
        }
        for (const Vec3i& t : box.triangles) surface.triangles.push_back(t + Vec3i::filled(first));
        for (const Vec2i& e : box.edges) surface.edges.push_back(e + Vec2i::filled(first));
      }
  return surface;
}

}  // namespace stickslip

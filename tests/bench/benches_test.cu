// The benchmarks at sizes that take milliseconds: their figures, and lower bounds counted by hand.
#include <cmath>
#include <map>
#include <set>

#include "bench/benches.cuh"
#include "bench/counted.h"
#include "bench/packed_boxes.h"
#include "gpu/geometry/distance.h"
#include "tests/backend_test.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr double kTriad = 1e10;  // [B/s] bandwidth for the lower bounds

/// Figures by name, after the checks that apply to every benchmark.
std::map<std::string, BenchFigure> checked_figures(const BenchResult& result) {
  std::map<std::string, BenchFigure> figures;
  for (const BenchFigure& f : result.figures) {
    EXPECT_TRUE(std::isfinite(f.value) && f.value > 0) << f.name << " " << f.value;
    EXPECT_TRUE(std::isfinite(f.floor) && f.floor >= 0) << f.name << " " << f.floor;
    EXPECT_EQ(f.floor > 0, !f.floor_name.empty()) << f.name;
    EXPECT_EQ(f.peer > 0, !f.peer_name.empty()) << f.name;
    EXPECT_FALSE(f.unit.empty()) << f.name;
    EXPECT_TRUE(figures.emplace(f.name, f).second) << f.name << " comes twice";
  }
  return figures;
}

/// Pairs of adjacent nodes of lattice_tets(n): along axes, across faces and through cells.
double lattice_pairs(double n) {
  const double m = n - 1;
  return 3 * n * n * m + 3 * n * m * m + m * m * m;
}

bool share_a_node(const Vec4i& v, int first_of_b) {
  for (int a = 0; a < first_of_b; ++a)
    for (int b = first_of_b; b < 4; ++b)
      if (v[a] == v[b]) return true;
  return false;
}

/// Every point against every triangle and every edge against every edge.
struct PackedPairs {
  std::size_t contacts = 0;
  double closest2 = 1;  // [m^2]
};

PackedPairs try_all_pairs(const PackedSurface& s) {
  PackedPairs pairs;
  const double d_hat2 = s.d_hat * s.d_hat;
  const auto meet = [&](const Vec4i& v, double d2, int first_of_b) {
    if (share_a_node(v, first_of_b)) return;
    pairs.closest2 = std::min(pairs.closest2, d2);
    pairs.contacts += d2 < d_hat2 ? 1 : 0;
  };
  for (const std::int32_t p : s.nodes)
    for (const Vec3i& t : s.triangles)
      meet({p, t[0], t[1], t[2]}, point_triangle_d2(s.x[p], s.x[t[0]], s.x[t[1]], s.x[t[2]]), 1);
  for (std::size_t i = 0; i < s.edges.size(); ++i)
    for (std::size_t j = i + 1; j < s.edges.size(); ++j) {
      const Vec2i a = s.edges[i], b = s.edges[j];
      meet({a[0], a[1], b[0], b[1]}, edge_edge_d2(s.x[a[0]], s.x[a[1]], s.x[b[0]], s.x[b[1]]), 2);
    }
  return pairs;
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Benches, DeviceMeasuresBandwidthsAndCosts) {
  BenchResult result;
  add_device_figures(ctx, 5000, 20, result);
  const auto figures = checked_figures(result);
  for (const char* name :
       {"triad 5k f64", "copy 5k f64", "copy 5k f64, by the runtime", "host to device 5k f64"}) {
    ASSERT_TRUE(figures.contains(name)) << name;
    EXPECT_EQ(figures.at(name).unit, "GB/s");
  }
  for (const char* name :
       {"launch, back to back", "launch and wait", "read back of one word", "loop of one repetition",
        "repetition of a loop, 1 launch", "repetition of a loop, 4 launches", "grid barrier, one block",
        "grid barrier, all lanes", "grid sum, all lanes"}) {
    ASSERT_TRUE(figures.contains(name)) << name;
    EXPECT_EQ(figures.at(name).unit, "us");
  }
  EXPECT_TRUE(result.notes.empty()) << result.notes[0];
}

BACKEND_TEST(Benches, PrimitivesHaveFloorsByTheBytesOfTheirEntries) {
  BenchResult result;
  add_primitive_figures(ctx, 3000, kTriad, result);
  auto figures = checked_figures(result);
  ASSERT_EQ(figures.size(), 6u);
  for (const char* name : {"reduce 3k f64", "scan 3k i32", "select 3k half"})
    EXPECT_NEAR(figures[name].floor, 1e-9 * kTriad, 1e-9) << name;
  EXPECT_NEAR(figures["sort 3k u32 pairs"].floor, 1e-6 * kTriad / 16, 1e-6);
  EXPECT_NEAR(figures["sort 3k u64 pairs"].floor, 1e-6 * kTriad / 24, 1e-6);
#if STICKSLIP_ON_CUDA
  for (const auto& [name, figure] : figures)
    EXPECT_EQ(figure.peer_name, figure.floor > 0 ? "CUB called directly" : "") << name;
#endif
}

BACKEND_TEST(Benches, TreesAreBuiltOverBothKindsOfMesh) {
  BenchResult result;
  add_tree_figures(ctx, 800, false, kTriad, result);
  add_tree_figures(ctx, 800, true, kTriad, result);
  auto figures = checked_figures(result);
  for (const std::string kind : {"of a surface", "at random"}) {
    const BenchFigure& figure = figures["800 triangles " + kind + ", codes to boxes"];
    EXPECT_EQ(figure.unit, "ms");
    // Boxes read three times and written once, codes and order by the sort, order again, codes again, the
    // nodes.
    EXPECT_NEAR(1e-3 * kTriad * figure.floor, 800 * (5 * 24 + 8 + 16 + 4 + 8 + 64), 1e-3) << kind;
    double shares = 0;
    for (const auto& [name, f] : figures)
      if (name.find(kind) != std::string::npos && f.unit == "%") shares += f.value;
    EXPECT_NEAR(shares, 100, 1e-9);
  }
}

BACKEND_TEST(Benches, ProductsAndIterationsCountWhatTheyMove) {
  constexpr double n = 6, nodes = n * n * n, index = 4;
  constexpr double vector = sizeof(Vec3), block = sizeof(Mat3);
  BenchResult result;
  add_product_figures(ctx, 6, kTriad, result);
  add_pcg_figures(ctx, 6, 10, kTriad, result);
  auto figures = checked_figures(result);
  ASSERT_TRUE(figures.contains("spmv 216 nodes"));
  ASSERT_TRUE(figures.contains("spmv 216 nodes, 21 contacts"));
  EXPECT_NEAR(figures["spmv 216 nodes"].floor, 1e-9 * kTriad, 1e-9);
  const double product = nodes * (block + 2 * vector + index) + lattice_pairs(n) * (block + index);
  const double inverse = 6 * sizeof(Real);
  EXPECT_NEAR(1e-6 * kTriad * figures["pcg iteration 216 nodes"].floor,
              product + nodes * (9 * vector + inverse), 1e-3);
}

BACKEND_TEST(Benches, AssemblyCountsWhatItMustMove) {
  constexpr double n = 5, nodes = n * n * n, tets = 6 * 4 * 4 * 4;
  BenchResult result;
  add_assembly_figures(ctx, 5, kTriad, result);
  auto figures = checked_figures(result);
  ASSERT_EQ(figures.size(), 3u);
  const double gradient = tets * (16 + sizeof(Mat3) + sizeof(Real) + 4) + nodes * 2 * sizeof(Vec3);
  EXPECT_NEAR(1e-3 * kTriad * figures["384 tets, gradient alone"].floor, gradient, 1e-3);
  EXPECT_NEAR(1e-3 * kTriad * figures["384 tets, gradient and Hessian"].floor,
              gradient + (nodes + lattice_pairs(n)) * sizeof(Mat3), 1e-3);
}

BACKEND_TEST(Benches, QueriesFindTheContactsThatTryingAllPairsFinds) {
  constexpr int side = 2, cells = 3;
  const PackedSurface surface = packed_boxes(side, cells);
  const PackedPairs all = try_all_pairs(surface);
  // Rotated and shifted boxes keep a twelfth of the gap.
  EXPECT_GT(all.closest2, 0.08e-3 * 0.08e-3);
  ASSERT_GT(all.contacts, 100u);

  BenchResult result;
  add_query_figures(ctx, side, cells, kTriad, result);
  auto figures = checked_figures(result);
  const std::string name = "864 triangles packed, ";
  EXPECT_EQ(figures[name + "contacts"].value, static_cast<double>(all.contacts));
  const double candidates = figures[name + "proximity candidates"].value;
  EXPECT_GE(candidates, figures[name + "contacts"].value);
  EXPECT_GE(figures[name + "swept candidates"].value, candidates);
  EXPECT_NEAR(figures[name + "useful share of proximity candidates"].value, 100 * all.contacts / candidates,
              1e-9);
  EXPECT_LT(figures[name + "useful share of swept candidates"].value, 100);
}

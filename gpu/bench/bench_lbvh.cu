#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "gpu/bench/benches.cuh"
#include "gpu/broadphase/broadphase.cuh"
#include "gpu/broadphase/primitive_boxes.cuh"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

constexpr int kRepetitions = 7;
constexpr int kTriangles = 1'000'000;

struct Mesh {
  std::vector<Vec3> x;
  std::vector<Vec3i> triangles;
};

/// A wavy sheet of 2 k^2 triangles, in the order in which a mesh generator leaves it.
Mesh wavy_sheet(int k) {
  Mesh mesh;
  for (int j = 0; j <= k; ++j)
    for (int i = 0; i <= k; ++i) {
      const double u = double(i) / k, v = double(j) / k;
      mesh.x.push_back({Real(u), Real(0.1 * std::sin(20 * u) * std::cos(13 * v)), Real(v)});
    }
  for (int j = 0; j < k; ++j)
    for (int i = 0; i < k; ++i) {
      const int a = j * (k + 1) + i, b = a + 1, c = a + k + 1;
      mesh.triangles.push_back({a, c, b});
      mesh.triangles.push_back({b, c, c + 1});
    }
  return mesh;
}

/// Separate small triangles all over the unit cube: neighbours in space are far apart in memory.
Mesh random_soup(int count) {
  Mesh mesh;
  std::mt19937 rng(1);
  std::uniform_real_distribution<Real> place(0, 1), offset(Real(-0.003), Real(0.003));
  for (int i = 0; i < count; ++i) {
    const Vec3 center{place(rng), place(rng), place(rng)};
    for (int c = 0; c < 3; ++c) mesh.x.push_back(center + Vec3{offset(rng), offset(rng), offset(rng)});
    mesh.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  return mesh;
}

/// The input and output of every stage, once: corners to boxes, boxes to bounds to codes, the sort, boxes to
/// leaf order, and those with the codes to nodes.
double build_bytes(const Mesh& mesh) {
  const double boxes = sizeof(Vec3i) + sizeof(FloatBox), codes = 2 * sizeof(FloatBox) + 8, sort = 16;
  const double gather = 4 + 2 * sizeof(FloatBox), tree = sizeof(FloatBox) + 8 + sizeof(LbvhNode);
  return double(mesh.x.size()) * sizeof(Vec3) +
         double(mesh.triangles.size()) * (boxes + codes + sort + gather + tree);
}

void add_build(Context& ctx, const std::string& name, const Mesh& mesh, double triad, BenchResult& result) {
  const Buffer<Vec3> x(ctx, mesh.x);
  const Buffer<Vec3i> triangles(ctx, mesh.triangles);
  const std::size_t n = triangles.size();
  Buffer<FloatBox> boxes;
  Buffer<std::int32_t> hits(ctx, n);
  Lbvh tree;
  const auto make_boxes = [&] { compute_boxes(ctx, triangles.data(), n, x.data(), nullptr, Real(0), boxes); };
  const auto make_codes = [&] { tree.compute_codes(ctx, boxes.data(), n); };

  const double build = best_seconds(ctx, kRepetitions, [&] {
    make_boxes();
    tree.build(ctx, boxes.data(), n);
  });
  result.figures.push_back({name + ", build", 1e-6 * n / build, "Mtriangles/s",
                            1e-6 * n * triad / build_bytes(mesh), "bytes moved at triad bandwidth"});

  const double stages[] = {best_seconds(ctx, kRepetitions, make_boxes),
                           best_seconds(ctx, kRepetitions, make_codes),
                           best_seconds(ctx, kRepetitions, make_codes, [&] { tree.sort(ctx); }),
                           best_seconds(ctx, kRepetitions, [&] { tree.refit(ctx, boxes.data()); })};
  const char* names[] = {"triangle boxes", "bounds and codes", "sort", "tree and node boxes"};
  const double sum = stages[0] + stages[1] + stages[2] + stages[3];
  for (int s = 0; s < 4; ++s)
    result.figures.push_back({name + ", share of " + names[s], 100 * stages[s] / sum, "%", 0, ""});

  const LbvhView view = tree.view();
  std::int32_t* out = hits.data();
  const double walk = best_seconds(ctx, kRepetitions, [&] {
    launch(
        ctx, n,
        [=] SS_LAMBDA(std::size_t leaf) {
          std::int32_t count = 0;
          traverse(view, view.leaf_boxes[leaf], [&](std::int32_t) { ++count; });
          out[leaf] = count;
        },
        kMedium);
  });
  result.figures.push_back({name + ", box queries", 1e-6 * n / walk, "Mqueries/s", 0, ""});
}

/// A sheet under a shifted copy of itself, close enough that every node has partners.
void add_find(Context& ctx, BenchResult& result) {
  constexpr int k = 50;
  Mesh mesh = wavy_sheet(k);
  const auto node_count = static_cast<std::int32_t>(mesh.x.size());
  const std::size_t triangle_count = mesh.triangles.size();
  for (std::int32_t i = 0; i < node_count; ++i)
    mesh.x.push_back(mesh.x[i] + Vec3{Real(0.003), Real(0.005), Real(0.003)});
  for (std::size_t i = 0; i < triangle_count; ++i)
    mesh.triangles.push_back(mesh.triangles[i] + Vec3i::filled(node_count));

  std::vector<Vec2i> edges;
  std::vector<std::int32_t> nodes;
  for (std::int32_t i = 0; i < 2 * node_count; ++i) {
    const int column = i % node_count % (k + 1), row = i % node_count / (k + 1);
    nodes.push_back(i);
    if (column < k) edges.push_back({i, i + 1});
    if (row < k) edges.push_back({i, i + k + 1});
    if (column > 0 && row < k) edges.push_back({i, i + k});
  }
  const Buffer<Vec3> x(ctx, mesh.x);
  const Buffer<Vec3i> device_triangles(ctx, mesh.triangles);
  const Buffer<Vec2i> device_edges(ctx, edges);
  const Buffer<std::int32_t> device_nodes(ctx, nodes);
  BroadPhase broad_phase;
  broad_phase.set_topology({device_triangles.data(), device_triangles.size(), device_edges.data(),
                            device_edges.size(), device_nodes.data(), device_nodes.size()});
  const double seconds = best_seconds(
      ctx, 10 * kRepetitions, [&] { broad_phase.find(ctx, x.data(), nullptr, Real(0.001), nullptr); });
  result.figures.push_back({"candidates of 10k triangles, 15k edges", 1e3 * seconds, "ms", 0, ""});
}

}  // namespace

BenchResult bench_lbvh(Context& ctx) {
  BenchResult result;
  const double triad = triad_bandwidth(ctx);
  add_build(ctx, "1M triangles of a surface", wavy_sheet(static_cast<int>(std::sqrt(kTriangles / 2))), triad,
            result);
  add_build(ctx, "1M triangles at random", random_soup(kTriangles), triad, result);
  add_find(ctx, result);
  return result;
}

}  // namespace stickslip::STICKSLIP_BACKEND

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bench/benches.cuh"
#include "bench/counted.h"
#include "bench/tree_bytes.cuh"
#include "bench/tree_peer.h"
#include "gpu/broadphase/broadphase.cuh"
#include "gpu/broadphase/primitive_boxes.cuh"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

constexpr int kTreeRuns = 7;

struct Mesh {
  std::vector<Vec3> x;
  std::vector<Vec3i> triangles;
};

/// A wavy sheet of 2 k^2 triangles, in the order of a typical mesh generator.
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

int sheet_side(double triangles) { return static_cast<int>(std::sqrt(triangles / 2)); }

/// Separate small triangles throughout the unit cube: neighbours in space are far apart in memory.
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

double build_bytes(const Mesh& mesh) {
  const auto n = static_cast<double>(mesh.triangles.size());
  return box_bytes<Vec3i>(static_cast<double>(mesh.x.size()), n) + tree_bytes(n);
}

/// Boxes of all triangles, then the tree over them: the work per step for a moving surface.
struct TreeBuild {
  TreeBuild(Context& ctx, const Mesh& mesh) : x(ctx, mesh.x), triangles(ctx, mesh.triangles) {}
  void make_boxes(Context& ctx) {
    compute_boxes(ctx, triangles.data(), triangles.size(), x.data(), nullptr, Real(0), nullptr, boxes);
  }
  void make_tree(Context& ctx) { tree.build(ctx, boxes.data(), boxes.size()); }

  Buffer<Vec3> x;
  Buffer<Vec3i> triangles;
  Buffer<FloatBox> boxes;
  Lbvh tree;
};

#if !STICKSLIP_ON_CUDA
/// Adds Embree as the peer of the last figure: over the same triangles in float, and over the same boxes.
void add_peers(Context& ctx, const std::string& name, const Mesh& mesh, TreeBuild& ours,
               BenchResult& result) {
  if (!embree_present()) {
    result.notes.push_back(name + ": no peer, this build has no Embree");
    return;
  }
  const std::size_t n = mesh.triangles.size();
  const double millions = 1e-6 * static_cast<double>(n);
  std::vector<float> x;
  for (const Vec3& p : mesh.x)
    for (int k = 0; k < 3; ++k) x.push_back(static_cast<float>(p[k]));
  result.figures.back().peer =
      millions /
      embree_scene_seconds({x.data(), mesh.x.size(), mesh.triangles[0].v, n}, ctx.threads(), kTreeRuns);
  result.figures.back().peer_name = "Embree rtcCommitScene low";
  const double from_boxes = best_seconds(ctx, kTreeRuns, [&] { ours.make_tree(ctx); });
  const double theirs = embree_tree_seconds(ours.boxes.data(), n, ctx.threads(), kTreeRuns);
  result.figures.push_back({name + ", boxes to tree", millions / from_boxes, "Mtriangles/s", 0, "",
                            millions / theirs, "Embree rtcBuildBVH low, binary"});
}
#endif

void add_build(Context& ctx, const std::string& name, const Mesh& mesh, double triad, BenchResult& result) {
  TreeBuild ours(ctx, mesh);
  Lbvh& tree = ours.tree;
  const std::size_t n = mesh.triangles.size();
  const auto make_boxes = [&] { ours.make_boxes(ctx); };
  const auto make_codes = [&] { tree.compute_codes(ctx, ours.boxes.data(), n); };

  const double from_triangles = best_seconds(ctx, kTreeRuns, [&] {
    ours.make_boxes(ctx);
    ours.make_tree(ctx);
  });
  result.figures.push_back({name + ", build", 1e-6 * n / from_triangles, "Mtriangles/s",
                            1e-6 * n * triad / build_bytes(mesh), "bytes moved at triad bandwidth"});
#if !STICKSLIP_ON_CUDA
  add_peers(ctx, name, mesh, ours, result);
#endif

  result.figures.push_back(
      {name + ", codes to boxes", 1e3 * best_seconds(ctx, kTreeRuns, [&] { ours.make_tree(ctx); }), "ms",
       1e3 * tree_bytes(static_cast<double>(n)) / triad, "bytes moved at triad bandwidth"});
  const double stages[] = {best_seconds(ctx, kTreeRuns, make_boxes), best_seconds(ctx, kTreeRuns, make_codes),
                           best_seconds(ctx, kTreeRuns, make_codes, [&] { tree.sort(ctx); }),
                           best_seconds(ctx, kTreeRuns, [&] { tree.refit(ctx, ours.boxes.data()); })};
  const char* names[] = {"triangle boxes", "bounds and codes", "sort", "tree and node boxes"};
  const double sum = stages[0] + stages[1] + stages[2] + stages[3];
  for (int s = 0; s < 4; ++s)
    result.figures.push_back({name + ", share of " + names[s], 100 * stages[s] / sum, "%", 0, ""});

  const LbvhView view = tree.view();
  Buffer<std::int32_t> hits(ctx, n);
  std::int32_t* out = hits.data();
  const double walk = best_seconds(ctx, kTreeRuns, [&] {
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

/// A sheet below a shifted copy of itself, close enough that every node has candidates.
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
      ctx, 10 * kTreeRuns, [&] { broad_phase.find(ctx, x.data(), nullptr, Real(0.001), nullptr); });
  result.figures.push_back({"candidates of 10k triangles, 15k edges", 1e3 * seconds, "ms", 0, ""});
}

}  // namespace

void add_tree_figures(Context& ctx, int triangles, bool at_random, double triad, BenchResult& result) {
  const std::string name = counted(triangles) + " triangles ";
  if (at_random) add_build(ctx, name + "at random", random_soup(triangles), triad, result);
  else add_build(ctx, name + "of a surface", wavy_sheet(sheet_side(triangles)), triad, result);
}

BenchResult bench_lbvh(Context& ctx) {
  BenchResult result;
  const double triad = triad_bandwidth(ctx);
  for (const int triangles : {100'000, 1'000'000, 5'000'000})
    add_tree_figures(ctx, triangles, false, triad, result);
  add_tree_figures(ctx, 1'000'000, true, triad, result);
  add_find(ctx, result);
  return result;
}

}  // namespace stickslip::STICKSLIP_BACKEND

#include <stdexcept>
#include <string>

#include "bench/benches.cuh"
#include "bench/counted.h"
#include "bench/packed_boxes.h"
#include "bench/tree_bytes.cuh"
#include "gpu/barrier/contact_set.cuh"
#include "gpu/broadphase/broadphase.cuh"
#include "gpu/ccd/additive.h"
#include "gpu/ccd/step_bound.cuh"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

constexpr int kQueryRuns = 5;

/// The surface in backend memory, with the data that contacts require.
struct QueryScene {
  QueryScene(Context& ctx, const PackedSurface& surface)
      : x(ctx, surface.x),
        p(ctx, surface.p),
        triangles(ctx, surface.triangles),
        edges(ctx, surface.edges),
        nodes(ctx, surface.nodes),
        scripted(ctx, surface.x.size()),
        material(ctx, surface.x.size()),
        mu(ctx, 1),
        alpha(ctx, 1) {
    fill(ctx, scripted.data(), scripted.size(), std::uint8_t{0});
    fill(ctx, material.data(), material.size(), std::int32_t{0});
    fill(ctx, mu.data(), 1, Real(0.3));
    broad_phase.set_topology(
        {triangles.data(), triangles.size(), edges.data(), edges.size(), nodes.data(), nodes.size()});
  }
  Proximity proximity() const {
    return {broad_phase.view(),
            nodes.data(),
            nodes.size(),
            nullptr,
            0,
            scripted.data(),
            x.data(),
            {mu.data(), material.data(), 1, 1}};
  }

  Buffer<Vec3> x, p;
  Buffer<Vec3i> triangles;
  Buffer<Vec2i> edges;
  Buffer<std::int32_t> nodes;
  Buffer<std::uint8_t> scripted;
  Buffer<std::int32_t> material;
  Buffer<Real> mu, alpha;
  BroadPhase broad_phase;
};

std::size_t pair_count(const CandidateView& pairs) {
  return pairs.point_triangle_count + pairs.edge_edge_count;
}

/// Bytes of building both trees from corners, and of the pairs. `vectors` per node: x, or x and p.
double search_bytes(const QueryScene& scene, double vectors) {
  const auto triangles = static_cast<double>(scene.triangles.size()),
             edges = static_cast<double>(scene.edges.size());
  const auto nodes = static_cast<double>(scene.nodes.size());
  return box_bytes<Vec3i>(0, triangles) + tree_bytes(triangles) + box_bytes<Vec2i>(0, edges) +
         tree_bytes(edges) + nodes * (vectors * sizeof(Vec3) + sizeof(std::int32_t)) +
         static_cast<double>(pair_count(scene.broad_phase.view())) * sizeof(Vec4i);
}

}  // namespace

template <class Pair>
std::int32_t count_colliding_pairs(Context& ctx, const Vec4i* pairs, std::size_t n, const Vec3* x,
                                   const Vec3* p, Real slack) {
  Buffer<std::int32_t> count(ctx, 1);
  reduce_sum(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        Pair pair;
        for (int c = 0; c < 4; ++c) {
          pair.x[c] = x[pairs[i][c]];
          pair.p[c] = p[pairs[i][c]];
        }
        return additive::toi(pair, Real(1) - slack, Real(1)) < Real(1) ? 1 : 0;
      },
      count.data());
  return n == 0 ? 0 : read_back(ctx, count.data());
}

namespace {

/// Searches, builds contacts and bounds a step; counts the pairs left after each stage.
class QueryBench {
 public:
  QueryBench(Context& ctx, const PackedSurface& surface, double triad, BenchResult& result)
      : ctx_(ctx),
        scene_(ctx, surface),
        triad_(triad),
        d_hat_(static_cast<Real>(surface.d_hat)),
        name_(counted(static_cast<double>(surface.triangles.size())) + " triangles packed, "),
        result_(result) {}

  void proximity() {
    const double search = find(nullptr, "proximity search", 1);
    const std::size_t candidates = pair_count(scene_.broad_phase.view());
    ContactSet contacts;
    const double build = best_seconds(
        ctx_, kQueryRuns, [&] { contacts.build(ctx_, scene_.proximity(), scene_.x.data(), d_hat_); });
    const auto found = static_cast<double>(contacts.size());
    add_time("contacts of the candidates", build,
             static_cast<double>(candidates) * sizeof(Vec4i) + found * (sizeof(Contact) + sizeof(Vec4i)) +
                 static_cast<double>(scene_.nodes.size()) * sizeof(Vec3));
    add("proximity queries", 1e-6 * queries() / (search + build), "Mqueries/s");
    add("proximity candidates", static_cast<double>(candidates), "pairs");
    add("contacts", found, "stencils");
    add("useful share of proximity candidates", 100 * found / static_cast<double>(candidates), "%");
  }

  void continuous() {
    const double search = find(scene_.p.data(), "swept search", 2);
    const CandidateView pairs = scene_.broad_phase.view();
    const CcdSettings settings;
    const double bound = best_seconds(ctx_, kQueryRuns, [&] {
      step_bound(ctx_, pairs, scene_.x.data(), scene_.p.data(), settings, scene_.alpha.data());
    });
    const Real alpha = read_back(ctx_, scene_.alpha.data());
    if (!(alpha > 0 && alpha < 1)) throw std::runtime_error("queries: the packed boxes do not collide");
    const auto candidates = static_cast<double>(pair_count(pairs));
    add_time("step bound", bound,
             candidates * sizeof(Vec4i) + 2.0 * sizeof(Vec3) * static_cast<double>(scene_.nodes.size()));
    add("ccd queries", 1e-6 * queries() / (search + bound), "Mqueries/s");
    add("ccd pairs", 1e-6 * candidates / bound, "Mpairs/s");
    add("swept candidates", candidates, "pairs");
    const double colliding =
        count_colliding_pairs<PointTriangle<Real>>(ctx_, pairs.point_triangle, pairs.point_triangle_count,
                                                   scene_.x.data(), scene_.p.data(), settings.slack) +
        count_colliding_pairs<EdgeEdge<Real>>(ctx_, pairs.edge_edge, pairs.edge_edge_count, scene_.x.data(),
                                              scene_.p.data(), settings.slack);
    add("useful share of swept candidates", 100 * colliding / candidates, "%");
  }

 private:
  double find(const Vec3* p, const char* what, double vectors) {
    const auto run = [&] {
      scene_.broad_phase.find(ctx_, scene_.x.data(), p, d_hat_, scene_.scripted.data());
    };
    run();  // its buffers grow
    const double seconds = best_seconds(ctx_, kQueryRuns, run);
    add_time(what, seconds, search_bytes(scene_, vectors));
    return seconds;
  }
  /// Node-triangle and edge-edge queries.
  double queries() const { return static_cast<double>(scene_.nodes.size() + scene_.edges.size()); }
  void add(const char* what, double value, const char* unit) {
    result_.figures.push_back({name_ + what, value, unit});
  }
  void add_time(const char* what, double seconds, double bytes) {
    result_.figures.push_back(
        {name_ + what, 1e3 * seconds, "ms", 1e3 * bytes / triad_, "bytes moved at triad bandwidth"});
  }

  Context& ctx_;
  QueryScene scene_;
  double triad_;
  Real d_hat_;
  std::string name_;
  BenchResult& result_;
};

}  // namespace

void add_query_figures(Context& ctx, int side, int cells, double triad, BenchResult& result) {
  QueryBench bench(ctx, packed_boxes(side, cells), triad, result);
  bench.proximity();
  bench.continuous();
}

BenchResult bench_queries(Context& ctx) {
  BenchResult result;
  add_query_figures(ctx, 10, 9, triad_bandwidth(ctx), result);
  return result;
}

}  // namespace stickslip::STICKSLIP_BACKEND

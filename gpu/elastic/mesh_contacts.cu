#include "gpu/elastic/mesh_contacts.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/scan.h"
#include "gpu/core/sort.h"
#include "gpu/core/stage_clock.h"
#include "gpu/core/trace.h"
#include "gpu/elastic/mesh_topology.h"
#include "gpu/elastic/touch_reach.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

SS_HD std::uint32_t mixed(std::uint32_t h, std::int32_t value) {
  h ^= static_cast<std::uint32_t>(value) + 0x9e3779b9u + (h << 6) + (h >> 2);
  h *= 2246822519u;
  return h ^ (h >> 15);
}

/// What a pass over the candidates writes: 1 or 0 for each, or, if `count` is null, the contacts.
struct TouchOutput {
  std::int32_t* count = nullptr;
  const std::int32_t* start = nullptr;  // per candidate and one more
  std::int32_t first = 0;
  RigidContact* contact = nullptr;
  SurfacePoint* point = nullptr;
  Vec4i* quad = nullptr;
  std::uint32_t* key = nullptr;
};

struct TouchPass {
  MeshSurfaceView surface;
  CandidateView pairs;
  TouchOutput out;

  /// A point keeps its name while it moves over one object.
  SS_HD std::uint32_t key_of(const Vec4i& q, bool of_point) const {
    if (of_point) return mixed(mixed(1, q[0]), surface.object[q[1]]);
    std::uint32_t key = 2;
    for (int c = 0; c < 4; ++c) key = mixed(key, q[c]);
    return key;
  }

  SS_HD void operator()(std::size_t i) const {
    const bool of_point = i < pairs.point_triangle_count;
    const Vec4i q = of_point ? pairs.point_triangle[i] : pairs.edge_edge[i - pairs.point_triangle_count];
    if (out.count == nullptr && out.start[i] == out.start[i + 1]) return;
    MeshTouch touch{};
    const bool found = of_point ? touch_point_triangle(surface, q, touch) : touch_edges(surface, q, touch);
    if (out.count != nullptr) {
      out.count[i] = found ? 1 : 0;
      return;
    }
    follow_scripts(surface.scripted, touch.a);
    follow_scripts(surface.scripted, touch.b);
    const std::int32_t k = out.start[i], a = out.first + 2 * k;
    const std::uint32_t key = key_of(q, of_point);
    out.contact[k] = {a, a + 1, touch.point, touch.normal, touch.gap, key, -1};
    out.point[2 * k] = touch.a;
    out.point[2 * k + 1] = touch.b;
    out.quad[k] = q;
    out.key[k] = key;
  }
};

/// One kernel for both passes: compiled apart, rounding could let them disagree.
void pass_candidates(Context& ctx, const MeshSurfaceView& surface, const CandidateView& pairs,
                     const TouchOutput& out) {
  launch(ctx, pairs.point_triangle_count + pairs.edge_edge_count, TouchPass{surface, pairs, out}, kMedium);
}

#if !STICKSLIP_ON_CUDA
/// Candidates [begin, end), all of one kind; those beyond reach do not touch.
void count_pack(const TouchPass& pass, const ReachNode* nodes, std::size_t begin, std::size_t end) {
  const bool of_point = begin < pass.pairs.point_triangle_count;
  const Vec4i* all = of_point ? pass.pairs.point_triangle : pass.pairs.edge_edge;
  const std::size_t first = of_point ? begin : begin - pass.pairs.point_triangle_count;
  Vec4i pack[kLaneCount];
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(kLaneCount); ++lane)
    pack[lane] = all[begin + lane < end ? first + lane : first];
  const WideLanes near = within_reach(pass.surface, nodes, pack, of_point);
  for (std::size_t i = begin; i < end; ++i) {
    if (near.v[i - begin] > 0) pass(i);
    else pass.out.count[i] = 0;
  }
}
#endif

/// The first pass, which counts. On processors most candidates are left out by a bound that takes several at
/// once.
void count_touches(Context& ctx, const MeshSurfaceView& surface, const CandidateView& pairs,
                   [[maybe_unused]] std::size_t node_count, [[maybe_unused]] Buffer<ReachNode>& nodes,
                   std::int32_t* count) {
  TouchOutput out;
  out.count = count;
#if STICKSLIP_ON_CUDA
  pass_candidates(ctx, surface, pairs, out);
#else
  nodes.resize(ctx, node_count);
  ReachNode* of = nodes.data();
  launch(ctx, node_count, [=](std::size_t i) {
    const Vec3d x = surface.at(static_cast<std::int32_t>(i)), v = surface.v[i].template cast<double>();
    const double radius = surface.radius != nullptr ? static_cast<double>(surface.radius[i]) : 0.0;
    const double faces = surface.triangle_start[i] < surface.triangle_start[i + 1] ? 1 : 0;
    of[i] = {{x[0], x[1], x[2]}, {v[0], v[1], v[2]}, radius, faces};
  });
  const TouchPass pass{surface, pairs, out};
  const auto packs = [](std::size_t n) { return (n + kLaneCount - 1) / kLaneCount; };
  const std::size_t points = pairs.point_triangle_count, of_points = packs(points);
  launch(
      ctx, of_points + packs(pairs.edge_edge_count),
      [=](std::size_t k) {
        const std::size_t begin = k < of_points ? k * kLaneCount : points + (k - of_points) * kLaneCount;
        const std::size_t most = k < of_points ? points : points + pass.pairs.edge_edge_count;
        count_pack(pass, of, begin, begin + kLaneCount < most ? begin + kLaneCount : most);
      },
      kMedium);
#endif
}

/// Less what all nodes have in common: candidates depend on relative motions, and boxes of what moves fast
/// would cover all that is near.
void set_motion(Context& ctx, std::size_t n, const Vec3* v, Real dt, Vec3d* sum, Vec3* motion) {
  reduce_sum(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return v[i].template cast<double>(); }, sum, kMedium);
  const double share = n > 0 ? 1.0 / static_cast<double>(n) : 0;
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { motion[i] = dt * (v[i] - (share * *sum).cast<Real>()); });
}

void set_normals(Context& ctx, std::size_t n, const Vec3* x, const Vec3i* triangles,
                 const std::int32_t* start, const std::int32_t* of, Vec3d* normal) {
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        Vec3d sum{0, 0, 0};
        for (std::int32_t k = start[i]; k < start[i + 1]; ++k) {
          const Vec3i t = triangles[of[k]];
          const Vec3d a = x[t[0]].template cast<double>();
          sum += cross(x[t[1]].template cast<double>() - a, x[t[2]].template cast<double>() - a);
        }
        normal[i] = mesh_touch_detail::unit_or_zero(sum);
      },
      kMedium);
}

/// The contacts of the last step, by key.
struct Remembered {
  const std::uint32_t* key;
  const std::int32_t* order;
  const Vec4i* quad;
  std::int32_t count, first;
};

/// Sets `previous`: the contact of the same nodes; else the only one of the same point with the same object.
struct Match {
  Remembered before;
  const Vec4i* quad;
  const std::int32_t* object;
  RigidContact* contact;

  SS_HD bool same_point(const Vec4i& a, const Vec4i& b) const {
    return a[0] == b[0] && object[a[1]] == object[b[1]];
  }
  SS_HD void operator()(std::size_t k) const {
    const std::uint32_t key = contact[k].feature;
    std::int32_t low = 0, high = before.count;
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (before.key[middle] < key) low = middle + 1;
      else high = middle;
    }
    std::int32_t found = -1, alike = -1, count = 0;
    for (; low < before.count && before.key[low] == key; ++low) {
      const std::int32_t place = before.order[low];
      const Vec4i other = before.quad[place], own = quad[k];
      if (other[0] == own[0] && other[1] == own[1] && other[2] == own[2] && other[3] == own[3]) found = place;
      if (same_point(own, other)) alike = place;
      ++count;
    }
    if (found < 0 && count == 1) found = alike;
    if (found >= 0) contact[k].previous = before.first + found;
  }
};

void number(Context& ctx, std::size_t n, std::int32_t* order) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { order[i] = static_cast<std::int32_t>(i); });
}

}  // namespace

void MeshContacts::load(Context& ctx, const Model& solids) {
  const MeshTopology topology = mesh_topology(solids);
  triangle_start_.upload(ctx, topology.triangle_start);
  triangle_of_.upload(ctx, topology.triangle_of);
  edge_start_.upload(ctx, topology.edge_start);
  opposite_.upload(ctx, topology.opposite);
  sheet_.upload(ctx, topology.sheet);
  wires_.upload(ctx, topology.wires);
  strand_.upload(ctx, topology.strand);
  mean_edge_ = topology.mean_edge;
  triangles_ = solids.triangles.size();
  contacts_.resize(ctx, 0);
  forget();
}

MeshSurfaceView MeshContacts::view(Context& ctx, const Input& in, const Options& options) {
  const DeviceModel& m = *in.solids;
  const double margin = this->margin(options.margin);
  normal_.resize(ctx, m.node_count);
  set_normals(ctx, m.node_count, in.x, m.triangles.data(), triangle_start_.data(), triangle_of_.data(),
              normal_.data());
  return {in.x,
          in.v,
          m.rest.data(),
          normal_.data(),
          m.node_object.data(),
          sheet_.data(),
          triangle_start_.data(),
          triangle_of_.data(),
          m.triangles.data(),
          edge_start_.data(),
          m.edges.data(),
          opposite_.data(),
          margin,
          margin,
          options.dt,
          m.radius.data(),
          m.faces.size() > 0,
          wires_.data(),
          strand_.data(),
          m.scripted.data()};
}

void MeshContacts::find(Context& ctx, const Input& in, const Options& options) {
  const Span span(ctx, "mesh contacts");
  const DeviceModel& m = *in.solids;
  quads_.swap(quads_before_);
  keys_.swap(keys_before_);
  const MeshSurfaceView surface = view(ctx, in, options);
  motion_.resize(ctx, m.node_count);
  velocity_sum_.resize(ctx, 1);
  set_motion(ctx, m.node_count, in.v, static_cast<Real>(options.dt), velocity_sum_.data(), motion_.data());
  const Buffer<Vec3i>& faces = m.contact_faces();
  broad_phase_.set_topology({faces.data(), faces.size(), m.edges.data(), m.edges.size(),
                             m.surface_nodes.data(), m.surface_nodes.size(), m.radius.data()});
  search_seconds_ = 0;
  StageClock clock;
  broad_phase_.find(ctx, in.x, motion_.data(), static_cast<Real>(surface.margin), pair_filter(m));
  clock.lap(search_seconds_);
  const CandidateView pairs = broad_phase_.view();
  candidates_ = pairs.point_triangle_count + pairs.edge_edge_count;
  start_.resize(ctx, candidates_ + 1);
  count_touches(ctx, surface, pairs, m.node_count, reach_, start_.data());
  exclusive_scan(ctx, candidates_, start_.data(), start_.data());
  const std::size_t found =
      candidates_ == 0 ? 0 : static_cast<std::size_t>(read_back(ctx, start_.data() + candidates_));
  contacts_.resize(ctx, found);
  points_.resize(ctx, 2 * found);
  quads_.resize(ctx, found);
  keys_.resize(ctx, found);
  pass_candidates(
      ctx, surface, pairs,
      {nullptr, start_.data(), in.first, contacts_.data(), points_.data(), quads_.data(), keys_.data()});
  if (known_) match(ctx, in);
  known_ = true;
}

void MeshContacts::match(Context& ctx, const Input& in) {
  const std::size_t before = keys_before_.size();
  order_.resize(ctx, before);
  number(ctx, before, order_.data());
  sort_pairs(ctx, before, keys_before_.data(), order_.data());
  launch(ctx, contacts_.size(),
         Match{{keys_before_.data(), order_.data(), quads_before_.data(), static_cast<std::int32_t>(before),
                in.previous},
               quads_.data(),
               in.solids->node_object.data(),
               contacts_.data()},
         kMedium);
}

}  // namespace stickslip::STICKSLIP_BACKEND

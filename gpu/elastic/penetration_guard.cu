#include "gpu/elastic/penetration_guard.cuh"

#include "gpu/broadphase/model_filter.cuh"
#include "gpu/broadphase/primitive_boxes.cuh"
#include "gpu/core/atomics.h"
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/scan.h"
#include "gpu/core/trace.h"
#include "gpu/elastic/scripted_pair.h"
#include "gpu/geometry/segment_triangle.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr int kPasses = 12;
// Of GuardedMotion::caution from pass to pass: a pair that stopped must not cross again by rounding.
constexpr Real kLessCautious = Real(0.8);

/// Marks the nodes of edges and of the triangles that they pass through.
void mark_tangled(Context& ctx, const SurfaceView& surface, const LbvhView& tree, const Vec3* x,
                  const PairFilter& filter, std::int32_t* tangled) {
  launch(
      ctx, surface.edge_count,
      [=] SS_LAMBDA(std::size_t i) {
        const Vec2i e = surface.edges[i];
        traverse(tree, swept_box(e, x, nullptr, Real(0)), [&](std::int32_t k) {
          const Vec3i t = surface.triangles[k];
          if (never_touch(e, t, filter)) return;
          if (!segment_intersects_triangle(x[e[0]], x[e[1]], x[t[0]], x[t[1]], x[t[2]])) return;
          for (int c = 0; c < 2; ++c) atomic_max(tangled + e[c], 1);
          for (int c = 0; c < 3; ++c) atomic_max(tangled + t[c], 1);
        });
      },
      kMedium);
}

/// end = x + dt v.
void set_end(Context& ctx, std::size_t n, const Vec3* x, const Vec3* v, Real dt, Vec3* end) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { end[i] = x[i] + dt * v[i]; });
}
/// full = full - x, and the same in p.
void set_displacement(Context& ctx, std::size_t n, const Vec3* x, Vec3* full, Vec3* p) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { p[i] = full[i] -= x[i]; });
}

/// Lowers `first` at each surface node to its time of impact with the half-spaces.
void stop_at_planes(Context& ctx, const DeviceModel& m, const GuardedMotion& motion,
                    const std::uint8_t* of_collider, std::int32_t* first) {
  const std::int32_t* node = m.surface_nodes.data();
  const Plane* planes = m.planes.data();
  const std::size_t count = m.planes.size();
  if (count == 0) return;
  launch(ctx, m.surface_nodes.size(), [=] SS_LAMBDA(std::size_t k) {
    const std::int32_t i = node[k];
    if (of_collider[i] != 0) return;
    for (std::size_t h = 0; h < count; ++h) {
      const std::int32_t t = ticks(time_of_impact(motion, planes[h], i));
      if (t < first[i]) first[i] = t;
    }
  });
}

template <class Pair>
void stop_at_pairs(Context& ctx, const Vec4i* pairs, std::size_t n, const GuardedMotion& motion,
                   const std::uint8_t* scripted, Real* time, std::int32_t* first) {
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        const Vec4i q = pairs[i];
        time[i] = time_beside_scripts<Pair>(motion, scripted, q);
        if (time[i] < kSafe)
          for (int c = 0; c < 4; ++c) atomic_min(first + q[c], ticks(time[i]));
      },
      kMedium);
}

/// Whether pair i crosses, and none of its nodes crosses another pair or a half-space before. One that is
/// not the first does not become a contact: the first ones turn its nodes away.
struct IsFirst {
  CandidateView pairs;
  const Real* time;
  const std::int32_t* first;

  SS_HD Vec4i nodes(std::size_t i) const {
    return i < pairs.point_triangle_count ? pairs.point_triangle[i]
                                          : pairs.edge_edge[i - pairs.point_triangle_count];
  }
  SS_HD bool operator()(std::size_t i) const {
    if (!(time[i] < kSafe)) return false;
    const Vec4i q = nodes(i);
    const std::int32_t t = ticks(time[i]);
    for (int c = 0; c < 4; ++c)
      if (t <= first[q[c]]) return true;
    return false;
  }
};

struct AddGuardTotals {
  SS_HD GuardTotals operator()(const GuardTotals& a, const GuardTotals& b) const {
    return {a.crossing + b.crossing,   a.crossing_body + b.crossing_body, a.stopped + b.stopped,
            a.unguarded + b.unguarded, a.shortened + b.shortened,         a.cut > b.cut ? a.cut : b.cut};
  }
};

/// [m] By how far the points of a body fall short, at most.
struct BodyCut {
  const Vec<double, 3>*velocity, *spin;
  const double *share, *radius;
  double dt;

  SS_HD double operator()(std::size_t b) const {
    return (1 - share[b]) * dt * (norm(velocity[b]) + radius[b] * norm(spin[b]));
  }
};

/// Of the pairs of primitives, the triangles and shapes, the nodes and the bodies, in this order.
struct CountGuard {
  IsFirst is_first;
  IsFirstOfBody is_first_of_body;
  std::size_t pairs, with_bodies, nodes;
  const Vec3 *full, *p;
  BodyCut body_cut;

  SS_HD GuardTotals operator()(std::size_t i) const {
    if (i < pairs) return of_pair(is_first.time[i], is_first(i), &GuardTotals::crossing);
    i -= pairs;
    if (i < with_bodies)
      return of_pair(is_first_of_body.time[i], is_first_of_body(i), &GuardTotals::crossing_body);
    i -= with_bodies;
    return of_mover(is_first.first[i],
                    i < nodes ? static_cast<double>(norm(full[i] - p[i])) : body_cut(i - nodes));
  }
  SS_HD static GuardTotals of_pair(Real time, bool crosses, std::int32_t GuardTotals::*crossing) {
    GuardTotals t;
    t.*crossing = crosses ? 1 : 0;
    t.unguarded = time > kSafe ? 1 : 0;
    return t;
  }
  /// A node or a body.
  SS_HD static GuardTotals of_mover(std::int32_t first, double cut) {
    GuardTotals t;
    t.stopped = first < kTicks ? 1 : 0;
    t.cut = cut;
    t.shortened = cut > 0 ? 1 : 0;
    return t;
  }
};

void set_flags(Context& ctx, std::size_t n, const IsFirst& is_first, std::int32_t* flag) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { flag[i] = is_first(i) ? 1 : 0; });
}

/// The crossing_contact of a pair as far as scripts allow it to keep apart.
template <class Pair>
SS_HD RigidContact allowed_contact(const GuardedMotion& m, const std::uint8_t* scripted, const Vec4i& q,
                                   Real t, SurfacePoint* sides) {
  return crossing_contact<Pair>(beside_scripts<Pair>(m, scripted, q), q, t, sides[0], sides[1]);
}

void write_crossings(Context& ctx, std::size_t n, const IsFirst& is_first, const GuardedMotion& motion,
                     const std::uint8_t* scripted, const std::int32_t* start, RigidContact* contact,
                     SurfacePoint* point) {
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        const std::int32_t k = start[i];
        if (k == start[i + 1]) return;
        const Vec4i q = is_first.nodes(i);
        const Real t = is_first.time[i];
        contact[k] = i < is_first.pairs.point_triangle_count
                         ? allowed_contact<PointTriangle<Real>>(motion, scripted, q, t, point + 2 * k)
                         : allowed_contact<EdgeEdge<Real>>(motion, scripted, q, t, point + 2 * k);
      },
      kMedium);
}

/// *least = the least of n times.
void find_least(Context& ctx, std::size_t n, const std::int32_t* first, std::int32_t* least) {
  reduce_min(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return first[i]; }, kTicks, least);
}

/// Nodes that move together stop together.
void share_first(Context& ctx, std::size_t n, const std::int32_t* owner, std::int32_t* first) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    if (owner[i] != static_cast<std::int32_t>(i) && first[i] < kTicks) atomic_min(first + owner[i], first[i]);
  });
}
void scale_nodes(Context& ctx, std::size_t n, const std::int32_t* owner, const std::int32_t* first, Vec3* p) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    if (first[owner[i]] < kTicks) p[i] = time_of(first[owner[i]]) * p[i];
  });
}
void scale_by(Context& ctx, std::size_t n, const std::int32_t* least, Vec3* p) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { p[i] = time_of(*least) * p[i]; });
}
void move_by(Context& ctx, std::size_t n, const Vec3* p, Vec3* x) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { x[i] += p[i]; });
}

}  // namespace

void PenetrationGuard::load(Context& ctx, const Model& solids, const std::vector<Vec2i>& exempt) {
  bodies_.load(ctx, solids, exempt);
  std::vector<std::int32_t> owner(solids.node_count());
  std::vector<std::uint8_t> of_collider(solids.node_count(), 0);
  for (std::size_t i = 0; i < owner.size(); ++i) owner[i] = static_cast<std::int32_t>(i);
  for (const Object& object : solids.objects) {
    if (!object.is_affine() && !object.is_embedded() && !object.is_collider()) continue;
    const std::int32_t one = object.is_affine() ? object.control_begin : object.node_begin;
    for (std::int32_t n = object.node_begin; n < object.node_end; ++n)
      owner[static_cast<std::size_t>(n)] = one;
    for (std::int32_t k = 0; object.is_affine() && k < 4; ++k) owner[static_cast<std::size_t>(one + k)] = one;
  }
  owner_.upload(ctx, owner);
  of_collider_.upload(ctx, of_collider);
  tangled_.resize(ctx, owner.size());
  fill(ctx, tangled_.data(), owner.size(), std::int32_t(0));
  for (Buffer<Vec3>* b : {&full_, &p_}) b->resize(ctx, owner.size());
  least_.resize(ctx, 1);
  totals_.resize(ctx, 1);
  forget();
}

SurfaceView PenetrationGuard::surface(const Input& in) const {
  const DeviceModel& m = *in.solids;
  return {m.triangles.data(),     m.triangles.size(),     m.edges.data(), m.edges.size(),
          m.surface_nodes.data(), m.surface_nodes.size(), m.radius.data()};
}

GuardedMotion PenetrationGuard::motion(const Input& in, Real caution) const {
  const DeviceModel& m = *in.solids;
  return {in.x,
          p_.data(),
          tangled_.data(),
          m.rest.data(),
          m.node_object.data(),
          m.radius.data(),
          static_cast<Real>(in.keep),
          caution};
}

std::size_t PenetrationGuard::pairs() const {
  const CandidateView view = broad_phase_.view();
  return view.point_triangle_count + view.edge_edge_count;
}

void PenetrationGuard::begin(Context& ctx, const Input& in) {
  const Span span(ctx, "guard begin");
  const SurfaceView all = surface(in);
  const PairFilter filter = pair_filter(*in.solids);
  if (!known_) clean_ = check_.run(ctx, all, in.x, filter).count == 0;
  known_ = true;
  if (marked_) fill(ctx, tangled_.data(), tangled_.size(), std::int32_t(0));
  marked_ = !clean_;
  if (clean_) return;
  compute_boxes(ctx, all.triangles, all.triangle_count, in.x, nullptr, Real(0), nullptr, boxes_);
  tree_.build(ctx, boxes_.data(), all.triangle_count);
  mark_tangled(ctx, all, tree_.view(), in.x, filter, tangled_.data());
}

/// Sets the displacement of the whole step and its pairs.
void PenetrationGuard::aim(Context& ctx, const Input& in) {
  const std::size_t n = full_.size();
  set_end(ctx, n, in.x, in.v, static_cast<Real>(in.dt), full_.data());
  in.embedding->expand(ctx, full_.data());
  set_displacement(ctx, n, in.x, full_.data(), p_.data());
  broad_phase_.set_topology(surface(in));
  broad_phase_.find(ctx, in.x, p_.data(), static_cast<Real>(in.keep), pair_filter(*in.solids));
  bodies_.find(ctx, of_bodies(in), in.x, p_.data(), static_cast<Real>(in.keep));
}

/// Times of impact along p. One host read.
GuardTotals PenetrationGuard::measure(Context& ctx, const Input& in, Real caution) {
  const CandidateView view = broad_phase_.view();
  const GuardedMotion m = motion(in, caution);
  const std::uint8_t* scripted = in.solids->scripted.data();
  const std::size_t movers = full_.size() + bodies_.bodies();
  time_.resize(ctx, pairs());
  first_.resize(ctx, movers);
  fill(ctx, first_.data(), movers, kTicks);
  stop_at_planes(ctx, *in.solids, m, of_collider_.data(), first_.data());
  stop_at_pairs<PointTriangle<Real>>(ctx, view.point_triangle, view.point_triangle_count, m, scripted,
                                     time_.data(), first_.data());
  stop_at_pairs<EdgeEdge<Real>>(ctx, view.edge_edge, view.edge_edge_count, m, scripted,
                                time_.data() + view.point_triangle_count, first_.data());
  bodies_.measure(ctx, of_bodies(in), m, first_.data());
  const CountGuard count{{view, time_.data(), first_.data()},
                         bodies_.is_first(of_bodies(in), first_.data()),
                         pairs(),
                         bodies_.candidates(),
                         full_.size(),
                         full_.data(),
                         p_.data(),
                         {in.motion.velocity, in.motion.spin, bodies_.shares(), in.shapes.radius, in.dt}};
  reduce(ctx, pairs() + bodies_.candidates() + movers, count, AddGuardTotals{}, GuardTotals{}, totals_.data(),
         kMedium);
  return read_back(ctx, totals_.data());
}

PenetrationGuard::Crossings PenetrationGuard::find(Context& ctx, const Input& in) {
  const Span span(ctx, "guard find");
  aim(ctx, in);
  found_ = measure(ctx, in, Real(1));
  const Crossings count{static_cast<std::size_t>(found_.crossing),
                        static_cast<std::size_t>(found_.crossing_body)};
  if (count.between_meshes > 0) write_contacts(ctx, in, count.between_meshes);
  bodies_.write_contacts(ctx, of_bodies(in), motion(in, Real(1)), first_.data(), count.with_bodies);
  return count;
}

void PenetrationGuard::write_contacts(Context& ctx, const Input& in, std::size_t count) {
  const std::size_t n = pairs();
  const IsFirst is_first{broad_phase_.view(), time_.data(), first_.data()};
  start_.resize(ctx, n + 1);
  set_flags(ctx, n, is_first, start_.data());
  exclusive_scan(ctx, n, start_.data(), start_.data());
  contacts_.resize(ctx, count);
  points_.resize(ctx, 2 * count);
  write_crossings(ctx, n, is_first, motion(in, Real(1)), in.solids->scripted.data(), start_.data(),
                  contacts_.data(), points_.data());
}

void PenetrationGuard::scale(Context& ctx) {
  share_first(ctx, p_.size(), owner_.data(), first_.data());
  scale_nodes(ctx, p_.size(), owner_.data(), first_.data(), p_.data());
  bodies_.scale(ctx, first_.data() + p_.size(), nullptr);
}

/// All nodes and bodies by the least time of impact, so that every pair moves along its path.
void PenetrationGuard::scale_all(Context& ctx) {
  find_least(ctx, first_.size(), first_.data(), least_.data());
  scale_by(ctx, p_.size(), least_.data(), p_.data());
  bodies_.scale(ctx, nullptr, least_.data());
}

void PenetrationGuard::shorten(Context& ctx, const Input& in, GuardRecord& record) {
  GuardTotals totals = found_;
  Real caution = 1;
  for (int pass = 0; pass < kPasses && totals.stopped > 0; ++pass) {
    scale(ctx);
    totals = measure(ctx, in, caution *= kLessCautious);
  }
  if (totals.stopped > 0) {
    scale_all(ctx);
    totals = measure(ctx, in, caution * kLessCautious);
  }
  record.shortened = totals.shortened;
  record.cut = totals.cut;
}

void PenetrationGuard::move(Context& ctx, const Input& in, GuardRecord& record) {
  const Span span(ctx, "guard move");
  record.unguarded = found_.unguarded;
  if (found_.stopped > 0) shorten(ctx, in, record);
  move_by(ctx, p_.size(), p_.data(), in.x);
  in.embedding->expand(ctx, in.x);
  record.intersections = static_cast<int>(check_.run(ctx, surface(in), in.x, pair_filter(*in.solids)).count);
  known_ = true;
  clean_ = record.intersections == 0;
}

}  // namespace stickslip::STICKSLIP_BACKEND

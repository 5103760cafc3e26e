#include "gpu/rigid/nodal_projection.cuh"

#include <cmath>

#include "gpu/core/launch.h"
#include "gpu/core/trace.h"
#include "gpu/law/local_facets.h"
#include "gpu/law/local_solve.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

struct PointFinder {
  const SurfacePoint* at;
  const double* weight;
  bool has_bodies;  // affine ones
  EmbeddingView embedding;
  NodalPoint* out;

  SS_HD void operator()(std::size_t k) const {
    NodalPoint p;
    for (int c = 0; c < 3; ++c) {
      const std::int32_t node = at[k].nodes[c];
      const double b = at[k].weights[c];
      if (node < 0) continue;
      if (!has_bodies || !embedding.is_embedded(node)) {
        p.add(node, b, weight[node]);
        continue;
      }
      const Vec<Real, kMostLeaders>& shares = embedding.weights(node);
      const Leaders& controls = embedding.controls(node);
      for (int j = 0; j < 4; ++j) p.add(controls[j], b * static_cast<double>(shares[j]), weight[controls[j]]);
    }
    out[k] = p;
  }
};

/// Finds the NodalContact of block order[i], or prepares the solver of full blocks for it.
template <int D>
struct BlockPreparer {
  NodalRows<D> rows;
  const ContactLaw<D>* law;
  const Vec<double, D>* q;
  const double* weight;
  const std::int32_t* order;
  NodalContact* contacts;
  Mat<double, D>* diagonal;
  LocalData<D>* local;
  double* slip;
  bool closed;

  SS_HD void operator()(std::size_t i) const {
    const auto c = static_cast<std::size_t>(order[i]);
    NodalContact contact;
    if constexpr (D == 3)
      if (closed && is_circular(law[c]) && law[c].flow == FlowRule::exact && find(c, contact)) {
        contacts[i] = contact;
        return;
      }
    contacts[i] = {};
    diagonal[c] = rows.diagonal(c);
    local[c] = prepare_local(law[c], diagonal[c]);
    slip[c] = 0;
  }

 private:
  /// False if a rigid body, compliance, more than four nodes or rows that are no axes take part.
  SS_HD bool find(std::size_t c, NodalContact& out) const {
    const std::int64_t axes = rows.axes(c);
    if (axes < 0) return false;
    for (int i = 0; i < D; ++i)
      if (rows.rows.compliance[c][i] != 0) return false;
    const auto first = static_cast<std::size_t>(axes);
    int count = 0;
    for (std::size_t e = 2 * c; e < 2 * c + 2; ++e) {
      if (rows.body(e) < 0) continue;
      if (!rows.is_particle(rows.body(e))) return false;
      const double sign = rows.sign(e, first);
      if (sign == 0) return false;
      const NodalPoint& p = rows.point_of(rows.body(e));
      for (int k = 0; k < 4 && p.nodes[k] >= 0; ++k) {
        int slot = 0;
        while (slot < count && out.nodes[slot] != p.nodes[k]) ++slot;
        if (slot == 4) return false;
        if (slot == count) ++count;
        out.nodes[slot] = p.nodes[k];
        out.weights[slot] += sign * p.weights[k];
      }
    }
    for (int k = 0; k < count; ++k) {
      out.shares[k] = out.weights[k] / weight[out.nodes[k]];
      out.s += out.weights[k] * out.shares[k];
    }
    if (!(out.s > 0)) return false;
    for (int k = 0; k < count; ++k) out.shares[k] /= out.s;
    for (int k = count; k < 4; ++k) out.nodes[k] = out.nodes[0];
    for (int j = 0; j < 3; ++j) out.normal[j] = rows.row(first, 0)[j];
    out.q = rows.to_world(first, q[c]);
    out.mu = law[c].mu[0];
    return true;
  }
};

/// The nodes and bodies that block c moves.
template <int D>
struct TouchLister {
  NodalRows<D> rows;
  std::int32_t first_body;  // behind the nodes
  Vec4i* out;

  SS_HD void operator()(std::size_t e) const {
    out[e] = {-1, -1, -1, -1};
    const std::int32_t b = rows.body(e);
    if (b < 0) return;
    if (rows.is_particle(b)) out[e] = rows.point_of(b).nodes;
    else out[e][0] = first_body + b;
  }
};

#if STICKSLIP_ON_CUDA
/// Calls f(block) for the blocks that share a node or a body with block c, some more than once.
template <class F>
SS_HD void visit_conflicts(const NodeGather::Runs& runs, const Vec4i* touched, std::size_t c, F f) {
  for (std::size_t e = 2 * c; e < 2 * c + 2; ++e)
    for (int k = 0; k < 4; ++k) {
      if (touched[e][k] < 0) continue;
      const std::int32_t run = runs.first_from(static_cast<std::uint32_t>(touched[e][k]));
      for (std::int32_t i = runs.begin[run]; i < runs.begin[run + 1]; ++i) f(runs.corner[i] / 8);
    }
}

struct ConflictCount {
  NodeGather::Runs runs;
  const Vec4i* touched;
  std::int32_t* out;

  SS_HD void operator()(std::size_t c) const {
    std::int32_t n = 0;
    visit_conflicts(runs, touched, c, [&](std::int32_t) { ++n; });
    out[c] = n;
  }
};

struct ConflictList {
  NodeGather::Runs runs;
  const Vec4i* touched;
  const std::int32_t* start;
  std::int32_t* out;

  SS_HD void operator()(std::size_t c) const {
    std::int32_t at = start[c];
    visit_conflicts(runs, touched, c, [&](std::int32_t block) { out[at++] = block; });
  }
};

struct One {
  SS_HD std::int32_t operator()(std::int32_t) const { return 1; }
};
#endif

void clear_where_zero(Context& ctx, std::size_t n, const std::int32_t* count, double* weight) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    if (count[i] == 0) weight[i] = 0;
  });
}

/// Block i of a colour.
template <int D>
struct SweepBlock {
  const NodalContact* contacts;
  const std::int32_t* order;
  Vec<double, D>* r;
  std::int32_t* asleep;
  NodalRows<D> rows;
  const ContactLaw<D>* law;
  const Vec<double, D>* q;
  const Mat<double, D>* diagonal;
  const LocalData<D>* local;
  double* slip;
  Vec3d* node;
  double* bodies;
  std::int32_t sleep;  // sweeps
  double least;        // [m/s]
  ProjectionRule rule;
  int facets;

  SS_HD void operator()(std::size_t i) const {
    if (asleep[i] > 0) {
      --asleep[i];
      return;
    }
    const NodalContact& contact = contacts[i];
    if constexpr (D == 3)
      if (contact.s > 0) return solve_closed(i, contact);
    solve_full(i);
  }

 private:
  /// What a block takes back before it is solved.
  SS_HD Vec<double, D> taken(std::size_t i) const {
    return rule == ProjectionRule::impulses ? r[i] : Vec<double, D>::zero();
  }

  SS_HD void solve_closed(std::size_t i, const NodalContact& contact) const {
    const Vec3d last = taken(i), u_free = contact.velocity(node) - last;
    const Vec3d next = facets > 0
                           ? contact.scaled_impulse(u_free, rows.to_world(axes_of(i), {0, 1, 0}), facets)
                           : contact.scaled_impulse(u_free);
    const Vec3d change = next - last;
    contact.push(change, node);
    r[i] += change;
    if (norm2(change) < least * least) asleep[i] = sleep;
  }

  SS_HD void solve_full(std::size_t i) const {
    const auto c = static_cast<std::size_t>(order[i]);
    const Vec<double, D> last = taken(i);
    Vec<double, D> u = rows.times(c, node, bodies) + q[c];
    for (int j = 0; j < D; ++j) u[j] += rows.rows.compliance[c][j] * r[i][j];
    const Vec<double, D> u_free = u - diagonal[c] * last;
    const Vec<double, D> next = facets > 0 && has_facets(law[c])
                                    ? solve_facets(law[c], facets, diagonal[c], u_free, last)
                                    : local_solve(law[c], local[c], u_free, slip[c]);
    const Vec<double, D> change = next - last;
    rows.push(c, change, node, bodies);
    r[i] += change;
    if (least > 0 && norm(diagonal[c] * change) < least) asleep[i] = sleep;
  }

  SS_HD std::size_t axes_of(std::size_t i) const {
    return static_cast<std::size_t>(rows.axes(static_cast<std::size_t>(order[i])));
  }
};

/// r of block order[i] between its own axes and those of the sweeps.
template <int D>
struct Turner {
  NodalRows<D> rows;
  const NodalContact* contacts;
  const std::int32_t* order;

  SS_HD Vec<double, D> to_sweeps(std::size_t i, const Vec<double, D>* own) const {
    const auto c = static_cast<std::size_t>(order[i]);
    if constexpr (D == 3)
      if (contacts[i].s > 0)
        return contacts[i].s * rows.to_world(static_cast<std::size_t>(rows.axes(c)), own[c]);
    return own[c];
  }
  SS_HD Vec<double, D> to_own(std::size_t i, const Vec<double, D>& r) const {
    const auto c = static_cast<std::size_t>(order[i]);
    if constexpr (D == 3)
      if (contacts[i].s > 0)
        return (1 / contacts[i].s) * rows.to_axes(static_cast<std::size_t>(rows.axes(c)), r);
    return r;
  }
};

template <int D>
void turn_to_sweeps(Context& ctx, std::size_t n, const Turner<D>& turn, const Vec<double, D>* own,
                    Vec<double, D>* r) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { r[i] = turn.to_sweeps(i, own); });
}

template <int D>
void turn_to_own(Context& ctx, std::size_t n, const Turner<D>& turn, const Vec<double, D>* r,
                 Vec<double, D>* own) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { own[turn.order[i]] = turn.to_own(i, r[i]); });
}

/// One more than the last colour of those that are solved in one launch with colour k. On processors one
/// thread takes a colour of few blocks, and also those that follow with as few, in their order.
int end_of_batch([[maybe_unused]] const Colouring& colouring, int k) {
#if !STICKSLIP_ON_CUDA
  const auto is_small = [&](int c) { return colouring.offset(c + 1) - colouring.offset(c) <= kMedium.size; };
  while (k + 1 < colouring.colours() && is_small(k) && is_small(k + 1)) ++k;
#endif
  return k + 1;
}

}  // namespace

template <int D>
void NodalProjection<D>::build(Context& ctx, const Input& in) {
  const Span span(ctx, "nodal projection");
  blocks_ = in.W.blocks();
  law_ = in.law;
  rule_ = in.rule;
  facets_ = in.facets;
  find_points(ctx, in);
  rows_ = {in.W.body_rows(), static_cast<std::int64_t>(in.rigid), points_.data()};
  q_.resize(ctx, blocks_);
  copy(ctx, q_.data(), in.W.q(), blocks_);
  r.resize(ctx, blocks_);
  node.resize(ctx, in.node_count);
  bodies.resize(ctx, 6 * in.W.bodies());
  rigid_ = in.rigid;
  if (blocks_ == 0) return;
  colour(ctx, in.node_count);
  prepare_blocks(ctx, in);
}

template <int D>
void NodalProjection<D>::find_points(Context& ctx, const Input& in) {
  points_.resize(ctx, in.point_count);
  launch(ctx, in.point_count,
         PointFinder{in.points, in.weight, !in.embedding.empty(), in.embedding.view(), points_.data()});
}

template <int D>
void NodalProjection<D>::prepare_blocks(Context& ctx, const Input& in) {
  contacts_.resize(ctx, blocks_);
  diagonal_.resize(ctx, blocks_);
  local_.resize(ctx, blocks_);
  slip_.resize(ctx, blocks_);
  asleep_.resize(ctx, blocks_);
  launch(ctx, blocks_,
         BlockPreparer<D>{rows_, law_, q_.data(), in.weight, colouring_.order(), contacts_.data(),
                          diagonal_.data(), local_.data(), slip_.data(), in.isotropic},
         kMedium);
}

template <int D>
void NodalProjection<D>::colour(Context& ctx, std::size_t node_count) {
  touched_.resize(ctx, 2 * blocks_);
  launch(ctx, 2 * blocks_, TouchLister<D>{rows_, static_cast<std::int32_t>(node_count), touched_.data()});
  touch_count_.resize(ctx, node_count + rigid_);
#if STICKSLIP_ON_CUDA
  gather_.build(ctx, touched_.data(), 2 * blocks_, node_count + rigid_);
  fill(ctx, touch_count_.data(), touch_count_.size(), std::int32_t{0});
  gather_.sum(ctx, One{}, touch_count_.data());
  conflict_start_.resize(ctx, blocks_ + 1);
  std::int32_t* start = conflict_start_.data();
  launch(ctx, blocks_, ConflictCount{gather_.runs(), touched_.data(), start}, kMedium);
  conflict_.resize(ctx, start_neighbours(ctx, blocks_, start, "take coupling = rounds"));
  launch(ctx, blocks_, ConflictList{gather_.runs(), touched_.data(), start, conflict_.data()}, kMedium);
  colouring_.build(ctx, {blocks_, start, conflict_.data()});
#else
  const TouchedVertices of{blocks_, node_count + rigid_, touched_.data()};
  count_touches(of, touch_count_.data());
  colouring_.build(ctx, of, touch_count_.data());
#endif
}

template <int D>
void NodalProjection<D>::clear_untouched(Context& ctx, double* weight) {
  if (blocks_ > 0) clear_where_zero(ctx, node.size(), touch_count_.data(), weight);
  else fill(ctx, weight, node.size(), 0.0);
}

template <int D>
void NodalProjection<D>::start(Context& ctx, const Delassus<D>& W, const Vec<double, D>* impulses) {
  if (blocks_ == 0) return fill(ctx, bodies.data(), bodies.size(), 0.0);
  turn_to_sweeps(ctx, blocks_, Turner<D>{rows_, contacts_.data(), colouring_.order()}, impulses, r.data());
  if (rigid_ > 0) W.body_velocities(ctx, impulses, bodies.data());
}

template <int D>
void NodalProjection<D>::start_without_impulses(Context& ctx) {
  fill(ctx, r.data(), blocks_, Vec<double, D>::zero());
  fill(ctx, bodies.data(), bodies.size(), 0.0);
}

template <int D>
void NodalProjection<D>::impulses(Context& ctx, Vec<double, D>* out) const {
  if (blocks_ > 0)
    turn_to_own(ctx, blocks_, Turner<D>{rows_, contacts_.data(), colouring_.order()}, r.data(), out);
}

template <int D>
void NodalProjection<D>::sweep(Context& ctx, int count, double least) {
  const Span span(ctx, "projection");
  fill(ctx, asleep_.data(), blocks_, std::int32_t{0});
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < colours();) {
      const int next = end_of_batch(colouring_, k);
      const std::size_t begin = colouring_.offset(k), n = colouring_.offset(next) - begin;
      launch(ctx, n,
             SweepBlock<D>{contacts_.data() + begin, colouring_.order() + begin, r.data() + begin,
                           asleep_.data() + begin, rows_, law_, q_.data(), diagonal_.data(), local_.data(),
                           slip_.data(), node.data(), bodies.data(), kSleep, least, rule_, facets_},
             next - k > 1 ? Grain{n} : kMedium);
      k = next;
    }
}

template class NodalProjection<3>;
template class NodalProjection<4>;
template class NodalProjection<5>;

}  // namespace stickslip::STICKSLIP_BACKEND

#include "gpu/rigid/nodal_projection.cuh"

#include <cmath>

#include "gpu/core/launch.h"
#include "gpu/core/trace.h"
#include "gpu/law/local_facets.h"
#include "gpu/law/local_solve.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

/// Finds the pieces of arms of particles and frames.
struct PointFinder {
  const SurfacePoint* at;  // per particle
  std::size_t particles;
  const SolidSide* sides;  // per frame
  const double* weight;
  bool has_followers;
  EmbeddingView embedding;
  int pieces;
  NodalPoint* out;

  SS_HD void operator()(std::size_t k) const {
    NodalPoint* p = out + static_cast<std::size_t>(pieces) * k;
    for (int i = 0; i < pieces; ++i) p[i] = {};
    if (k >= particles)
      return add(p, sides[(k - particles) / 4].point.nodes[static_cast<int>((k - particles) % 4)], 1);
    for (int c = 0; c < 3; ++c)
      if (at[k].nodes[c] >= 0) add(p, at[k].nodes[c], at[k].weights[c]);
  }

 private:
  /// A node, or those that it follows.
  SS_HD void add(NodalPoint* p, std::int32_t node, double b) const {
    if (!has_followers || !embedding.is_embedded(node)) return add_free(p, node, b);
    const Vec<Real, kMostLeaders>& shares = embedding.weights(node);
    const Leaders& controls = embedding.controls(node);
    for (int j = 0; j < embedding.count(node); ++j)
      add_free(p, controls[j], b * static_cast<double>(shares[j]));
  }
  SS_HD void add_free(NodalPoint* p, std::int32_t node, double b) const {
    for (int i = 0; i < pieces; ++i)
      if (p[i].add(node, b, weight[node])) return;
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
  /// False if a rigid body, a joint, compliance or rows that are no axes take part.
  SS_HD bool find(std::size_t c, NodalContact& out) const {
    const std::int64_t axes = rows.axes(c);
    if (axes < 0) return false;
    for (int i = 0; i < D; ++i)
      if (rows.rows.compliance[c][i] != 0) return false;
    const auto first = static_cast<std::size_t>(axes);
    Vec<double, 2> signs{0, 0};
    for (std::size_t e = 2 * c; e < 2 * c + 2; ++e) {
      if (rows.body(e) < 0) continue;
      if (!rows.is_particle(rows.body(e))) return false;
      double& sign = signs[static_cast<int>(e - 2 * c)];
      sign = rows.sign(e, first);
      if (sign == 0) return false;
    }
    if (!set_nodes(c, signs, out)) set_sides(c, signs, out);
    if (!(out.s > 0)) return false;
    for (int j = 0; j < 3; ++j) out.normal[j] = rows.row(first, 0)[j];
    out.q = rows.to_world(first, q[c]);
    out.mu = law[c].mu[0];
    return true;
  }

  /// False if there are more than four nodes.
  SS_HD bool set_nodes(std::size_t c, const Vec<double, 2>& signs, NodalContact& out) const {
    int count = 0;
    for (std::size_t e = 2 * c; e < 2 * c + 2; ++e) {
      if (rows.body(e) < 0) continue;
      const PiecesOfPoint p = rows.arm(rows.body(e), 0);
      for (int i = 0; i < p.count; ++i)
        for (int k = 0; k < 4 && p.piece[i].nodes[k] >= 0; ++k) {
          int slot = 0;
          while (slot < count && out.nodes[slot] != p.piece[i].nodes[k]) ++slot;
          if (slot == 4) return false;
          if (slot == count) ++count;
          out.nodes[slot] = p.piece[i].nodes[k];
          out.weights[slot] += signs[static_cast<int>(e - 2 * c)] * p.piece[i].weights[k];
        }
    }
    for (int k = 0; k < count; ++k) {
      out.shares[k] = out.weights[k] / weight[out.nodes[k]];
      out.s += out.weights[k] * out.shares[k];
    }
    for (int k = 0; k < count && out.s > 0; ++k) out.shares[k] /= out.s;
    for (int k = count; k < 4; ++k) out.nodes[k] = out.nodes[0];
    return true;
  }

  SS_HD void set_sides(std::size_t c, const Vec<double, 2>& signs, NodalContact& out) const {
    out = {};
    Vec2i first{-1, -1};
    for (int a = 0; a < 2; ++a) {
      const std::int32_t body = rows.body(2 * c + static_cast<std::size_t>(a));
      if (body < 0) continue;
      first[a] = static_cast<std::int32_t>(rows.arm(body, 0).piece - rows.piece);
      for (int b = 0; b < 2; ++b)
        if (const std::int32_t other = rows.body(2 * c + static_cast<std::size_t>(b)); other >= 0)
          out.s += signs[a] * signs[b] * rows.arm(body, 0).mobility_to(rows.arm(other, 0));
    }
    out.set_sides(first, signs);
  }
};

/// The nodes and bodies that an entry moves, `width` of `out`.
template <int D>
struct TouchLister {
  NodalRows<D> rows;
  std::int32_t first_body;  // behind the nodes
  int width;
  Vec4i* out;

  SS_HD void operator()(std::size_t e) const {
    Vec4i* of = out + static_cast<std::size_t>(width) * e;
    for (int i = 0; i < width; ++i) of[i] = {-1, -1, -1, -1};
    const std::int32_t b = rows.body(e);
    if (b < 0) return;
    if (rows.is_rigid(b)) {
      of[0][0] = first_body + b;
      return;
    }
    for (int k = 0; k < rows.arms(b); ++k)
      for (int i = 0; i < rows.pieces; ++i) of[rows.pieces * k + i] = rows.arm(b, k).piece[i].nodes;
  }
};

#if STICKSLIP_ON_CUDA
/// What blocks touch, `entries` of `touched` per block.
struct BlockTouches {
  NodeGather::Runs runs;
  const Vec4i* touched;
  std::int32_t entries;

  /// Calls f(block) for the blocks that share a node or a body with block c, some more than once.
  template <class F>
  SS_HD void visit_conflicts(std::size_t c, F f) const {
    const std::size_t first = static_cast<std::size_t>(entries) * c;
    for (std::size_t e = first; e < first + static_cast<std::size_t>(entries); ++e)
      for (int k = 0; k < 4; ++k) {
        if (touched[e][k] < 0) continue;
        const std::int32_t run = runs.first_from(static_cast<std::uint32_t>(touched[e][k]));
        for (std::int32_t i = runs.begin[run]; i < runs.begin[run + 1]; ++i)
          f(runs.corner[i] / (4 * entries));
      }
  }
};

struct ConflictCount {
  BlockTouches of;
  std::int32_t* out;

  SS_HD void operator()(std::size_t c) const {
    std::int32_t n = 0;
    of.visit_conflicts(c, [&](std::int32_t) { ++n; });
    out[c] = n;
  }
};

struct ConflictList {
  BlockTouches of;
  const std::int32_t* start;
  std::int32_t* out;

  SS_HD void operator()(std::size_t c) const {
    std::int32_t at = start[c];
    of.visit_conflicts(c, [&](std::int32_t block) { out[at++] = block; });
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
      if (contact.s > 0) return contact.is_wide() ? solve_wide(i, contact) : solve_closed(i, contact);
    solve_full(i);
  }

 private:
  /// What a block takes back before it is solved.
  SS_HD Vec<double, D> taken(std::size_t i) const {
    return rule == ProjectionRule::impulses ? r[i] : Vec<double, D>::zero();
  }

  SS_HD void solve_closed(std::size_t i, const NodalContact& contact) const {
    contact.push(change_closed(i, contact, contact.velocity(node)), node);
  }
  SS_HD void solve_wide(std::size_t i, const NodalContact& contact) const {
    const Vec3d u = contact.wide_velocity(rows.piece, rows.pieces, node);
    contact.wide_push(rows.piece, rows.pieces, change_closed(i, contact, u), node);
  }
  /// Changes the scaled impulse of a block with the velocity u; returns the change.
  SS_HD Vec3d change_closed(std::size_t i, const NodalContact& contact, const Vec3d& u) const {
    const Vec3d last = taken(i), u_free = u - last;
    const Vec3d next = facets > 0
                           ? contact.scaled_impulse(u_free, rows.to_world(axes_of(i), {0, 1, 0}), facets)
                           : contact.scaled_impulse(u_free);
    const Vec3d change = next - last;
    r[i] += change;
    if (norm2(change) < least * least) asleep[i] = sleep;
    return change;
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
  const auto rigid = static_cast<std::int64_t>(in.rigid);
  rows_ = {in.W.body_rows(), rigid,     rigid + static_cast<std::int64_t>(in.point_count),
           points_.data(),   in.pieces, in.frames.frames()};
  width_ = in.frames.size() > 0 ? 4 * in.pieces : in.pieces;
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
  const std::size_t arms = in.point_count + 4 * in.frames.size();
  points_.resize(ctx, static_cast<std::size_t>(in.pieces) * arms);
  launch(ctx, arms,
         PointFinder{in.points, in.point_count, in.frames.sides(), in.weight, !in.embedding.empty(),
                     in.embedding.view(), in.pieces, points_.data()});
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
  touched_.resize(ctx, touches() * blocks_);
  launch(ctx, 2 * blocks_,
         TouchLister<D>{rows_, static_cast<std::int32_t>(node_count), width_, touched_.data()});
  touch_count_.resize(ctx, node_count + rigid_);
#if STICKSLIP_ON_CUDA
  gather_.build(ctx, touched_.data(), touched_.size(), node_count + rigid_);
  const BlockTouches of{gather_.runs(), touched_.data(), static_cast<std::int32_t>(touches())};
  fill(ctx, touch_count_.data(), touch_count_.size(), std::int32_t{0});
  gather_.sum(ctx, One{}, touch_count_.data());
  conflict_start_.resize(ctx, blocks_ + 1);
  std::int32_t* start = conflict_start_.data();
  launch(ctx, blocks_, ConflictCount{of, start}, kMedium);
  conflict_.resize(ctx, start_neighbours(ctx, blocks_, start, "take coupling = rounds"));
  launch(ctx, blocks_, ConflictList{of, start, conflict_.data()}, kMedium);
  colouring_.build(ctx, {blocks_, start, conflict_.data()});
#else
  const TouchedVertices of{blocks_, node_count + rigid_, touched_.data(), touches()};
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

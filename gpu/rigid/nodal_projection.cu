#include "gpu/rigid/nodal_projection.cuh"

#include <cmath>

#include "gpu/core/launch.h"
#include "gpu/core/trace.h"
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
      const Vec<Real, 4>& shares = embedding.weights(node);
      const Vec4i& controls = embedding.controls(node);
      for (int j = 0; j < 4; ++j) p.add(controls[j], b * static_cast<double>(shares[j]), weight[controls[j]]);
    }
    out[k] = p;
  }
};

template <int D>
struct BlockPreparer {
  NodalRows<D> rows;
  const ContactLaw<D>* law;
  Mat<double, D>* diagonal;
  LocalData<D>* local;
  double *isotropic, *slip;
  bool closed;

  SS_HD void operator()(std::size_t c) const {
    diagonal[c] = rows.diagonal(c);
    local[c] = prepare_local(law[c], diagonal[c]);
    const bool is_closed =
        closed && is_circular(law[c]) && law[c].flow == FlowRule::exact && rows.is_isotropic(c);
    isotropic[c] = is_closed ? diagonal[c](0, 0) : 0;
    slip[c] = 0;
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

void clear_where_zero(Context& ctx, std::size_t n, const std::int32_t* count, double* weight) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    if (count[i] == 0) weight[i] = 0;
  });
}

/// r with s r + u* = u in Coulomb's law [Daviet20 §5.2.2], for the u* of no impulse.
template <int D>
SS_HD Vec<double, D> solve_isotropic(double mu, double s, const Vec<double, D>& u_free) {
  if (u_free[0] >= 0) return Vec<double, D>::zero();
  double slip = 0;
  for (int i = 1; i < D; ++i) slip += u_free[i] * u_free[i];
  slip = std::sqrt(slip);
  const double most = -mu * u_free[0];
  Vec<double, D> r = (-1 / s) * u_free;
  if (slip > most)
    for (int i = 1; i < D; ++i) r[i] *= most / slip;
  return r;
}

/// Block i of a colour.
template <int D>
struct SweepBlock {
  NodalRows<D> rows;
  const ContactLaw<D>* law;
  const Vec<double, D>* q;
  const Mat<double, D>* diagonal;
  const LocalData<D>* local;
  const double* isotropic;
  double* slip;
  const std::int32_t* order;
  Vec<double, D>* r;
  Vec3d* node;
  double* bodies;
  std::int32_t* asleep;
  std::int32_t sleep;  // sweeps
  double least;        // [m/s]

  SS_HD void operator()(std::size_t i) const {
    const auto c = static_cast<std::size_t>(order[i]);
    if (asleep[c] > 0) {
      --asleep[c];
      return;
    }
    Vec<double, D> u = rows.times(c, node, bodies) + q[c];
    for (int j = 0; j < D; ++j) u[j] += rows.rows.compliance[c][j] * r[c][j];
    const Vec<double, D> u_free = u - diagonal[c] * r[c];
    const Vec<double, D> next = isotropic[c] > 0 ? solve_isotropic(law[c].mu[0], isotropic[c], u_free)
                                                 : local_solve(law[c], local[c], u_free, slip[c]);
    const Vec<double, D> change = next - r[c];
    rows.push(c, change, node, bodies);
    r[c] = next;
    if (least > 0 && norm(diagonal[c] * change) < least) asleep[c] = sleep;
  }
};

}  // namespace

template <int D>
void NodalProjection<D>::build(Context& ctx, const Input& in) {
  const Span span(ctx, "nodal projection");
  blocks_ = in.W.blocks();
  law_ = in.law;
  find_points(ctx, in);
  rows_ = {in.W.body_rows(), static_cast<std::int64_t>(in.rigid), points_.data()};
  q_.resize(ctx, blocks_);
  copy(ctx, q_.data(), in.W.q(), blocks_);
  r.resize(ctx, blocks_);
  node.resize(ctx, in.node_count);
  bodies.resize(ctx, 6 * in.W.bodies());
  prepare_blocks(ctx, in.isotropic);
  rigid_ = in.rigid;
  if (blocks_ > 0) colour(ctx, in.node_count);
}

template <int D>
void NodalProjection<D>::find_points(Context& ctx, const Input& in) {
  points_.resize(ctx, in.point_count);
  launch(ctx, in.point_count,
         PointFinder{in.points, in.weight, !in.embedding.empty(), in.embedding.view(), points_.data()});
}

template <int D>
void NodalProjection<D>::prepare_blocks(Context& ctx, bool isotropic) {
  diagonal_.resize(ctx, blocks_);
  local_.resize(ctx, blocks_);
  isotropic_.resize(ctx, blocks_);
  slip_.resize(ctx, blocks_);
  asleep_.resize(ctx, blocks_);
  launch(ctx, blocks_,
         BlockPreparer<D>{rows_, law_, diagonal_.data(), local_.data(), isotropic_.data(), slip_.data(),
                          isotropic},
         kMedium);
}

template <int D>
void NodalProjection<D>::colour(Context& ctx, std::size_t node_count) {
  touched_.resize(ctx, 2 * blocks_);
  launch(ctx, 2 * blocks_, TouchLister<D>{rows_, static_cast<std::int32_t>(node_count), touched_.data()});
  gather_.build(ctx, touched_.data(), 2 * blocks_, node_count + rigid_);
  conflict_start_.resize(ctx, blocks_ + 1);
  std::int32_t* start = conflict_start_.data();
  launch(ctx, blocks_, ConflictCount{gather_.runs(), touched_.data(), start}, kMedium);
  conflict_.resize(ctx, start_neighbours(ctx, blocks_, start, "take coupling = rounds"));
  launch(ctx, blocks_, ConflictList{gather_.runs(), touched_.data(), start, conflict_.data()}, kMedium);
  colouring_.build(ctx, {blocks_, start, conflict_.data()});
}

template <int D>
void NodalProjection<D>::clear_untouched(Context& ctx, double* weight) {
  const std::size_t nodes = node.size();
  touch_count_.resize(ctx, nodes + rigid_);
  fill(ctx, touch_count_.data(), touch_count_.size(), std::int32_t{0});
  if (blocks_ > 0) gather_.sum(ctx, One{}, touch_count_.data());
  clear_where_zero(ctx, nodes, touch_count_.data(), weight);
}

template <int D>
void NodalProjection<D>::start(Context& ctx, const Delassus<D>& W, const Vec<double, D>* impulses) {
  copy(ctx, r.data(), impulses, blocks_);
  if (blocks_ > 0) W.body_velocities(ctx, impulses, bodies.data());
  else fill(ctx, bodies.data(), bodies.size(), 0.0);
}

template <int D>
void NodalProjection<D>::sweep(Context& ctx, int count, double least) {
  const Span span(ctx, "projection");
  fill(ctx, asleep_.data(), blocks_, std::int32_t{0});
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < colours(); ++k) {
      const std::size_t begin = colouring_.offset(k), end = colouring_.offset(k + 1);
      launch(ctx, end - begin,
             SweepBlock<D>{rows_, law_, q_.data(), diagonal_.data(), local_.data(), isotropic_.data(),
                           slip_.data(), colouring_.order() + begin, r.data(), node.data(), bodies.data(),
                           asleep_.data(), kSleep, least},
             kMedium);
    }
}

template class NodalProjection<3>;
template class NodalProjection<4>;
template class NodalProjection<5>;

}  // namespace stickslip::STICKSLIP_BACKEND

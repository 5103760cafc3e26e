#include "gpu/rigid/manifold/manifold_solver.cuh"

#include <cmath>
#include <limits>
#include <numeric>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/trace.h"
#include "gpu/rigid/manifold/manifold_lane.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Writes the manifold of each occupied lane.
struct OwnerWriter {
  const std::int32_t* slot;
  std::int32_t* owner;

  SS_HD void operator()(std::size_t m) const { owner[slot[m]] = static_cast<std::int32_t>(m); }
};

/// Writes the bodies, the data and the first impulses of a lane, and its LaneSums.
template <class Filler>
struct LaneWriter {
  Filler filler;
  const BodyInverse* inverse;
  std::int32_t world;  // index of the world in the velocity array
  const std::int32_t* owner;
  std::int32_t* body;
  double *data, *impulse, *free2, *jam;

  SS_HD void operator()(std::size_t i) const {
    const std::size_t pack = i / kPackWidth, lane = i % kPackWidth;
    const PackCell<double> cell{data + pack * kManifoldFields * kPackWidth + lane, kPackWidth},
        impulses{impulse + pack * kImpulseFields * kPackWidth + lane, kPackWidth};
    std::int32_t* a = body + pack * 2 * kPackWidth + lane;
    if (owner[i] < 0) {
      manifold_detail::leave_empty(cell, impulses);
      a[0] = a[kPackWidth] = ~world;
      free2[i] = jam[i] = 0;
      return;
    }
    const auto m = static_cast<std::size_t>(owner[i]);
    const RigidContact& c = filler.contacts[filler.ranges[m].first];
    a[0] = side(c.a);
    a[kPackWidth] = side(c.b);
    const manifold_detail::LaneSums sums = filler.fill(m, cell, impulses);
    free2[i] = sums.free2;
    jam[i] = sums.jam;
  }
  SS_HD std::int32_t side(std::int32_t b) const { return b < 0 ? ~world : inverse[b].mass > 0 ? b : ~b; }
};

/// The most points of a lane of a pack.
struct PointCounter {
  const ManifoldRange* ranges;
  const std::int32_t* owner;
  std::uint8_t* points;

  SS_HD void operator()(std::size_t pack) const {
    std::int32_t most = 0;
    for (std::size_t i = pack * kPackWidth; i < (pack + 1) * kPackWidth; ++i)
      if (owner[i] >= 0 && ranges[owner[i]].count > most) most = ranges[owner[i]].count;
    points[pack] = static_cast<std::uint8_t>(most);
  }
};

struct LaneValue {
  const double* value;

  SS_HD double operator()(std::size_t i) const { return value[i]; }
};

/// Mass and velocity without impulses of a body; the one after the last is the world.
struct MassWriter {
  const BodyInverse* inverse;
  const double* free;
  std::size_t bodies;
  double *v, *mass;

  SS_HD void operator()(std::size_t b) const {
    double* row = v + b * kMotionFields;
    for (std::size_t i = 0; i < kMotionFields; ++i) row[i] = 0;
    manifold_detail::put_mass(b < bodies ? inverse[b] : BodyInverse{0, {}}, mass + b * kMotionFields);
    for (std::size_t i = 0; b < bodies && i < 3; ++i) {
      row[i] = free[6 * b + i];
      row[4 + i] = free[6 * b + 3 + i];
    }
  }
};

#if STICKSLIP_ON_CUDA
/// Runs op on a lane of a batch, unless *halt.
template <class Op>
struct BatchLane {
  ManifoldView packs;
  const std::int32_t* halt;
  std::size_t first;
  Op op;

  SS_HD void operator()(std::size_t i) const {
    if (halt == nullptr || *halt == 0) run_on_pack(packs, first + i, op);
  }
};
#else
/// Runs op on the packs of a run of a batch, unless *halt.
template <class Op>
struct BatchRun {
  ManifoldView packs;
  const std::int32_t *halt, *start;
  bool backward;
  Op op;

  void operator()(std::size_t run) const {
    if (halt != nullptr && *halt != 0) return;
    const auto begin = static_cast<std::size_t>(start[run]), end = static_cast<std::size_t>(start[run + 1]);
    for (std::size_t k = begin; k < end; ++k) run_on_pack(packs, backward ? begin + end - 1 - k : k, op);
  }
};
#endif

/// A thread's part of |e|^2 and |u|^2, packs first and then blocks; zero unless a check is due.
template <int D>
struct PackJudge {
  ManifoldView packs;
  ManifoldLimits limits;
  const ManifoldProgress* progress;
  std::size_t threads;  // of packs
  const SweptBlock<D>* block;
  const double* impulse;  // of the blocks

  SS_HD Vec<double, 2> operator()(std::size_t i) const {
    if (!limits.is_due(*progress)) return Vec<double, 2>{0, 0};
    return i < threads ? run_on_pack(packs, i, JudgeOp{}) : of_block(i - threads);
  }
  SS_HD Vec<double, 2> of_block(std::size_t c) const {
    if (!block[c].moves()) return Vec<double, 2>{0, 0};
    const Vec<double, D> r = read_impulse<D>(impulse + D * c), u = block_velocity(block[c], r, packs.v);
    return Vec<double, 2>{norm2(natural_map(block[c].rows.law, block[c].scale, r, u)), norm2(u)};
  }
};

/// The impulse that a block starts from, and its part of |q|^2.
template <int D, class Source>
struct BlockStart {
  Source source;
  const SweptBlock<D>* block;
  const double* v_free;
  double most2;
  double *impulse, *free2;

  SS_HD void operator()(std::size_t c) const {
    const Vec<double, D> r = source.start(c, block[c].rows);
    for (int i = 0; i < D; ++i) impulse[c * D + static_cast<std::size_t>(i)] = r[i];
    const Vec<double, D> none = Vec<double, D>::zero();
    const double q2 = block[c].moves() ? norm2(block_velocity(block[c], none, v_free)) : 0.0;
    free2[c] = q2 > most2 ? most2 : q2;
  }
};

}  // namespace

template <int D>
void ManifoldSolver<D>::build(Context& ctx, const DeviceBodies& bodies, const ManifoldInput<D>& input) {
  bodies_ = bodies.size();
  if (!input.same_order) {
    const Span span(ctx, "manifold order");
    order_.build(ctx, input.list, bodies.view(), bodies_);
  }
  prepare(ctx);
  blocks_.build(ctx, input.block_count, input.groups, bodies.inverse.data(), input.blocks);
  places_ = {input.blocks.joint_count, input.blocks.rough, input.blocks.joint_count};
  least2_ = input.least_speed * input.least_speed *
            static_cast<double>(input.blocks.joint_count + input.list.count);
  const double most2 = input.most_speed * input.most_speed;
  fill_packs(ctx,
             manifold_detail::LaneFiller{input.list.contacts, order_.ranges(), bodies.view(), input.surfaces,
                                         input.options, bodies.free.data(), input.blocks.before.contacts,
                                         input.blocks.before.count, most2},
             bodies.inverse.data());
  fill_masses(ctx, bodies.inverse.data(), bodies.free.data());
  start_blocks(ctx, input.blocks, most2);
  sum_lanes(ctx);
  if (input.scale > 0) fill(ctx, free_sum_.data(), 1, input.scale * input.scale);
  if (input.blocks.before.contacts != nullptr) apply_impulses(ctx);
}

template <int D>
void ManifoldSolver<D>::build(Context& ctx, const ManifoldProblem& problem) {
  bodies_ = problem.inverse.size();
  contacts_.upload(ctx, problem.contacts);
  problem_points_.upload(ctx, problem.points);
  start_.upload(ctx, problem.start);
  inverse_.upload(ctx, problem.inverse);
  free_.upload(ctx, problem.free);
  // A problem has no positions: the manifolds of a sweep are laid out as if all bodies were at one place.
  poses_.upload(ctx, std::vector<Pose>(bodies_, Pose::identity()));
  BodiesView bodies{};
  bodies.pose = poses_.data();
  bodies.inverse = inverse_.data();
  order_.build(ctx, {contacts_.data(), start_.data(), problem.contacts.size(), problem.start.size() - 1},
               bodies, bodies_);
  prepare(ctx);
  load_blocks(ctx, problem);
  least2_ = 0;
  fill_packs(ctx,
             manifold_detail::ProblemLaneFiller{contacts_.data(), order_.ranges(), problem_points_.data(),
                                                inverse_.data(), free_.data()},
             inverse_.data());
  fill_masses(ctx, inverse_.data(), free_.data());
  start_blocks(ctx, BlockReader{block_rows_.data(), block_start_.data()},
               std::numeric_limits<double>::infinity());
  sum_lanes(ctx);
  apply_impulses(ctx);
}

/// Each block is a group of its own.
template <int D>
void ManifoldSolver<D>::load_blocks(Context& ctx, const ManifoldProblem& problem) {
  const std::size_t n = problem.blocks.size();
  std::vector<std::array<std::int32_t, 2>> bodies;
  std::vector<std::int32_t> start(n + 1);
  for (const ConstraintBlock<3>& block : problem.blocks) bodies.push_back({block.body[0], block.body[1]});
  std::iota(start.begin(), start.end(), 0);
  const std::vector<std::uint8_t> moves(bodies_, 1);
  GroupOrder order = colour_groups(bodies, moves);
  block_rows_.upload(ctx, problem.blocks);
  block_start_.upload(ctx, problem.block_start);
  block_order_.upload(ctx, order.group);
  block_group_start_.upload(ctx, start);
  block_colours_ = std::move(order.colours);
  blocks_.build(ctx, n, {block_order_.data(), block_group_start_.data(), block_colours_}, inverse_.data(),
                BlockReader{block_rows_.data(), block_start_.data()});
  places_ = {n, nullptr, n};
}

template <int D>
void ManifoldSolver<D>::prepare(Context& ctx) {
  conjugate_.prepare(ctx);
  pair_sum_.resize(ctx, 1);
  free_sum_.resize(ctx, 1);
  jam_.resize(ctx, 1);
  halt_ = nullptr;
}

template <int D>
template <class Filler>
void ManifoldSolver<D>::fill_packs(Context& ctx, const Filler& filler, const BodyInverse* inverse) {
  const std::size_t packs = order_.packs(), slots = this->slots();
  data_.resize(ctx, slots * kManifoldFields);
  impulse_.resize(ctx, slots * kImpulseFields + D * blocks_.size());
  body_.resize(ctx, 2 * slots);
  owner_.resize(ctx, slots);
  points_.resize(ctx, packs);
  free2_.resize(ctx, slots + blocks_.size());
  lane_jam_.resize(ctx, slots);
  fill(ctx, owner_.data(), slots, std::int32_t{-1});
  launch(ctx, order_.manifolds(), OwnerWriter{order_.slot(), owner_.data()}, kLight);
  launch(ctx, slots,
         LaneWriter<Filler>{filler, inverse, static_cast<std::int32_t>(bodies_), owner_.data(), body_.data(),
                            data_.data(), impulse_.data(), free2_.data(), lane_jam_.data()},
         kMedium);
  launch(ctx, packs, PointCounter{filler.ranges, owner_.data(), points_.data()}, kMedium);
}

/// After fill_packs and fill_masses.
template <int D>
template <class Source>
void ManifoldSolver<D>::start_blocks(Context& ctx, const Source& source, double most2) {
  launch(ctx, blocks_.size(),
         BlockStart<D, Source>{source, blocks_.blocks(), v_free_.data(), most2, block_impulse(),
                               free2_.data() + slots()},
         kMedium);
}

template <int D>
void ManifoldSolver<D>::sum_lanes(Context& ctx) {
  reduce_sum(ctx, free2_.size(), LaneValue{free2_.data()}, free_sum_.data(), Grain{16384});
  reduce(ctx, slots(), LaneValue{lane_jam_.data()}, Maximum{}, 0.0, jam_.data(), kLight);
}

/// Computes masses, and velocities without impulses.
template <int D>
void ManifoldSolver<D>::fill_masses(Context& ctx, const BodyInverse* inverse, const double* free) {
  v_.resize(ctx, (bodies_ + 1) * kMotionFields);
  v_free_.resize(ctx, v_.size());
  mass_.resize(ctx, v_.size());
  launch(ctx, bodies_ + 1, MassWriter{inverse, free, bodies_, v_.data(), mass_.data()}, kMedium);
  copy(ctx, v_free_.data(), v_.data(), v_.size());
}

template <int D>
template <class Op>
void ManifoldSolver<D>::each_pack(Context& ctx, bool backward, Op op) {
  const ManifoldView packs = view();
  for (std::size_t step = 0; step < order_.batches(); ++step) {
    const std::size_t b = backward ? order_.batches() - 1 - step : step;
    const std::size_t first = order_.batch(b), runs = order_.batch(b + 1) - first;
#if STICKSLIP_ON_CUDA
    launch(ctx, runs * kPackWidth, BatchLane<Op>{packs, halt_, first * kPackWidth, op});
#else
    launch(ctx, runs, BatchRun<Op>{packs, halt_, order_.run_start() + first, backward, op}, Grain{1});
#endif
  }
}

/// v = v_free + A^-1 H' r: removes the rounding errors accumulated in the swept velocities.
template <int D>
void ManifoldSolver<D>::apply_impulses(Context& ctx) {
  copy(ctx, v_.data(), v_free_.data(), v_.size());
  each_pack(ctx, false, ApplyOp{});
  blocks_.apply(ctx, block_impulse(), v_.data());
}

template <int D>
void ManifoldSolver<D>::sweep(Context& ctx, const ManifoldSweep& options) {
  if (options.backward) blocks_.sweep(ctx, true, halt_, block_impulse(), v_.data());
  each_pack(ctx, options.backward, SweepOp{options});
  if (!options.backward) blocks_.sweep(ctx, false, halt_, block_impulse(), v_.data());
}

/// |e|^2 of the judge [m^2/s^2] into pair_sum_, if a check is due.
template <int D>
void ManifoldSolver<D>::judge(Context& ctx, const ManifoldLimits& limits) {
  const std::size_t threads = order_.packs() * (kPackWidth / kPackLanes);
  reduce_sum(ctx, threads + blocks_.size(),
             PackJudge<D>{view(), limits, progress_.data(), threads, blocks_.blocks(), block_impulse()},
             pair_sum_.data(), kMedium);
}

template <int D>
void ManifoldSolver<D>::velocities(Context& ctx, DeviceBodies& bodies) const {
  const double* v = v_.data();
  Vec<double, 3>*linear = bodies.velocity.data(), *spin = bodies.spin.data();
  launch(
      ctx, bodies_,
      [=] SS_LAMBDA(std::size_t b) {
        for (int i = 0; i < 3; ++i) {
          linear[b][i] = v[b * kMotionFields + static_cast<std::size_t>(i)];
          spin[b][i] = v[b * kMotionFields + 4 + static_cast<std::size_t>(i)];
        }
      },
      kMedium);
}

// Member by member: other sources, which may be compiled together with this one, define the rest.
template void ManifoldSolver<3>::build(Context&, const DeviceBodies&, const ManifoldInput<3>&);
template void ManifoldSolver<4>::build(Context&, const DeviceBodies&, const ManifoldInput<4>&);
template void ManifoldSolver<3>::build(Context&, const ManifoldProblem&);
template void ManifoldSolver<3>::velocities(Context&, DeviceBodies&) const;
template void ManifoldSolver<4>::velocities(Context&, DeviceBodies&) const;
template void ManifoldSolver<3>::apply_impulses(Context&);
template void ManifoldSolver<4>::apply_impulses(Context&);
template void ManifoldSolver<3>::sweep(Context&, const ManifoldSweep&);
template void ManifoldSolver<4>::sweep(Context&, const ManifoldSweep&);
template void ManifoldSolver<3>::judge(Context&, const ManifoldLimits&);
template void ManifoldSolver<4>::judge(Context&, const ManifoldLimits&);

}  // namespace stickslip::STICKSLIP_BACKEND

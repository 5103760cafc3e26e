#include "gpu/rigid/manifold_solver.cuh"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/timer.h"
#include "gpu/core/trace.h"
#include "gpu/rigid/manifold_lane.h"

namespace stickslip::STICKSLIP_BACKEND {

void ManifoldSolver::build(Context& ctx, const DeviceBodies& bodies, const ManifoldInput& input) {
  bodies_ = bodies.size();
  {
    const Span span(ctx, "manifold order");
    order_.build(ctx, input.list, bodies.view(), bodies_);
  }
  sums_.resize(ctx, 1);
  sum_.resize(ctx, 1);
  pair_sum_.resize(ctx, 1);
  free_sum_.resize(ctx, 1);
  stop_ = nullptr;
  fill_packs(ctx, bodies, input);
  fill_masses(ctx, bodies);
  if (input.before != nullptr) push_impulses(ctx);
}

void ManifoldSolver::fill_packs(Context& ctx, const DeviceBodies& bodies, const ManifoldInput& input) {
  const std::size_t packs = order_.packs(), slots = packs * kPackWidth;
  data_.resize(ctx, slots * kManifoldFields);
  impulse_.resize(ctx, slots * kImpulseFields);
  body_.resize(ctx, 2 * slots);
  owner_.resize(ctx, slots);
  points_.resize(ctx, packs);
  free2_.resize(ctx, slots);
  fill(ctx, owner_.data(), slots, std::int32_t{-1});
  const manifold_detail::LaneFiller filler{input.list.contacts, order_.ranges(),   bodies.view(),
                                           input.surfaces,      input.options,     bodies.free.data(),
                                           input.before,        input.before_count};
  const std::int32_t *slot = order_.slot(), world = static_cast<std::int32_t>(bodies_);
  std::int32_t *owner = owner_.data(), *body = body_.data();
  double *data = data_.data(), *impulse = impulse_.data(), *free2 = free2_.data();
  std::uint8_t* points = points_.data();
  launch(
      ctx, order_.manifolds(),
      [=] SS_LAMBDA(std::size_t m) { owner[slot[m]] = static_cast<std::int32_t>(m); }, kLight);
  launch(
      ctx, slots,
      [=] SS_LAMBDA(std::size_t i) {
        const std::size_t pack = i / kPackWidth, lane = i % kPackWidth;
        const PackCell<double> cell{data + pack * kManifoldFields * kPackWidth + lane, kPackWidth},
            impulses{impulse + pack * kImpulseFields * kPackWidth + lane, kPackWidth};
        std::int32_t* a = body + pack * 2 * kPackWidth + lane;
        if (owner[i] < 0) {
          manifold_detail::LaneFiller::leave_empty(cell, impulses);
          a[0] = a[kPackWidth] = ~world;
          free2[i] = 0;
          return;
        }
        const auto m = static_cast<std::size_t>(owner[i]);
        const RigidContact& c = filler.contacts[filler.ranges[m].first];
        const auto side = [&](std::int32_t b) {
          return b < 0 ? ~world : filler.at.inverse[b].mass > 0 ? b : ~b;
        };
        a[0] = side(c.a);
        a[kPackWidth] = side(c.b);
        free2[i] = filler.fill(m, cell, impulses);
      },
      kMedium);
  launch(
      ctx, packs,
      [=] SS_LAMBDA(std::size_t pack) {
        std::int32_t most = 0;
        for (std::size_t i = pack * kPackWidth; i < (pack + 1) * kPackWidth; ++i)
          if (owner[i] >= 0 && filler.ranges[owner[i]].count > most) most = filler.ranges[owner[i]].count;
        points[pack] = static_cast<std::uint8_t>(most);
      },
      kMedium);
  reduce_sum(
      ctx, slots, [=] SS_LAMBDA(std::size_t i) { return free2[i]; }, free_sum_.data(), kLight);
}

/// Masses, and velocities without impulses.
void ManifoldSolver::fill_masses(Context& ctx, const DeviceBodies& bodies) {
  v_.resize(ctx, (bodies_ + 1) * kMotionFields);
  mass_.resize(ctx, (bodies_ + 1) * kMotionFields);
  const std::size_t n = bodies_;
  const BodyInverse* inverse = bodies.inverse.data();
  const double* free = bodies.free.data();
  double *v = v_.data(), *mass = mass_.data();
  launch(
      ctx, n + 1,
      [=] SS_LAMBDA(std::size_t b) {
        double* row = v + b * kMotionFields;
        for (std::size_t i = 0; i < kMotionFields; ++i) row[i] = 0;
        manifold_detail::put_mass(b < n ? inverse[b] : BodyInverse{0, {}}, mass + b * kMotionFields);
        for (std::size_t i = 0; b < n && i < 3; ++i) {
          row[i] = free[6 * b + i];
          row[4 + i] = free[6 * b + 3 + i];
        }
      },
      kMedium);
}

template <class Op>
void ManifoldSolver::each_pack(Context& ctx, bool backward, Op op) {
  const ManifoldView packs = view();
  const std::int32_t* stop = stop_;
  for (std::size_t step = 0; step < order_.batches(); ++step) {
    const std::size_t b = backward ? order_.batches() - 1 - step : step;
    const std::size_t first = order_.batch(b), runs = order_.batch(b + 1) - first;
#if STICKSLIP_ON_CUDA
    launch(ctx, runs * kPackWidth, [=] SS_LAMBDA(std::size_t i) {
      if (stop == nullptr || *stop == 0) run_on_pack(packs, first * kPackWidth + i, op);
    });
#else
    const std::int32_t* start = order_.run_start() + first;
    launch(
        ctx, runs,
        [=](std::size_t run) {
          if (stop != nullptr && *stop != 0) return;
          const auto begin = static_cast<std::size_t>(start[run]),
                     end = static_cast<std::size_t>(start[run + 1]);
          for (std::size_t k = begin; k < end; ++k)
            run_on_pack(packs, backward ? begin + end - 1 - k : k, op);
        },
        Grain{1});
#endif
  }
}

void ManifoldSolver::push_impulses(Context& ctx) { each_pack(ctx, false, PushOp{}); }

void ManifoldSolver::sweep(Context& ctx, const ManifoldSweep& options) {
  each_pack(ctx, options.backward, SweepOp{options});
}

void ManifoldSolver::look(Context& ctx, const ManifoldLimits& limits) {
  const ManifoldView packs = view();
  ManifoldProgress* progress = progress_.data();
  // |e|^2 of the judge and |u|^2 over all points [m^2/s^2].
  reduce_sum(
      ctx, order_.packs() * (kPackWidth / kPackLanes),
      [=] SS_LAMBDA(std::size_t i) {
        return limits.is_due(*progress) ? run_on_pack(packs, i, JudgeOp{}) : Vec<double, 2>{0, 0};
      },
      pair_sum_.data(), kMedium);
  const Vec<double, 2>* judged = pair_sum_.data();
  const double* free2 = free_sum_.data();
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    if (progress->stop != 0) return;
    if (limits.is_due(*progress)) {
      const double size2 = (*judged)[1] < *free2 ? *free2 : (*judged)[1];
      progress->residual = size2 > 0 ? std::sqrt((*judged)[0] / size2) : 0.0;
      progress->stop = progress->residual <= limits.tolerance || progress->iterations + 1 >= limits.last;
    }
    ++progress->iterations;
  });
}

/// Where a sweep starts.
void ManifoldSolver::remember(Context& ctx) {
  impulse_before_.resize(ctx, impulse_.size());
  v_before_.resize(ctx, v_.size());
  copy(ctx, impulse_before_.data(), impulse_.data(), impulse_.size());
  copy(ctx, v_before_.data(), v_.data(), v_.size());
}

void ManifoldSolver::go_further(Context& ctx) {
  turn_direction(ctx);
  measure_direction(ctx);
  step_along(ctx);
}

/// p = d + beta p with the change d of the last sweeps, W-conjugate to the p before.
void ManifoldSolver::turn_direction(Context& ctx) {
  p_.resize(ctx, impulse_.size());
  p_v_.resize(ctx, v_.size());
  double *p = p_.data(), *p_v = p_v_.data();
  const double *r = impulse_.data(), *v = v_.data(), *r_before = impulse_before_.data(),
               *v_before = v_before_.data(), *mass = mass_.data(), *sum = sum_.data();
  ConjugateSums* sums = sums_.data();
  reduce_sum(
      ctx, bodies_,
      [=] SS_LAMBDA(std::size_t b) {
        const std::size_t at = b * kMotionFields;
        double d[kMotionFields];
        for (std::size_t i = 0; i < kMotionFields; ++i) d[i] = v[at + i] - v_before[at + i];
        return sums->energy > 0 ? manifold_detail::mass_product(mass + at, p_v + at, d) : 0.0;
      },
      sum_.data(), kMedium);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { sums->conjugation = *sum; });
  launch(
      ctx, v_.size(),
      [=] SS_LAMBDA(std::size_t i) {
        p_v[i] = manifold_detail::conjugate(sums->beta(), p_v[i], v[i] - v_before[i]);
      },
      kLight);
  launch(
      ctx, impulse_.size(),
      [=] SS_LAMBDA(std::size_t i) {
        p[i] = manifold_detail::conjugate(sums->beta(), p[i], r[i] - r_before[i]);
      },
      kLight);
}

/// <p, W p> and <p, u> at where the sweeps began.
void ManifoldSolver::measure_direction(Context& ctx) {
  const double *p = p_.data(), *p_v = p_v_.data(), *r_before = impulse_before_.data(),
               *v_before = v_before_.data(), *mass = mass_.data(), *data = data_.data();
  ConjugateSums* sums = sums_.data();
  Vec<double, 2>* pair = pair_sum_.data();
  reduce_sum(
      ctx, bodies_,
      [=] SS_LAMBDA(std::size_t b) {
        const std::size_t at = b * kMotionFields;
        return Vec<double, 2>{manifold_detail::mass_product(mass + at, p_v + at, p_v + at),
                              manifold_detail::mass_product(mass + at, p_v + at, v_before + at)};
      },
      pair, kMedium);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    sums->energy = (*pair)[0];
    sums->slope = (*pair)[1];
  });
  reduce_sum(
      ctx, impulse_.size() / 3,
      [=] SS_LAMBDA(std::size_t i) {
        constexpr std::size_t lanes = kPackWidth, points = kManifoldPoints;
        const std::size_t lane = i % lanes, point = i / lanes % points, pack = i / lanes / points;
        const std::size_t at = (pack * kImpulseFields + 3 * point) * lanes + lane,
                          field = static_cast<std::size_t>(point_at(static_cast<int>(point)));
        const double* cell = data + (pack * kManifoldFields + field) * lanes + lane;
        const double speed = cell[point_field::speed * lanes], softness = cell[point_field::softness * lanes];
        return Vec<double, 2>{softness * p[at] * p[at], (speed + softness * r_before[at]) * p[at]};
      },
      pair, kMedium);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    sums->soft_energy = (*pair)[0];
    sums->soft_slope = (*pair)[1];
    // No way down: what the sweep found stays, and the next direction is its own.
    if (!(sums->alpha() > 0)) sums->energy = sums->soft_energy = 0;
  });
}

void ManifoldSolver::step_along(Context& ctx) {
  const double *p = p_.data(), *p_v = p_v_.data(), *r_before = impulse_before_.data(),
               *v_before = v_before_.data();
  double *r = impulse_.data(), *v = v_.data();
  const ConjugateSums* sums = sums_.data();
  const std::int32_t* stop = stop_;
  launch(
      ctx, v_.size(),
      [=] SS_LAMBDA(std::size_t i) {
        if (*stop == 0 && sums->energy > 0) v[i] = v_before[i] + sums->alpha() * p_v[i];
      },
      kLight);
  launch(
      ctx, impulse_.size(),
      [=] SS_LAMBDA(std::size_t i) {
        if (*stop == 0 && sums->energy > 0) r[i] = r_before[i] + sums->alpha() * p[i];
      },
      kLight);
}

/// After the stop, nothing of it changes impulses or velocities.
void ManifoldSolver::iterate(Context& ctx, const LabParams& params, const ManifoldLimits& limits) {
  if (params.conjugate) remember(ctx);
  sweep(ctx, {params.prox_local_steps, params.omega, false});
  if (params.conjugate) sweep(ctx, {params.prox_local_steps, params.omega, true});
  // What is judged, and what comes back, is what a sweep left: impulses in their cones.
  look(ctx, limits);
  if (params.conjugate) go_further(ctx);
}

void ManifoldSolver::solve(Context& ctx, const LabParams& params, ContactSolveRecord& record) {
  record.tolerance = params.tolerance;
  record.message.clear();
  record.iterations = 0;
  record.residual = 0;
  record.colours = static_cast<int>(order_.batches());
  if (order_.packs() == 0 || params.max_iterations <= 0) return;
  const Timer timer;
  constexpr long kInterval = 10;  // where the parameters leave it open
  constexpr long kMost = std::numeric_limits<std::int32_t>::max();
  const ManifoldLimits limits{
      params.tolerance,
      static_cast<std::int32_t>(
          std::min(kMost, params.check_interval > 0 ? params.check_interval : kInterval)),
      static_cast<std::int32_t>(std::min(kMost, static_cast<long>(params.max_iterations)))};
  fill(ctx, sums_.data(), 1, ConjugateSums{});
  progress_.resize(ctx, 1);
  fill(ctx, progress_.data(), 1, ManifoldProgress{0, 0, std::numeric_limits<double>::infinity()});
  stop_ = &progress_.data()->stop;
  ManifoldProgress progress{};
  constexpr std::int32_t kMostUnwatched = 20'000;
  if (params.time_budget > 0 || limits.last > kMostUnwatched) {
    // Only the host has a clock, and can be asked to stop.
    do {
      for (std::int32_t k = 0; k < limits.interval; ++k) iterate(ctx, params, limits);
      progress = read_back(ctx, progress_.data());
    } while (progress.stop == 0 && (params.time_budget <= 0 || timer.seconds() <= params.time_budget));
  } else {
    repeat_until(ctx, loop_, stop_, [&] { iterate(ctx, params, limits); });
    progress = read_back(ctx, progress_.data());
  }
  stop_ = nullptr;
  record.iterations = progress.iterations;
  record.residual = progress.residual;
}

void ManifoldSolver::velocities(Context& ctx, DeviceBodies& bodies) const {
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

void ManifoldSolver::impulses(Context& ctx, Vec<double, 3>* r) const {
  const std::int32_t* slot = order_.slot();
  const ManifoldRange* ranges = order_.ranges();
  const double* impulse = impulse_.data();
  launch(
      ctx, order_.manifolds(),
      [=] SS_LAMBDA(std::size_t m) {
        const auto pack = static_cast<std::size_t>(slot[m] / kPackWidth);
        const PackCell<const double> cell{impulse + pack * kImpulseFields * kPackWidth + slot[m] % kPackWidth,
                                          kPackWidth};
        for (int p = 0; p < ranges[m].count; ++p) r[ranges[m].first + p] = cell.get3<double>(3 * p);
      },
      kMedium);
}

void ManifoldSolver::world_impulses(Context& ctx, Vec<double, 4>* out) const {
  const std::int32_t* slot = order_.slot();
  const ManifoldRange* ranges = order_.ranges();
  const double *impulse = impulse_.data(), *data = data_.data();
  launch(
      ctx, order_.manifolds(),
      [=] SS_LAMBDA(std::size_t m) {
        const std::size_t pack = static_cast<std::size_t>(slot[m] / kPackWidth),
                          lane = static_cast<std::size_t>(slot[m] % kPackWidth);
        const PackCell<const double> cell{data + pack * kManifoldFields * kPackWidth + lane, kPackWidth},
            impulses{impulse + pack * kImpulseFields * kPackWidth + lane, kPackWidth};
        const Vec<double, 3> n = cell.get3<double>(manifold_field::normal),
                             t = cell.get3<double>(manifold_field::tangent);
        const Vec<double, 3> b = cross(n, t);
        for (int p = 0; p < ranges[m].count; ++p) {
          const Vec<double, 3> r = impulses.get3<double>(3 * p), f = r[0] * n + r[1] * t + r[2] * b;
          out[ranges[m].first + p] = {f[0], f[1], f[2], 0.0};
        }
      },
      kMedium);
}

void ManifoldSolver::put_blocks(Context& ctx, const BlockWriter<3>& writer, ContactLaw<3>* law) const {
  const std::int32_t *slot = order_.slot(), *body = body_.data(), world = static_cast<std::int32_t>(bodies_);
  const ManifoldRange* ranges = order_.ranges();
  const double* data = data_.data();
  launch(
      ctx, order_.manifolds(),
      [=] SS_LAMBDA(std::size_t m) {
        const std::size_t pack = static_cast<std::size_t>(slot[m] / kPackWidth),
                          lane = static_cast<std::size_t>(slot[m] % kPackWidth);
        const PackCell<const double> cell{data + pack * kManifoldFields * kPackWidth + lane, kPackWidth};
        const std::int32_t* sides = body + pack * 2 * kPackWidth + lane;
        const auto index = [&](std::int32_t b) { return b >= 0 ? b : ~b == world ? -1 : ~b; };
        for (int p = 0; p < ranges[m].count; ++p) {
          const ConstraintBlock<3> block =
              manifold_detail::block_of(cell, p, index(sides[0]), index(sides[kPackWidth]));
          const auto c = static_cast<std::size_t>(ranges[m].first + p);
          law[c] = block.law;
          writer.put(c, block);
        }
      },
      kMedium);
}

}  // namespace stickslip::STICKSLIP_BACKEND

#include "gpu/rigid/manifold/manifold_conjugate.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/rigid/manifold/manifold_lane.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Threads for `count` numbers: each processes as many as a thread has lanes, and the rest one each.
SS_HD inline std::size_t lane_threads(std::size_t count) { return count / kPackLanes + count % kPackLanes; }

/// Runs op(at, a number or lanes) for the numbers from `at` that thread `i` of lane_threads processes.
template <class Op>
SS_HD inline void run_on_lanes(std::size_t i, std::size_t count, const Op& op) {
  const std::size_t wide = count / kPackLanes;
  if (i < wide) op.template at<PackNumber>(i * kPackLanes);
  else op.template at<double>(wide * kPackLanes + (i - wide));
}

template <class S>
SS_HD inline S load(const double* from) {
  return PackCell<const double>{from, kPackWidth}.get<S>(0);
}

template <class S>
SS_HD inline void store(double* to, const S& value) {
  PackCell<double>{to, kPackWidth}.write(0, value);
}

/// Numbers of the state at the end of a sweep. Keeps them, or restores those kept before where the sweep's
/// step is undone. Then p = d + beta p with d = now - before.
struct KeepAndTurn {
  const ConjugateSums* sums;
  double* now;
  const double* before;
  double *kept, *p;

  /// p.
  template <class S>
  SS_HD S at(std::size_t i) const {
    const bool undone = sums->rejected != 0;
    const S end = load<S>((undone ? kept : now) + i);
    store<S>((undone ? now : kept) + i, end);
    const double beta = sums->beta();
    S turned = end - load<S>(before + i);
    // In the first iteration p is not set yet.
    if (beta != 0) turned = turned + S(beta) * load<S>(p + i);
    store<S>(p + i, turned);
    return turned;
  }
};

/// now = before + alpha p, unless there is no step. Then before = now, for the next sweep.
struct Step {
  const ConjugateSums* sums;
  double* before;
  const double* p;
  double* now;

  template <class S>
  SS_HD void at(std::size_t i) const {
    S end = load<S>(now + i);
    if (sums->energy > 0) {
      end = load<S>(before + i) + S(sums->alpha()) * load<S>(p + i);
      store<S>(now + i, end);
    }
    store<S>(before + i, end);
  }
};

/// Runs op on `count` numbers, unless *halt.
template <class Op>
void run_on_numbers(Context& ctx, const Op& op, const std::int32_t* halt, std::size_t count) {
  launch(
      ctx, lane_threads(count),
      [=] SS_LAMBDA(std::size_t i) {
        if (*halt == 0) run_on_lanes(i, count, op);
      },
      kLight);
}

/// A body's part of <p, W p> and <p, u> without the terms of E and w, at the velocities `v`.
struct DirectionSums {
  const double *mass, *p_v, *v;

  SS_HD Vec<double, 2> operator()(std::size_t b) const {
    const std::size_t at = b * kMotionFields;
    return Vec<double, 2>{manifold_detail::mass_product(mass + at, p_v + at, p_v + at),
                          manifold_detail::mass_product(mass + at, p_v + at, v + at)};
  }
};

/// KeepAndTurn of the impulses of a point in as many lanes as a thread has, or of one row of a block. Then
/// the terms of E and w in <p, W p> and <p, u>, at the impulses before the sweep.
struct TurnImpulses {
  KeepAndTurn turn;
  const std::int32_t* halt;
  const double* data;
  std::size_t threads, rows_at;  // of packs; where the rows of blocks begin
  const Vec<double, 2>* block_soft;

  SS_HD Vec<double, 2> operator()(std::size_t i) const {
    if (*halt != 0) return Vec<double, 2>{0, 0};
    return i < threads ? of_point(i) : of_row(block_soft[i - threads], rows_at + (i - threads));
  }
  SS_HD Vec<double, 2> of_row(const Vec<double, 2>& soft, std::size_t at) const {
    return soft_sums(soft[0], soft[1], turn.before[at], turn.at<double>(at));
  }
  SS_HD Vec<double, 2> of_point(std::size_t i) const {
    constexpr std::size_t width = kPackWidth, threads_of_pack = kPackWidth / kPackLanes;
    const std::size_t lane = i % threads_of_pack, point = i / threads_of_pack % kManifoldPoints,
                      pack = i / threads_of_pack / kManifoldPoints;
    const std::size_t at = (pack * kImpulseFields + 3 * point) * width + lane,
                      field = static_cast<std::size_t>(point_at(static_cast<int>(point)));
    const PackNumber p = turn.at<PackNumber>(at);
    for (std::size_t k = 1; k < 3; ++k) turn.at<PackNumber>(at + k * width);
    const double* cell = data + (pack * kManifoldFields + field) * width + lane;
    return soft_sums(load<PackNumber>(cell + point_field::softness * width),
                     load<PackNumber>(cell + point_field::speed * width), load<PackNumber>(turn.before + at),
                     p);
  }
  template <class S>
  SS_HD Vec<double, 2> soft_sums(const S& softness, const S& speed, const S& before, const S& p) const {
    return Vec<double, 2>{sum(softness * p * p), sum((speed + softness * before) * p)};
  }
};

/// Takes the energies of a direction without and with E and w.
void set_energies(Context& ctx, const Vec<double, 2>* pair, const Vec<double, 2>* soft, ConjugateSums* sums) {
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    sums->energy = (*pair)[0];
    sums->slope = (*pair)[1];
    sums->soft_energy = (*soft)[0];
    sums->soft_slope = (*soft)[1];
    sums->settle();
  });
}

}  // namespace

void ConjugateSteps::prepare(Context& ctx) {
  sums_.resize(ctx, 1);
  pair_sum_.resize(ctx, 1);
  soft_sum_.resize(ctx, 1);
  change_sum_.resize(ctx, 1);
}

void ConjugateSteps::restart(Context& ctx, const SweptManifolds& now) {
  fill(ctx, sums_.data(), 1, ConjugateSums{});
  for (Buffer<double>* b : {&impulse_before_, &swept_impulse_, &p_}) b->resize(ctx, now.impulse_size);
  for (Buffer<double>* b : {&v_before_, &swept_v_, &p_v_}) b->resize(ctx, now.v_size);
  copy(ctx, impulse_before_.data(), now.impulse, now.impulse_size);
  copy(ctx, v_before_.data(), now.v, now.v_size);
}

void ConjugateSteps::measure_change(Context& ctx, const SweptManifolds& now) {
  // The first iteration has no previous direction: `energy` is zero then, and these values are ignored.
  const double *v = now.v, *v_before = v_before_.data(), *mass = now.mass, *p_v = p_v_.data(),
               *v_free = now.v_free;
  ConjugateSums* sums = sums_.data();
  reduce_sum(
      ctx, now.bodies,
      [=] SS_LAMBDA(std::size_t b) {
        const std::size_t at = b * kMotionFields;
        double d[kMotionFields];
        for (std::size_t i = 0; i < kMotionFields; ++i) d[i] = v[at + i] - v_before[at + i];
        return Vec<double, 3>{sums->energy > 0 ? manifold_detail::mass_product(mass + at, p_v + at, d) : 0.0,
                              manifold_detail::mass_product(mass + at, d, d),
                              manifold_detail::mass_product(mass + at, v + at, v + at) +
                                  manifold_detail::mass_product(mass + at, v_free + at, v_free + at)};
      },
      change_sum_.data(), kMedium);
  const Vec<double, 3>* change = change_sum_.data();
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { sums->take_change((*change)[0], (*change)[1], (*change)[2]); });
}

void ConjugateSteps::turn(Context& ctx, const SweptManifolds& now) {
  const ConjugateSums* sums = sums_.data();
  run_on_numbers(ctx, KeepAndTurn{sums, now.v, v_before_.data(), swept_v_.data(), p_v_.data()}, now.halt,
                 now.v_size);
  const KeepAndTurn impulses{sums, now.impulse, impulse_before_.data(), swept_impulse_.data(), p_.data()};
  const std::size_t rows_at = now.impulse_size - now.block_rows, threads = rows_at / 3 / kPackLanes;
  reduce_sum(ctx, threads + now.block_rows,
             TurnImpulses{impulses, now.halt, now.data, threads, rows_at, now.block_soft}, soft_sum_.data(),
             kMedium);
}

void ConjugateSteps::step(Context& ctx, const SweptManifolds& now) {
  ConjugateSums* sums = sums_.data();
  reduce_sum(ctx, now.bodies, DirectionSums{now.mass, p_v_.data(), v_before_.data()}, pair_sum_.data(),
             kMedium);
  set_energies(ctx, pair_sum_.data(), soft_sum_.data(), sums);
  run_on_numbers(ctx, Step{sums, v_before_.data(), p_v_.data(), now.v}, now.halt, now.v_size);
  run_on_numbers(ctx, Step{sums, impulse_before_.data(), p_.data(), now.impulse}, now.halt, now.impulse_size);
}

}  // namespace stickslip::STICKSLIP_BACKEND

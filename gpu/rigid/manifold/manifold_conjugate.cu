#include "gpu/rigid/manifold/manifold_conjugate.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/rigid/manifold/manifold_lane.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Keeps the numbers of a sweep, or restores those kept before where the sweep's step is undone.
void keep_or_restore_array(Context& ctx, const ConjugateSums* sums, const std::int32_t* halt,
                           std::size_t count, double* now, double* kept) {
  launch(
      ctx, count,
      [=] SS_LAMBDA(std::size_t i) {
        if (*halt != 0) return;
        if (sums->rejected != 0) now[i] = kept[i];
        else kept[i] = now[i];
      },
      kLight);
}

/// p = d + beta p with d = now - before.
void turn_array(Context& ctx, const ConjugateSums* sums, std::size_t count, const double* now,
                const double* before, double* p) {
  launch(
      ctx, count,
      [=] SS_LAMBDA(std::size_t i) {
        p[i] = manifold_detail::conjugate(sums->beta(), p + i, now[i] - before[i]);
      },
      kLight);
}

/// now = before + alpha p, unless there is no step.
void step_array(Context& ctx, const ConjugateSums* sums, const std::int32_t* halt, std::size_t count,
                const double* before, const double* p, double* now) {
  launch(
      ctx, count,
      [=] SS_LAMBDA(std::size_t i) {
        if (*halt == 0 && sums->energy > 0) now[i] = before[i] + sums->alpha() * p[i];
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

/// The terms of E and w of one contact, or of one row of a block, at the impulses `r`.
struct SoftSums {
  const double *data, *p, *r;
  std::size_t contacts;  // points of packs
  const Vec<double, 2>* block_soft;

  SS_HD Vec<double, 2> operator()(std::size_t i) const {
    return i < contacts ? of_contact(i) : of_row(block_soft[i - contacts], 2 * contacts + i);
  }
  SS_HD Vec<double, 2> of_row(const Vec<double, 2>& soft, std::size_t at) const {
    return Vec<double, 2>{soft[0] * p[at] * p[at], (soft[1] + soft[0] * r[at]) * p[at]};
  }
  SS_HD Vec<double, 2> of_contact(std::size_t i) const {
    constexpr std::size_t lanes = kPackWidth, points = kManifoldPoints;
    const std::size_t lane = i % lanes, point = i / lanes % points, pack = i / lanes / points;
    const std::size_t at = (pack * kImpulseFields + 3 * point) * lanes + lane,
                      field = static_cast<std::size_t>(point_at(static_cast<int>(point)));
    const double* cell = data + (pack * kManifoldFields + field) * lanes + lane;
    const double speed = cell[point_field::speed * lanes], softness = cell[point_field::softness * lanes];
    return Vec<double, 2>{softness * p[at] * p[at], (speed + softness * r[at]) * p[at]};
  }
};

void set_energy(Context& ctx, const Vec<double, 2>* pair, ConjugateSums* sums) {
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    sums->energy = (*pair)[0];
    sums->slope = (*pair)[1];
  });
}

/// Call after set_energy.
void set_soft_energy(Context& ctx, const Vec<double, 2>* pair, ConjugateSums* sums) {
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    sums->soft_energy = (*pair)[0];
    sums->soft_slope = (*pair)[1];
    sums->settle();
  });
}

}  // namespace

void ConjugateSteps::prepare(Context& ctx) {
  sums_.resize(ctx, 1);
  pair_sum_.resize(ctx, 1);
  change_sum_.resize(ctx, 1);
}

void ConjugateSteps::restart(Context& ctx) { fill(ctx, sums_.data(), 1, ConjugateSums{}); }

void ConjugateSteps::remember(Context& ctx, const SweptManifolds& now) {
  impulse_before_.resize(ctx, now.impulse_size);
  v_before_.resize(ctx, now.v_size);
  copy(ctx, impulse_before_.data(), now.impulse, now.impulse_size);
  copy(ctx, v_before_.data(), now.v, now.v_size);
}

void ConjugateSteps::step(Context& ctx, const SweptManifolds& now) {
  turn_direction(ctx, now);
  measure_direction(ctx, now);
  step_along(ctx, now);
}

void ConjugateSteps::measure_change(Context& ctx, const SweptManifolds& now) {
  // The first iteration has no previous direction: `energy` is zero then, and these values are ignored.
  for (Buffer<double>* b : {&p_, &swept_impulse_}) b->resize(ctx, now.impulse_size);
  for (Buffer<double>* b : {&p_v_, &swept_v_}) b->resize(ctx, now.v_size);
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

void ConjugateSteps::keep_or_restore(Context& ctx, const SweptManifolds& now) {
  keep_or_restore_array(ctx, sums_.data(), now.halt, now.v_size, now.v, swept_v_.data());
  keep_or_restore_array(ctx, sums_.data(), now.halt, now.impulse_size, now.impulse, swept_impulse_.data());
}

/// p = d + beta p with the change d of the last sweeps, W-conjugate to the previous p.
void ConjugateSteps::turn_direction(Context& ctx, const SweptManifolds& now) {
  turn_array(ctx, sums_.data(), now.v_size, now.v, v_before_.data(), p_v_.data());
  turn_array(ctx, sums_.data(), now.impulse_size, now.impulse, impulse_before_.data(), p_.data());
}

/// <p, W p> and <p, u> at the iterate before the sweeps.
void ConjugateSteps::measure_direction(Context& ctx, const SweptManifolds& now) {
  Vec<double, 2>* pair = pair_sum_.data();
  reduce_sum(ctx, now.bodies, DirectionSums{now.mass, p_v_.data(), v_before_.data()}, pair, kMedium);
  set_energy(ctx, pair, sums_.data());
  const std::size_t contacts = (now.impulse_size - now.block_rows) / 3;
  reduce_sum(ctx, contacts + now.block_rows,
             SoftSums{now.data, p_.data(), impulse_before_.data(), contacts, now.block_soft}, pair, kMedium);
  set_soft_energy(ctx, pair, sums_.data());
}

void ConjugateSteps::step_along(Context& ctx, const SweptManifolds& now) {
  step_array(ctx, sums_.data(), now.halt, now.v_size, v_before_.data(), p_v_.data(), now.v);
  step_array(ctx, sums_.data(), now.halt, now.impulse_size, impulse_before_.data(), p_.data(), now.impulse);
}

}  // namespace stickslip::STICKSLIP_BACKEND

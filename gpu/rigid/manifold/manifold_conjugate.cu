#include "gpu/rigid/manifold/manifold_conjugate.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/rigid/manifold/manifold_lane.h"

namespace stickslip::STICKSLIP_BACKEND {

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
  keep_or_restore(ctx, now.halt, now.v, swept_v_.data(), now.v_size);
  keep_or_restore(ctx, now.halt, now.impulse, swept_impulse_.data(), now.impulse_size);
}

void ConjugateSteps::keep_or_restore(Context& ctx, const std::int32_t* halt, double* now, double* kept,
                                     std::size_t count) {
  const ConjugateSums* sums = sums_.data();
  launch(
      ctx, count,
      [=] SS_LAMBDA(std::size_t i) {
        if (*halt != 0) return;
        if (sums->rejected != 0) now[i] = kept[i];
        else kept[i] = now[i];
      },
      kLight);
}

/// p = d + beta p with the change d of the last sweeps, W-conjugate to the previous p.
void ConjugateSteps::turn_direction(Context& ctx, const SweptManifolds& now) {
  double *p = p_.data(), *p_v = p_v_.data();
  const double *r = now.impulse, *v = now.v, *r_before = impulse_before_.data(), *v_before = v_before_.data();
  const ConjugateSums* sums = sums_.data();
  launch(
      ctx, now.v_size,
      [=] SS_LAMBDA(std::size_t i) {
        p_v[i] = manifold_detail::conjugate(sums->beta(), p_v[i], v[i] - v_before[i]);
      },
      kLight);
  launch(
      ctx, now.impulse_size,
      [=] SS_LAMBDA(std::size_t i) {
        p[i] = manifold_detail::conjugate(sums->beta(), p[i], r[i] - r_before[i]);
      },
      kLight);
}

/// <p, W p> and <p, u> at the iterate before the sweeps.
void ConjugateSteps::measure_direction(Context& ctx, const SweptManifolds& now) {
  const double *p = p_.data(), *p_v = p_v_.data(), *r_before = impulse_before_.data(),
               *v_before = v_before_.data(), *mass = now.mass, *data = now.data;
  ConjugateSums* sums = sums_.data();
  Vec<double, 2>* pair = pair_sum_.data();
  reduce_sum(
      ctx, now.bodies,
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
      ctx, now.impulse_size / 3,
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
    sums->settle();
  });
}

void ConjugateSteps::step_along(Context& ctx, const SweptManifolds& now) {
  const double *p = p_.data(), *p_v = p_v_.data(), *r_before = impulse_before_.data(),
               *v_before = v_before_.data();
  double *r = now.impulse, *v = now.v;
  const ConjugateSums* sums = sums_.data();
  const std::int32_t* halt = now.halt;
  launch(
      ctx, now.v_size,
      [=] SS_LAMBDA(std::size_t i) {
        if (*halt == 0 && sums->energy > 0) v[i] = v_before[i] + sums->alpha() * p_v[i];
      },
      kLight);
  launch(
      ctx, now.impulse_size,
      [=] SS_LAMBDA(std::size_t i) {
        if (*halt == 0 && sums->energy > 0) r[i] = r_before[i] + sums->alpha() * p[i];
      },
      kLight);
}

}  // namespace stickslip::STICKSLIP_BACKEND

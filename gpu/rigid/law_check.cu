#include "gpu/rigid/law_check.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/trace.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace law_checker_detail {

using V3 = Vec<double, 3>;

/// A body of a contact; the world has the index -1.
struct ContactSide {
  std::int32_t body;
  BodyAtStep at;  // with velocities at the start of the step
  V3 arm;         // from the centre to the contact

  /// Velocity of the contact's point.
  SS_HD V3 speed(const V3& velocity, const V3& spin) const { return velocity + cross(spin, arm); }

  /// Its part of trace(W_cc): the rows are an orthonormal frame, and sum_d (x d).I^-1 (x d) over it, with the
  /// arm x, is |x|^2 trace(I^-1) - x.I^-1 x. `radius`: of torsion about n; 0: no such row.
  SS_HD double mobility(const V3& n, double radius) const {
    const Vec<double, 6>& inertia = at.inverse.inertia;
    const double trace = 3 * at.inverse.mass + norm2(arm) * (inertia[0] + inertia[1] + inertia[2]) -
                         dot(arm, at.inverse.turn(arm));
    return radius > 0 ? trace + radius * radius * dot(n, at.inverse.turn(n)) : trace;
  }
  /// n . W n of the row along the normal.
  SS_HD double normal_mobility(const V3& n) const {
    const V3 turn = cross(arm, n);
    return at.inverse.mass + dot(turn, at.inverse.turn(turn));
  }
  /// trace(I^-1) over the tangents.
  SS_HD double tilt_mobility(const V3& n) const {
    const Vec<double, 6>& inertia = at.inverse.inertia;
    return inertia[0] + inertia[1] + inertia[2] - dot(n, at.inverse.turn(n));
  }
};

/// One contact under the judge.
template <int D>
struct ContactCheck {
  ContactBlocks<D> blocks;    // with velocities at the start of the step
  const V3 *velocity, *spin;  // at its end
  double most_speed;

  SS_HD ContactSide side(std::int32_t b, const V3& point) const {
    const BodyAtStep at = blocks.at.at_step(b);
    return {b, at, point - at.pose.x};
  }
  SS_HD V3 end_speed(const ContactSide& s) const {
    return s.body < 0 ? V3{0, 0, 0} : s.speed(velocity[s.body], spin[s.body]);
  }
  SS_HD V3 free_spin(const ContactSide& s) const {
    const double* f = blocks.free + 6 * s.body;
    return s.body < 0 ? V3{0, 0, 0} : V3{f[3], f[4], f[5]};
  }
  /// Without impulses.
  SS_HD V3 free_speed(const ContactSide& s) const {
    const double* f = blocks.free + 6 * s.body;
    return s.body < 0 ? V3{0, 0, 0} : s.speed({f[0], f[1], f[2]}, free_spin(s));
  }
  SS_HD double spin_about(const ContactSide& s, const V3& n) const {
    return s.body < 0 ? 0.0 : dot(n, spin[s.body]);
  }
  SS_HD V3 end_spin(const ContactSide& s) const { return s.body < 0 ? V3{0, 0, 0} : spin[s.body]; }
  /// Work that a scripted body does against the impulse on it, at the point's velocity.
  SS_HD static double script_work(const ContactSide& s, const V3& point_speed, const V3& on_it) {
    return s.body >= 0 && !(s.at.inverse.mass > 0) ? -dot(on_it, point_speed) : 0.0;
  }

  /// u_N of a contact is n . velocity + this; sets the part without compliance, and the sum of compliances.
  SS_HD double offset(std::size_t index, const RigidContact& c, const ContactSide& a, const ContactSide& b,
                      const SurfacePair& pair, const ContactOutcome& end, double& rigid,
                      double& softness) const {
    if (!blocks.soft && pair.compliance > 0) {
      // A spring: the gap at the end of the step is -compliance r_N / dt.
      const double dt = blocks.options.feedback.dt, e = pair.compliance / (dt * dt);
      const V3 closing = a.speed(a.at.velocity, a.at.spin) - b.speed(b.at.velocity, b.at.spin);
      softness = e;
      rigid = rigid_detail::contact_speed(blocks.options, c.gap, dot(end.n, closing), pair.restitution,
                                          pair.compliance);
      return rigid + e * dot(end.n, end.impulse);
    }
    if (blocks.soft || blocks.options.feedback.softness > 0) {
      const ConstraintBlock<D> block = blocks.of(index, c);
      rigid = block.w[0];
      softness = block.compliance[0] + block.compliance[1] + block.compliance[2];
      return rigid + block.compliance[0] * dot(end.n, end.impulse);
    }
    const V3 before = a.speed(a.at.velocity, a.at.spin) - b.speed(b.at.velocity, b.at.spin);
    softness = 0;
    return rigid = rigid_detail::contact_speed(blocks.options, c.gap, dot(end.n, before), pair.restitution);
  }

  /// The law of contact c at the velocities and impulses at the end: coefficients of its slip speed and its
  /// load, and the image of its friction under a tensor. Whatever coefficients the solver had do not count.
  SS_HD void apply_law(const SurfacePair& pair, const FrictionFrame& base, ContactOutcome& end) const {
    if (!depends_on_solution(pair, base)) return;
    const double rn = dot(end.n, end.impulse);
    if (pair.tresca > 0) {
      if (rn > 0) end.mu1 = end.mu2 = tresca_coefficient(pair.tresca, blocks.options.feedback.dt, rn);
      return;
    }
    const V3 slip = end.velocity - dot(end.n, end.velocity) * end.n + end.slip_offset;
    const double speed = std::sqrt(norm2(slip) + end.spin * end.spin);
    end.mu1 = coefficient_at(pair, base.mu1, speed);
    end.mu2 = coefficient_at(pair, base.mu2, speed);
    if (base.is_one_sided) {
      end.is_one_sided = true;
      end.mu1 = coefficient_at(pair, base.forth[0], speed);
      end.mu2 = coefficient_at(pair, base.forth[1], speed);
      for (int i = 0; i < 2; ++i) end.back[i] = coefficient_at(pair, base.back[i], speed);
    }
    if (!base.is_tensor) return;
    const Mat2d l = tensor_at(pair, base.tensor, speed);
    end.mu1 = end.mu2 = mean_friction(l);
    end.is_image = true;
    end.image = coulomb_image(l, {dot(end.t1, end.impulse), dot(end.t2, end.impulse)});
  }

  /// Work of a scripted body against the moment of rolling resistance on it.
  SS_HD double script_turning(const ContactSide& s, const V3& on_it) const {
    return s.body >= 0 && !(s.at.inverse.mass > 0) ? -dot(on_it, end_spin(s)) : 0.0;
  }

  /// `moment`: of rolling resistance on a.
  SS_HD ContactTotals operator()(std::size_t index, const RigidContact& c, const Vec<double, 4>& f,
                                 const V3& moment) const {
    const ContactSide a = side(c.a, c.point), b = side(c.b, c.point);
    if (!(a.at.inverse.mass > 0) && !(b.at.inverse.mass > 0)) return {};  // both immovable: asleep or held
    const typename ContactBlocks<D>::Friction friction = blocks.base_friction(c);
    ContactOutcome end;
    end.n = friction.frame.frame.n;
    end.t1 = friction.frame.frame.t1;
    end.t2 = friction.frame.frame.t2;
    end.mu1 = friction.frame.mu1;
    end.mu2 = friction.frame.mu2;
    end.impulse = {f[0], f[1], f[2]};
    const V3 speed_a = end_speed(a), speed_b = end_speed(b);
    end.velocity = speed_a - speed_b;
    double rigid, softness;
    end.offset = offset(index, c, a, b, friction.pair, end, rigid, softness);
    const V3 before = a.speed(a.at.velocity, a.at.spin) - b.speed(b.at.velocity, b.at.spin);
    end.slip_offset =
        rigid_detail::slip_offset(blocks.options, c.gap, end.n, before, friction.pair.tangential_restitution);
    const double radius = D == 4 ? friction.pair.torsion_radius : 0.0;
    // q_c: one row along n, the others are a frame with it.
    const V3 free = free_speed(a) - free_speed(b) + end.slip_offset;
    double q2 = norm2(free) + rigid * (2 * dot(end.n, free) + rigid);
    if (radius > 0) {
      end.twist = f[3];
      end.spin = radius * (spin_about(a, end.n) - spin_about(b, end.n));
      const double turning = radius * dot(end.n, free_spin(a) - free_spin(b));
      q2 += turning * turning;
    }
    apply_law(friction.pair, friction.frame, end);
    if (radius > 0)
      end.mu_twist = end.is_one_sided ? 0.5 * std::sqrt((end.mu1 + end.back[0]) * (end.mu2 + end.back[1]))
                                      : std::sqrt(end.mu1 * end.mu2);
    double trace = softness + a.mobility(end.n, radius) + b.mobility(end.n, radius);
    int rows = radius > 0 ? 4 : 3;
    if (friction.pair.rolling > 0) {
      // In the length in which the rolling rows have the mobility of the rows of friction.
      const double slides = a.mobility(end.n, 0) + b.mobility(end.n, 0) - a.normal_mobility(end.n) -
                            b.normal_mobility(end.n),
                   length2 = slides / (a.tilt_mobility(end.n) + b.tilt_mobility(end.n));
      const V3 free_turn = free_spin(a) - free_spin(b), tilt = free_turn - dot(end.n, free_turn) * end.n;
      end.rolling = friction.pair.rolling;
      end.moment = moment;
      end.turn = end_spin(a) - end_spin(b);
      end.length = std::sqrt(length2);
      q2 += length2 * norm2(tilt);
      trace += slides;
      rows = 5;
    }
    ContactTotals totals = judge_contact(end, trace / rows, q2, most_speed);
    totals.law.torque = norm(cross(c.point, end.impulse));
    totals.work = script_work(a, speed_a, end.impulse) + script_work(b, speed_b, -end.impulse);
    if (friction.pair.rolling > 0) {
      totals.law.torque += norm(moment);
      totals.work += script_turning(a, moment) + script_turning(b, -moment);
    }
    return totals;
  }
};

/// The momentum that one contact gives to the counted bodies.
template <int D>
struct ContactPush {
  ContactBlocks<D> blocks;
  CountedBodies counted;
  CohesivePulls pulls;

  SS_HD MomentumSums operator()(std::size_t index, const RigidContact& c, const Vec<double, 4>& f,
                                const V3& moment) const {
    MomentumSums sums = MomentumSums::zero();
    const bool has_a = counted.has(blocks.at.inverse, c.a), has_b = counted.has(blocks.at.inverse, c.b);
    if (!has_a && !has_b) return sums;
    const V3 impulse = V3{f[0], f[1], f[2]} - pulls(index) * c.normal;
    V3 torque = cross(c.point, impulse);
    if constexpr (D == kRollingRows) torque += moment;
    if constexpr (D == 4) {
      // A torsional impulse is a torque n f_4 rho.
      const typename ContactBlocks<D>::Friction friction = blocks.base_friction(c);
      torque += friction.pair.torsion_radius * f[3] * friction.frame.frame.n;
    }
    if (has_a) sums += momentum_sums(impulse, torque, 1, momentum_sign(c.a));
    if (has_b) sums += momentum_sums(impulse, torque, -1, -momentum_sign(c.b));
    return sums;
  }
};

}  // namespace law_checker_detail

using namespace law_checker_detail;

template <int D>
void LawChecker<D>::begin(Context& ctx, const DeviceBodies& bodies) {
  velocity_.resize(ctx, bodies.size());
  spin_.resize(ctx, bodies.size());
  copy(ctx, velocity_.data(), bodies.velocity.data(), bodies.size());
  copy(ctx, spin_.data(), bodies.spin.data(), bodies.size());
}

template <int D>
void LawChecker<D>::check(Context& ctx, const DeviceBodies& bodies, ContactBlocks<D> blocks,
                          const RigidContact* contacts, std::size_t count, const Vec<double, 4>* impulse,
                          const V3* moment, const CountedBodies& counted, const MouseSpring& held,
                          const Cohesion& cohesion, double most_speed, JudgeSums* out) {
  const Span span(ctx, "law check");
  totals_.resize(ctx, 1);
  pushed_.resize(ctx, 1);
  gained_.resize(ctx, 1);
  refer_to_start(blocks.at);
  const ContactCheck<D> check{blocks, bodies.velocity.data(), bodies.spin.data(), most_speed};
  reduce(
      ctx, count,
      [=] SS_LAMBDA(std::size_t c) {
        return check(c, contacts[c], impulse[c], moment != nullptr ? moment[c] : V3{0, 0, 0});
      },
      AddContacts{}, ContactTotals{}, totals_.data(), kMedium);
  const ContactPush<D> push{blocks, counted, cohesion.pulls()};
  reduce_sum(
      ctx, count,
      [=] SS_LAMBDA(std::size_t c) {
        return push(c, contacts[c], impulse[c], moment != nullptr ? moment[c] : V3{0, 0, 0});
      },
      pushed_.data(), kMedium);
  const BodyInverse* inverse = bodies.inverse.data();
  const Pose* pose = bodies.pose.data();
  const V3 *velocity = bodies.velocity.data(), *spin = bodies.spin.data();
  const double* free = cohesion.free() != nullptr ? cohesion.free() : bodies.free.data();
  reduce(
      ctx, bodies.size(),
      [=] SS_LAMBDA(std::size_t b) {
        const auto index = static_cast<std::int32_t>(b);
        BodyMomentum sums;
        if (index == held.body) sums.work = dot(held.impulse, velocity[b]) + dot(held.twist, spin[b]);
        if (!counted.has(inverse, index)) return sums;
        const double* before = free + 6 * b;
        const V3 linear = (1 / inverse[b].mass) * (velocity[b] - V3{before[0], before[1], before[2]});
        V3 angular = cross(pose[b].x, linear);
        if (inverse[b].inertia[0] > 0)
          angular += stickslip::inverse(inverse[b].inertia_matrix()) *
                     (spin[b] - V3{before[3], before[4], before[5]});
        sums.gained = momentum_sums(linear, angular, 1, momentum_sign(index));
        sums.size = (1 / inverse[b].mass) * norm(velocity[b]);
        return sums;
      },
      AddMomentum{}, BodyMomentum{}, gained_.data(), kMedium);
  const ContactTotals* totals = totals_.data();
  const MomentumSums* pushed = pushed_.data();
  const BodyMomentum* gained = gained_.data();
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *out = judge_sums(*totals, *gained, *pushed); });
}

template class LawChecker<3>;
template class LawChecker<4>;
template class LawChecker<5>;

}  // namespace stickslip::STICKSLIP_BACKEND

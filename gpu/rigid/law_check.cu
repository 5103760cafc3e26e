#include "gpu/rigid/law_check.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/trace.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace law_checker_detail {

using V3 = Vec<double, 3>;

/// One contact under the judge.
template <int D>
struct ContactCheck {
  ContactBlocks<D> blocks;    // with velocities at the start of the step
  const V3 *velocity, *spin;  // at its end
  double most_speed;

  SS_HD V3 speed(std::int32_t b, const V3& point) const {
    return b < 0 ? V3{0, 0, 0} : velocity[b] + cross(spin[b], point - blocks.at.pose[b].x);
  }
  SS_HD double spin_about(std::int32_t b, const V3& n) const { return b < 0 ? 0.0 : dot(n, spin[b]); }

  /// Velocity of b's point without impulses.
  SS_HD V3 free_speed(std::int32_t b, const V3& point) const {
    if (b < 0) return {0, 0, 0};
    const double* f = blocks.free + 6 * b;
    return V3{f[0], f[1], f[2]} + cross(V3{f[3], f[4], f[5]}, point - blocks.at.pose[b].x);
  }
  SS_HD double free_spin_about(std::int32_t b, const V3& n) const {
    const double* f = blocks.free + 6 * b;
    return b < 0 ? 0.0 : dot(n, V3{f[3], f[4], f[5]});
  }
  /// Work that a scripted body does against the impulse on it.
  SS_HD double script_work(const BodyAtStep& side, std::int32_t b, const V3& point, const V3& on_it) const {
    return b >= 0 && !(side.inverse.mass > 0) ? -dot(on_it, speed(b, point)) : 0.0;
  }

  /// |q_c|^2 with torsion radius `radius`; 0: no such row.
  SS_HD double free_norm2(const RigidContact& c, const ContactOutcome& at, double offset,
                          double radius) const {
    const V3 free = free_speed(c.a, c.point) - free_speed(c.b, c.point);
    const double n = dot(at.n, free) + offset, t1 = dot(at.t1, free), t2 = dot(at.t2, free),
                 spin = radius > 0 ? radius * (free_spin_about(c.a, at.n) - free_spin_about(c.b, at.n)) : 0.0;
    return n * n + t1 * t1 + t2 * t2 + spin * spin;
  }
  /// A body's part of trace(W_cc).
  SS_HD static double mobility(const BodyAtStep& side, const V3& point, const ContactOutcome& at,
                               double radius) {
    const V3 arm = point - side.pose.x, rows[3] = {at.n, at.t1, at.t2};
    double trace = 3 * side.inverse.mass + radius * radius * dot(at.n, side.inverse.turn(at.n));
    for (const V3& row : rows) {
      const V3 lever = cross(arm, row);
      trace += dot(lever, side.inverse.turn(lever));
    }
    return trace;
  }

  SS_HD ContactTotals operator()(const RigidContact& c, const Vec<double, 4>& f) const {
    const BodyAtStep a = blocks.at.at_step(c.a), b = blocks.at.at_step(c.b);
    if (!(a.inverse.mass > 0) && !(b.inverse.mass > 0)) return {};  // both immovable: asleep or held
    const typename ContactBlocks<D>::Friction friction = blocks.friction(c);
    ContactOutcome end;
    end.n = friction.frame.frame.n;
    end.t1 = friction.frame.frame.t1;
    end.t2 = friction.frame.frame.t2;
    end.mu1 = friction.frame.mu1;
    end.mu2 = friction.frame.mu2;
    end.impulse = {f[0], f[1], f[2]};
    end.velocity = speed(c.a, c.point) - speed(c.b, c.point);
    double offset = 0, softness = 0;  // w_N, and the sum of compliances
    if (blocks.soft || blocks.options.feedback.softness > 0) {
      const ConstraintBlock<D> block = blocks.of(c);
      offset = block.w[0];
      end.offset = offset + block.compliance[0] * dot(end.n, end.impulse);
      for (int i = 0; i < 3; ++i) softness += block.compliance[i];
    } else {
      const V3 before =
          a.velocity + cross(a.spin, c.point - a.pose.x) - b.velocity - cross(b.spin, c.point - b.pose.x);
      end.offset = offset =
          rigid_detail::contact_speed(blocks.options, c.gap, dot(end.n, before), friction.pair.restitution);
    }
    const double radius = friction.pair.torsion_radius;
    const bool twists = D == 4 && radius > 0;
    if (twists) {
      end.twist = f[3];
      end.spin = radius * (spin_about(c.a, end.n) - spin_about(c.b, end.n));
      end.mu_twist = std::sqrt(end.mu1 * end.mu2);
    }
    const double trace = softness + mobility(a, c.point, end, twists ? radius : 0.0) +
                         mobility(b, c.point, end, twists ? radius : 0.0);
    ContactTotals totals = judge_contact(end, trace / (twists ? 4 : 3),
                                         free_norm2(c, end, offset, twists ? radius : 0.0), most_speed);
    totals.law.torque = norm(cross(c.point, end.impulse));
    totals.work = script_work(a, c.a, c.point, end.impulse) + script_work(b, c.b, c.point, -end.impulse);
    return totals;
  }
};

/// The momentum that one contact gives to the counted bodies.
template <int D>
struct ContactPush {
  ContactBlocks<D> blocks;
  CountedBodies counted;

  SS_HD MomentumSums operator()(const RigidContact& c, const Vec<double, 4>& f) const {
    MomentumSums sums = MomentumSums::zero();
    const bool has_a = counted.has(blocks.at.inverse, c.a), has_b = counted.has(blocks.at.inverse, c.b);
    if (!has_a && !has_b) return sums;
    const V3 impulse{f[0], f[1], f[2]};
    V3 torque = cross(c.point, impulse);
    if constexpr (D == 4) {
      // A torsional impulse is a torque n f_4 rho.
      const typename ContactBlocks<D>::Friction friction = blocks.friction(c);
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
                          const CountedBodies& counted, const MouseSpring& held, double most_speed,
                          JudgeSums* out) {
  const Span span(ctx, "law check");
  totals_.resize(ctx, 1);
  pushed_.resize(ctx, 1);
  gained_.resize(ctx, 1);
  blocks.at.velocity = velocity_.data();
  blocks.at.spin = spin_.data();
  const ContactCheck<D> check{blocks, bodies.velocity.data(), bodies.spin.data(), most_speed};
  reduce(
      ctx, count, [=] SS_LAMBDA(std::size_t c) { return check(contacts[c], impulse[c]); }, AddContacts{},
      ContactTotals{}, totals_.data(), kMedium);
  const ContactPush<D> push{blocks, counted};
  reduce_sum(
      ctx, count, [=] SS_LAMBDA(std::size_t c) { return push(contacts[c], impulse[c]); }, pushed_.data(),
      kMedium);
  const BodyInverse* inverse = bodies.inverse.data();
  const Pose* pose = bodies.pose.data();
  const V3 *velocity = bodies.velocity.data(), *spin = bodies.spin.data();
  const double* free = bodies.free.data();
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

}  // namespace stickslip::STICKSLIP_BACKEND

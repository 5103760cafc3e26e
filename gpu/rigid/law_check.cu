#include "gpu/rigid/law_check.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/trace.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace law_checker_detail {

using V3 = Vec<double, 3>;

/// +1 or -1, pseudo-random, the same in every run.
SS_HD inline double sign_of(std::int32_t body) {
  std::uint32_t x = static_cast<std::uint32_t>(body) * 2654435761u;
  x ^= x >> 15;
  x *= 2246822519u;
  return ((x >> 16) & 1u) != 0 ? 1.0 : -1.0;
}

SS_HD inline MomentumSums momentum(const V3& linear, const V3& angular, double plain, double with_sign) {
  MomentumSums out;
  for (int i = 0; i < 3; ++i) {
    out[i] = plain * linear[i];
    out[3 + i] = plain * angular[i];
    out[6 + i] = with_sign * linear[i];
    out[9 + i] = with_sign * angular[i];
  }
  return out;
}

struct WorseSums {
  SS_HD LawSums operator()(const LawSums& a, const LawSums& b) const {
    return {worse(a.contacts, b.contacts), a.pushed + b.pushed};
  }
};

struct PlusMomentum {
  SS_HD BodyMomentum operator()(const BodyMomentum& a, const BodyMomentum& b) const {
    return {a.gained + b.gained, a.size + b.size};
  }
};

template <int D>
struct ContactCheck {
  ContactBlocks<D> blocks;    // with velocities at the start of the step
  const V3 *velocity, *spin;  // at its end
  CountedBodies counted;

  SS_HD V3 speed(std::int32_t b, const V3& point) const {
    return b < 0 ? V3{0, 0, 0} : velocity[b] + cross(spin[b], point - blocks.at.pose[b].x);
  }
  SS_HD double spin_about(std::int32_t b, const V3& n) const { return b < 0 ? 0.0 : dot(n, spin[b]); }

  SS_HD LawSums operator()(const RigidContact& c, const Vec<double, 4>& f) const {
    const BodyAtStep a = blocks.at.at_step(c.a), b = blocks.at.at_step(c.b);
    LawSums sums;
    if (!(a.inverse.mass > 0) && !(b.inverse.mass > 0)) return sums;  // both immovable: asleep or held
    const typename ContactBlocks<D>::Friction friction = blocks.friction(c);
    ContactOutcome end;
    end.n = friction.frame.frame.n;
    end.t1 = friction.frame.frame.t1;
    end.t2 = friction.frame.frame.t2;
    end.mu1 = friction.frame.mu1;
    end.mu2 = friction.frame.mu2;
    end.impulse = {f[0], f[1], f[2]};
    end.velocity = speed(c.a, c.point) - speed(c.b, c.point);
    if (blocks.soft || blocks.options.feedback.softness > 0) {
      const ConstraintBlock<D> block = blocks.of(c);
      end.offset = block.w[0] + block.compliance[0] * dot(end.n, end.impulse);
    } else {
      const V3 before =
          a.velocity + cross(a.spin, c.point - a.pose.x) - b.velocity - cross(b.spin, c.point - b.pose.x);
      end.offset =
          rigid_detail::contact_speed(blocks.options, c.gap, dot(end.n, before), friction.pair.restitution);
    }
    if (D == 4 && friction.pair.torsion_radius > 0) {
      end.twist = f[3];
      end.spin = friction.pair.torsion_radius * (spin_about(c.a, end.n) - spin_about(c.b, end.n));
      end.mu_twist = std::sqrt(end.mu1 * end.mu2);
    }
    sums.contacts = law_terms(end);
    sums.contacts.torque = norm(cross(c.point, end.impulse));
    // A torsional impulse is a torque n f_4 rho.
    const V3 torque =
        cross(c.point, end.impulse) + (D == 4 ? friction.pair.torsion_radius * end.twist : 0.0) * end.n;
    if (counted.has(blocks.at.inverse, c.a)) sums.pushed += momentum(end.impulse, torque, 1, sign_of(c.a));
    if (counted.has(blocks.at.inverse, c.b)) sums.pushed += momentum(end.impulse, torque, -1, -sign_of(c.b));
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
                          const CountedBodies& counted, LawCheck* out) {
  const Span span(ctx, "law check");
  sums_.resize(ctx, 1);
  gained_.resize(ctx, 1);
  blocks.at.velocity = velocity_.data();
  blocks.at.spin = spin_.data();
  const ContactCheck<D> check{blocks, bodies.velocity.data(), bodies.spin.data(), counted};
  reduce(
      ctx, count, [=] SS_LAMBDA(std::size_t c) { return check(contacts[c], impulse[c]); }, WorseSums{},
      LawSums{}, sums_.data(), kMedium);
  const BodyInverse* inverse = bodies.inverse.data();
  const Pose* pose = bodies.pose.data();
  const V3 *velocity = bodies.velocity.data(), *spin = bodies.spin.data();
  const double* free = bodies.free.data();
  reduce(
      ctx, bodies.size(),
      [=] SS_LAMBDA(std::size_t b) {
        const auto index = static_cast<std::int32_t>(b);
        BodyMomentum sums;
        if (!counted.has(inverse, index)) return sums;
        const double* before = free + 6 * b;
        const V3 linear = (1 / inverse[b].mass) * (velocity[b] - V3{before[0], before[1], before[2]});
        V3 angular = cross(pose[b].x, linear);
        if (inverse[b].inertia[0] > 0)
          angular += stickslip::inverse(inverse[b].inertia_matrix()) *
                     (spin[b] - V3{before[3], before[4], before[5]});
        sums.gained = momentum(linear, angular, 1, sign_of(index));
        sums.size = (1 / inverse[b].mass) * norm(velocity[b]);
        return sums;
      },
      PlusMomentum{}, BodyMomentum{}, gained_.data(), kMedium);
  const LawSums* sums = sums_.data();
  const BodyMomentum* momenta = gained_.data();
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    LawCheck result = sums->contacts;
    for (int k = 0; k < 2; ++k) {
      V3 linear, angular;
      for (int i = 0; i < 3; ++i) {
        linear[i] = momenta->gained[6 * k + i] - sums->pushed[6 * k + i];
        angular[i] = momenta->gained[6 * k + 3 + i] - sums->pushed[6 * k + 3 + i];
      }
      result.momentum = law_check_detail::larger(result.momentum, norm(linear));
      result.angular_momentum = law_check_detail::larger(result.angular_momentum, norm(angular));
    }
    result.momentum_size = momenta->size;
    *out = result;
  });
}

template class LawChecker<3>;
template class LawChecker<4>;

}  // namespace stickslip::STICKSLIP_BACKEND

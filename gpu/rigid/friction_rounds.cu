#include "gpu/rigid/friction_rounds.cuh"

#include <cmath>
#include <utility>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace friction_rounds_detail {

using V3 = Vec<double, 3>;

/// A side of a contact: its body at the start of the step, and the arm from its centre.
struct FrictionSide {
  BodyAtStep at;
  V3 arm;

  SS_HD FrictionSide(const BodiesView& bodies, std::int32_t b, const V3& point)
      : at(bodies.at_step(b)), arm(point - at.pose.x) {}
  SS_HD V3 speed(const V3& velocity, const V3& spin) const { return velocity + cross(spin, arm); }
  SS_HD V3 start_speed() const { return speed(at.velocity, at.spin); }
  /// Its part of trace(W_cc) of the three rows.
  SS_HD double mobility() const {
    const Vec<double, 6>& inertia = at.inverse.inertia;
    return 3 * at.inverse.mass + norm2(arm) * (inertia[0] + inertia[1] + inertia[2]) -
           dot(arm, at.inverse.turn(arm));
  }
};

SS_HD inline V3 along_tangents(const V3& n, const V3& x) { return x - dot(n, x) * n; }

/// Sets the state of a contact at the start of a step.
template <int D>
struct FrictionStarter {
  ContactBlocks<D> blocks;
  const RigidContact* contact;
  const Vec<double, 4>* impulse;
  std::size_t known;
  FrictionState* state;

  SS_HD void operator()(std::size_t i) const {
    const RigidContact& c = contact[i];
    FrictionState start;
    if (impulse != nullptr && c.previous >= 0 && static_cast<std::size_t>(c.previous) < known) {
      const Vec<double, 4>& f = impulse[c.previous];
      const double load = dot(c.normal, V3{f[0], f[1], f[2]});
      start.load = load > 0 ? load : 0.0;
    }
    const FrictionSide a(blocks.at, c.a, c.point), b(blocks.at, c.b, c.point);
    const V3 slip = along_tangents(c.normal, a.start_speed() - b.start_speed());
    double speed2 = norm2(slip);
    if constexpr (D == 4) {
      const double spin = blocks.base_friction(c).pair.torsion_radius * dot(c.normal, a.at.spin - b.at.spin);
      speed2 += spin * spin;
    }
    start.speed = std::sqrt(speed2);
    constexpr double kStill = 1e-6;  // [m/s] the first direction is only a guess
    if (norm2(slip) > kStill * kStill) start.slide = normalized(slip);
    state[i] = start;
  }
};

/// Moves a state to the solution.
template <int D>
struct FrictionMover {
  ContactBlocks<D> blocks;
  const RigidContact* contact;
  const Vec<double, 4>* impulse;
  const V3 *velocity, *spin;  // at the end of the step
  FrictionState* state;
  Vec<double, 2>* part;

  SS_HD V3 end_speed(const FrictionSide& side, std::int32_t b) const {
    return b < 0 ? V3{0, 0, 0} : side.speed(velocity[b], spin[b]);
  }

  SS_HD void operator()(std::size_t i) const {
    const RigidContact& c = contact[i];
    const V3 push{impulse[i][0], impulse[i][1], impulse[i][2]};
    part[i] = {0, norm2(push)};
    const FrictionSide a(blocks.at, c.a, c.point), b(blocks.at, c.b, c.point);
    const double mobility = (a.mobility() + b.mobility()) / 3;
    if (!(mobility > 0)) return;
    const typename ContactBlocks<D>::Friction friction = blocks.base_friction(c);
    if (!depends_on_solution(friction.pair, friction.frame)) return;
    const ContactFrame& frame = friction.frame.frame;
    const V3 slip =
        along_tangents(frame.n, end_speed(a, c.a) - end_speed(b, c.b)) +
        rigid_detail::slip_offset(blocks.options, c.gap, frame.n, a.start_speed() - b.start_speed(),
                                  friction.pair.tangential_restitution);
    double rate = 0, twist = 0;
    if constexpr (D == 4) {
      const V3 turning = (c.a < 0 ? V3{0, 0, 0} : spin[c.a]) - (c.b < 0 ? V3{0, 0, 0} : spin[c.b]);
      rate = friction.pair.torsion_radius * dot(frame.n, turning);
      twist = impulse[i][3];
    }
    const FrictionOutcome at{dot(frame.n, push),
                             {dot(frame.t1, push), dot(frame.t2, push)},
                             {dot(frame.t1, slip), dot(frame.t2, slip)},
                             std::sqrt(norm2(slip) + rate * rate),
                             mobility,
                             twist,
                             rate};
    const double change =
        update_friction_state(friction.pair, friction.frame, blocks.options.feedback.dt, at, state[i]);
    part[i][0] = change * change;
  }
};

struct AddChanges {
  SS_HD FrictionChange operator()(const FrictionChange& a, const FrictionChange& b) const {
    return {a.change2 + b.change2, a.impulse2 + b.impulse2,
            a.most_change2 > b.most_change2 ? a.most_change2 : b.most_change2,
            a.most_impulse2 > b.most_impulse2 ? a.most_impulse2 : b.most_impulse2};
  }
};

}  // namespace friction_rounds_detail

using namespace friction_rounds_detail;

template <int D>
void FrictionRounds<D>::begin(Context& ctx, const ContactBlocks<D>& blocks, const RigidContact* contacts,
                              std::size_t count, const Vec<double, 4>* impulses, std::size_t known) {
  if (count == count_) return;
  const std::size_t kept = count_ < count ? count_ : 0;
  kept_.resize(ctx, count);
  copy(ctx, kept_.data(), state_.data(), kept);
  std::swap(kept_, state_);
  launch(ctx, count - kept,
         FrictionStarter<D>{blocks, contacts + kept, impulses, known, state_.data() + kept}, kMedium);
  count_ = count;
}

template <int D>
double FrictionRounds<D>::update(Context& ctx, const ContactBlocks<D>& blocks, const RigidContact* contacts,
                                 std::size_t count, const Vec<double, 4>* impulses,
                                 const DeviceBodies& bodies) {
  if (count_ == 0 || count != count_) return 0;
  part_.resize(ctx, count);
  sum_.resize(ctx, 1);
  launch(ctx, count,
         FrictionMover<D>{blocks, contacts, impulses, bodies.velocity.data(), bodies.spin.data(),
                          state_.data(), part_.data()},
         kMedium);
  const Vec<double, 2>* part = part_.data();
  reduce(
      ctx, count,
      [=] SS_LAMBDA(std::size_t i) {
        return FrictionChange{part[i][0], part[i][1], part[i][0], part[i][1]};
      },
      AddChanges{}, FrictionChange{}, sum_.data(), kMedium);
  const FrictionChange sums = read_back(ctx, sum_.data());
  if (!(sums.impulse2 > 0)) return 0;
  const double mean = sums.change2 / sums.impulse2, most = sums.most_change2 / sums.most_impulse2;
  return std::sqrt(mean > most ? mean : most);
}

template class FrictionRounds<3>;
template class FrictionRounds<4>;
template class FrictionRounds<5>;

}  // namespace stickslip::STICKSLIP_BACKEND

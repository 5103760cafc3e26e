// Springs, chords and anchors of penalty contact as functions, on the host.
#include "gpu/rigid/penalty_springs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gpu/rigid/penalty_forces.cuh"

namespace stickslip {
namespace {

std::vector<PenaltySpringLaw> spring_laws() {
  const double k = 2e4, length = 2e-3, thickness = 3e-3;
  std::vector<PenaltySpringLaw> laws;
  laws.push_back({PenaltySpring::linear, k});
  for (const double p : {1.0, 1.5, 2.0, 3.7}) laws.push_back({PenaltySpring::power, k, p, length});
  laws.push_back({PenaltySpring::exponential, k, 1, length});
  for (const int layers : {1, 5, 15, 16, 40, 10000})
    laws.push_back({PenaltySpring::layered, k, 1, 1, thickness, layers});
  return laws;
}

TEST(PenaltySprings, ForcesAndStiffnessesAreDerivatives) {
  for (const PenaltySpringLaw& law : spring_laws())
    for (const double gap : {-1.2e-2, -3.1e-3, -4e-4, 2.1e-4, 7e-4, 1.3e-3, 2.2e-3, 2.9e-3}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(law.kind)) + " " + std::to_string(gap));
      const double h = 1e-8;
      const double force = (penalty_energy(law, gap - h) - penalty_energy(law, gap + h)) / (2 * h);
      const double stiffness = (penalty_force(law, gap - h) - penalty_force(law, gap + h)) / (2 * h);
      const double size = penalty_force(law, gap);
      EXPECT_NEAR(size, force, 1e-5 * size + 1e-6);
      EXPECT_NEAR(penalty_stiffness(law, gap), stiffness, 2e-5 * penalty_stiffness(law, gap) + 1e-6);
      EXPECT_GE(size, 0);
    }
}

TEST(PenaltySprings, AreThePrintedOnes) {
  // [Course Eq.286] with L = 1 m, whatever p is.
  EXPECT_NEAR(penalty_force({PenaltySpring::power, 300, 2.5, 1}, -0.2), 300 * std::pow(0.2, 2.5), 1e-10);
  // At an overlap of L it is the linear spring.
  EXPECT_NEAR(penalty_force({PenaltySpring::power, 300, 2.5, 0.01}, -0.01), 3, 1e-12);
  // [Course Eq.280-281]: c / eps exp(-gap / eps) with c = k eps^2.
  for (const double gap : {-0.004, 0.0, 0.003})
    EXPECT_NEAR(penalty_force({PenaltySpring::exponential, 300, 1, 2e-3}, gap),
                300 * 2e-3 * std::exp(-gap / 2e-3), 1e-9);
}

/// [Course Eq.289-290] summed layer by layer.
TEST(PenaltySprings, LayersAreSummed) {
  for (const int layers : {1, 15, 16, 17, 300, 20000})
    for (const double gap : {-1e-3, 0.0, 3e-4, 5e-4, 1e-3, 1.9e-3, 2e-3, 3e-3}) {
      const PenaltySpringLaw law{PenaltySpring::layered, 50, 1, 1, 2e-3, layers};
      long double energy = 0, force = 0, stiffness = 0;
      for (int i = 1; i <= layers; ++i) {
        const long double k = 50.0L * i * i * i,
                          g = gap - 2e-3L * std::pow(static_cast<long double>(i), -0.25L);
        if (g > 0) continue;
        energy += k * g * g / 2;
        force -= k * g;
        stiffness += g < 0 ? k : 0;
      }
      SCOPED_TRACE(std::to_string(layers) + " at " + std::to_string(gap));
      EXPECT_NEAR(penalty_energy(law, gap), static_cast<double>(energy), 1e-7 * static_cast<double>(energy));
      EXPECT_NEAR(penalty_force(law, gap), static_cast<double>(force), 1e-9 * static_cast<double>(force));
      EXPECT_NEAR(penalty_stiffness(law, gap), static_cast<double>(stiffness),
                  1e-12 * static_cast<double>(stiffness));
    }
}

/// The energy of a barrier: without a bound on the number of layers it has no bound at a gap of zero.
TEST(PenaltySprings, MoreLayersHoldMoreAtAGapOfZero) {
  double last = 0;
  for (const int layers : {10, 100, 1000, 10000}) {
    const double energy = penalty_energy({PenaltySpring::layered, 50, 1, 1, 2e-3, layers}, 0);
    EXPECT_GT(energy, 100 * last);  // it grows as layers^(7/2)
    last = energy;
  }
}

TEST(PenaltySprings, OverflowsAtNoDepth) {
  for (const PenaltySpringLaw& law : spring_laws())
    for (const double gap : {-1.0, -1e3}) {
      EXPECT_TRUE(std::isfinite(penalty_energy(law, gap)));
      EXPECT_GT(penalty_force(law, gap), 0);
      EXPECT_GT(penalty_stiffness(law, gap), 0);
    }
}

PenaltyOptions options_of(const PenaltySpringLaw& law, double dt, double damping = 0) {
  return {dt, law.stiffness, damping, 1e-2, 9.81, law};
}

/// The predicted end of a free mass solves m (u - free) = dt f(gap + dt u), and the chord gives this force.
TEST(PenaltySprings, TheChordOfASingleContactIsTheImplicitSpring) {
  const double m = 1.7;
  for (const PenaltySpringLaw& law : spring_laws()) {
    if (law.kind == PenaltySpring::linear) continue;  // has the slope k
    for (const double dt : {1e-4, 1e-3, 1.0 / 60})
      for (const double gap : {-2e-3, -1e-4, 5e-4, 4e-3})
        for (const double free : {-2.0, -0.3}) {
          const PenaltyOptions o = options_of(law, dt);
          const double end = penalty_detail::predicted_gap(o, gap, free, 1 / m), u = (end - gap) / dt;
          const double force = penalty_force(law, end);
          const double scale = m * std::fabs(free);
          EXPECT_NEAR(m * (u - free), dt * force,
                      1e-6 * scale + 1e-3 * dt * penalty_stiffness(law, end) * 1e-9);
          const penalty_detail::PenaltyChord chord = penalty_detail::penalty_chord(o, gap, free, 1 / m);
          const bool reaches = end < chord.from - o.gravity * dt * dt;
          if (reaches) {
            EXPECT_NEAR(chord.force + chord.slope * (chord.from - end), force, 1e-6 * force + 1e-9);
          }
          EXPECT_GT(chord.slope, 0);
        }
  }
}

TEST(PenaltySprings, ReceedingForcesHaveTheirFactor) {
  PenaltyOptions o = options_of({PenaltySpring::linear, 1e5}, 1e-5, 20);
  o.recede = 0.3;
  EXPECT_NEAR(penalty_normal_impulse(o, -1e-3, 0.5, 1), 1e-5 * 0.3 * (100 - 10), 1e-15);
  EXPECT_NEAR(penalty_normal_impulse(o, -1e-3, -0.5, 1), 1e-5 * (100 + 10), 1e-15);
  o.recede = 0;
  EXPECT_EQ(penalty_normal_impulse(o, -1e-3, 0.5, 1), 0);
}

/// [Course Eq.277]: the spring's force is in the cone, and anchors inside stay.
TEST(PenaltySprings, AnchorsFollowOutsideTheCone) {
  PenaltyOptions o = options_of({PenaltySpring::linear, 1e5}, 1e-3);
  o.friction = PenaltyFriction::anchored;
  o.friction_stiffness = 2e4;
  ContactLaw<4> law{};
  law.mu[0] = 0.5;
  law.mu[1] = 0.2;
  law.mu[2] = 0;
  const double force = 30;
  const Vec<double, 4> inside{0, 4e-4, -1e-4, 0};
  EXPECT_LT(norm(follow_anchor(o, law, o.dt * force, inside) - inside), 1e-18);
  const Vec<double, 4> outside = follow_anchor(o, law, o.dt * force, Vec<double, 4>{0, 4e-3, -1e-3, 7e-3});
  EXPECT_NEAR(o.friction_stiffness * std::hypot(outside[1] / 0.5, outside[2] / 0.2), force, 1e-9);
  EXPECT_NEAR(outside[1] / outside[2], -4, 1e-12);
  EXPECT_EQ(outside[3], 0) << "nothing holds where mu is zero";
  EXPECT_EQ(norm(follow_anchor(o, law, 0, inside)), 0) << "an open contact has no anchor";
}

}  // namespace
}  // namespace stickslip

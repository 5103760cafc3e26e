#include "gpu/rigid/contact_rows.h"

#include "gpu/dfcp/problem/body_problem.h"
#include "tests/rigid/rigid_problem.h"

namespace stickslip {
namespace {

using namespace fixtures;

SurfacePair plain_pair(double mu, double restitution = 0) {
  SurfacePair pair{};
  pair.mu = pair.mu_across = mu;
  pair.restitution = restitution;
  pair.friction_kind = FrictionKind::isotropic;
  return pair;
}

RigidContact contact_at(const V3d& point, const V3d& normal, double gap) {
  return {0, 1, point, normal, gap, 0, -1};
}

ContactRowOptions plain_options() { return {ErrorFeedback{0.01, 0.2}, 0.5}; }

std::vector<RigidOne> two_bodies(std::mt19937& rng) {
  std::vector<RigidOne> bodies(2);
  for (RigidOne& b : bodies) {
    b.mass = 2 + random_vector(rng, 1.0)[0];
    b.inertia = V3d{1, 2, 1.5} + random_vector(rng, 0.4);
    b.pose = random_pose(rng, 1.0);
    b.velocity = random_vector(rng, 1.0);
    b.spin = random_vector(rng, 1.0);
  }
  return bodies;
}

/// The lab's own generator of contacts is the reference.
TEST(ContactRows, AreThoseOfTheLab) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 20; ++trial) {
    const std::vector<RigidOne> bodies = two_bodies(rng);
    V3d normal = normalized(random_vector(rng, 1.0));
    normal[1] = std::fabs(normal[1]);
    const V3d point = random_vector(rng, 1.0);
    const double gap = random_vector(rng, 0.01)[0];
    BodyProblem reference(0.01, {0, 0, 0});
    for (const RigidOne& b : bodies) {
      RigidBody body;
      body.mass = b.mass;
      body.inertia = b.inertia_world(false);
      body.position = b.pose.x;
      body.velocity = b.velocity;
      body.spin = b.spin;
      reference.add(body);
    }
    ContactPoint c;
    c.a = 0;
    c.b = 1;
    c.point = point;
    c.normal = normal;
    c.mu = 0.4;
    c.gap = gap;
    reference.add(c);
    const ContactProblem wanted = reference.take("", "");
    const ConstraintBlock<3> block = contact_block<3>(contact_at(point, normal, gap), bodies[0].at_step(),
                                                      bodies[1].at_step(), plain_pair(0.4), plain_options());
    for (int side = 0; side < 2; ++side) {
      EXPECT_EQ(block.body[side], side);
      for (int i = 0; i < 18; ++i)
        EXPECT_NEAR(block.jacobian[side][i / 6][i % 6],
                    wanted.jacobian[static_cast<std::size_t>(side)].rows[static_cast<std::size_t>(i)], 1e-14);
    }
    EXPECT_NEAR(block.w[0], wanted.w[0], 1e-13);
    EXPECT_EQ(block.compliance, (V3d{0, 0, 0}));
    EXPECT_EQ(block.law.mu, (Vec<double, 2>{0.4, 0.4}));
    EXPECT_EQ(block.law.set, FrictionSet::ellipsoid);
  }
}

TEST(ContactRows, FramesAreRightHandedAndTurnWithTheNormal) {
  std::mt19937 rng(2);
  for (int trial = 0; trial < 200; ++trial) {
    const ContactFrame f = contact_frame(normalized(random_vector(rng, 1.0)));
    EXPECT_NEAR(dot(f.n, cross(f.t1, f.t2)), 1, 1e-14);
    EXPECT_NEAR(norm(f.t1), 1, 1e-14);
    EXPECT_NEAR(dot(f.n, f.t1), 0, 1e-14);
  }
  for (const V3d& n : {V3d{0, 1, 0}, V3d{0, -1, 0}, V3d{1, 0, 0}, V3d{0, 0, -1}})
    for (int trial = 0; trial < 20; ++trial) {
      const ContactFrame f = contact_frame(n), g = contact_frame(normalized(n + random_vector(rng, 1e-6)));
      EXPECT_LT(norm(f.t1 - g.t1), 1e-5);
    }
}

TEST(ContactRows, BounceOnlyWhatHitsHardWithinTheStep) {
  const auto w_of = [](double gap, double speed, double restitution) {
    RigidOne ball;
    ball.velocity = {0, speed, 0};
    RigidContact c = contact_at({0, 0, 0}, {0, 1, 0}, gap);
    c.b = -1;
    return contact_block<3>(c, ball.at_step(), BodyAtStep::world(), plain_pair(0.5, restitution),
                            plain_options())
        .w[0];
  };
  EXPECT_DOUBLE_EQ(w_of(0, -3, 0.5), -1.5);
  EXPECT_DOUBLE_EQ(w_of(0, -3, 0), 0);
  EXPECT_DOUBLE_EQ(w_of(0, -0.4, 0.5), 0);        // too slow
  EXPECT_DOUBLE_EQ(w_of(0, 3, 0.5), 0);           // separates
  EXPECT_DOUBLE_EQ(w_of(0.02, -3, 0.5), -1.5);    // impact within the step
  EXPECT_DOUBLE_EQ(w_of(0.05, -3, 0.5), 5);       // later
  EXPECT_DOUBLE_EQ(w_of(-0.001, -3, 0.5), -1.5);  // an overlap reduces it
  EXPECT_DOUBLE_EQ(w_of(-0.1, -3, 0.5), -2);      // or increases it
}

TEST(ContactRows, OverlapsAreTakenBackAsTheStabilisationSays) {
  Params params;
  params.dt = 0.01;
  params.contact_slop = 1e-3;
  params.baumgarte_speed = 0.5;
  RigidOne body;
  body.mass = 4;
  const auto block_of = [&](double gap) {
    RigidContact c = contact_at({0, 0, 0}, {0, 1, 0}, gap);
    c.b = -3;
    return contact_block<3>(c, body.at_step(), BodyAtStep::world(), plain_pair(0.5),
                            contact_row_options(params));
  };
  EXPECT_DOUBLE_EQ(block_of(-5e-4).w[0], 0);
  EXPECT_DOUBLE_EQ(block_of(-3e-3).w[0], -0.04);
  EXPECT_DOUBLE_EQ(block_of(-1).w[0], -0.5);
  EXPECT_EQ(block_of(-1).body[1], -1);
  EXPECT_EQ(block_of(-1).jacobian[1][0], (Vec<double, 6>::zero()));
  for (const Stabilisation rule : {Stabilisation::none, Stabilisation::projection}) {
    params.stabilisation = rule;
    EXPECT_EQ(block_of(-1).w[0], 0);
    EXPECT_DOUBLE_EQ(block_of(0.1).w[0], 10);
  }
  // Course Eq.59 with k = m omega^2, b = 2 zeta m omega.
  params.stabilisation = Stabilisation::spring_damper;
  const double omega = 2 * std::acos(-1.0) * params.spring_frequency, k = 4 * omega * omega,
               b = 2 * params.spring_damping * 4 * omega, h = params.dt;
  EXPECT_NEAR(block_of(-0.02).w[0], -h * k / (h * k + b) * 0.02 / h, 1e-13);
  EXPECT_NEAR(block_of(-0.02).compliance[0], 1 / (h * h * k + h * b), 1e-15);
  EXPECT_EQ(block_of(-0.02).compliance[1], 0);
  EXPECT_EQ(block_of(0.02).compliance[0], block_of(-0.02).compliance[0]);
}

/// Swapping the bodies, with the normal reversed, changes no velocity along it.
TEST(ContactRows, DoNotDependOnTheOrderOfTheBodies) {
  std::mt19937 rng(3);
  const std::vector<RigidOne> bodies = two_bodies(rng);
  const V3d normal = normalized(random_vector(rng, 1.0)), point = random_vector(rng, 1.0);
  RigidContact there = contact_at(point, normal, 0), back = contact_at(point, -normal, 0);
  std::swap(back.a, back.b);
  const ConstraintBlock<3> one = contact_block<3>(there, bodies[0].at_step(), bodies[1].at_step(),
                                                  plain_pair(0.3), plain_options()),
                           other = contact_block<3>(back, bodies[1].at_step(), bodies[0].at_step(),
                                                    plain_pair(0.3), plain_options());
  const Eigen::VectorXd q = dense_rows<3>(bodies, {one}).q(), p = dense_rows<3>(bodies, {other}).q();
  EXPECT_NEAR(q[0], p[0], 1e-13);
  EXPECT_NEAR(std::hypot(q[1], q[2]), std::hypot(p[1], p[2]), 1e-13);
}

TEST(ContactRows, PairsCombineTheirSurfaces) {
  const ContactSurface plain{0.2, 0.01, FrictionKind::isotropic, 0.4, 0.9},
      wood{0.5, 0.03, FrictionKind::elliptic, 0.1, 0.4}, match{0, 0, FrictionKind::matchstick, 0.2, 0.8};
  const V3d x{1, 0, 0}, z{0, 0, 1};
  SurfacePair pair = surface_pair(plain, wood, 0.2, x, z);
  EXPECT_EQ(pair.friction_kind, FrictionKind::elliptic);
  EXPECT_EQ(pair.restitution, 0.5);
  EXPECT_EQ(pair.torsion_radius, 0.02);
  EXPECT_EQ(pair.grain_a, (V3d{0, 0, 0}));
  EXPECT_EQ(pair.grain_b, z);
  EXPECT_EQ(pair.mu, 0.2);
  EXPECT_NEAR(pair.mu_across, 0.4, 1e-15);  // sqrt(0.4 0.4)
  pair = surface_pair(match, match, 0.2, x, z);
  EXPECT_EQ(pair.friction_kind, FrictionKind::matchstick);
  EXPECT_NEAR(pair.mu_across, 0.8, 1e-15);
  pair = surface_pair(plain, half_space_surface(0.9), 0.6, x, {0, 0, 0});
  EXPECT_EQ(pair.friction_kind, FrictionKind::isotropic);
  EXPECT_EQ(pair.mu_across, 0.6);
  EXPECT_EQ(pair.restitution, 0.2);
}

ConstraintBlock<3> grain_block(const SurfacePair& pair) {
  RigidOne body;
  return contact_block<3>(contact_at({0, -1, 0}, {0, 1, 0}, 0), body.at_step(), BodyAtStep::world(), pair,
                          plain_options());
}

TEST(ContactRows, GrainTurnsTheFrame) {
  SurfacePair pair = plain_pair(0.2);
  pair.mu_across = 0.8;
  pair.friction_kind = FrictionKind::elliptic;
  pair.grain_b = {0.6, 0.3, -0.8};
  const ConstraintBlock<3> one = grain_block(pair);
  EXPECT_NEAR(std::fabs(dot(V3d{one.jacobian[0][1][0], one.jacobian[0][1][1], one.jacobian[0][1][2]},
                            V3d{0.6, 0, -0.8})),
              1, 1e-14);
  EXPECT_EQ(one.law.mu, (Vec<double, 2>{0.2, 0.8}));
  pair.grain_b = {0, 2, 0};  // no grain in the plane
  EXPECT_NEAR(grain_block(pair).law.mu[0], 0.4, 1e-15);
  EXPECT_NEAR(grain_block(pair).law.mu[1], 0.4, 1e-15);

  pair.friction_kind = FrictionKind::matchstick;
  pair.grain_a = {1, 0, 0};
  pair.grain_b = {0, 0, 1};
  EXPECT_NEAR(grain_block(pair).law.mu[0], 0.4, 1e-15);
  pair.grain_b = {1, 0, 1};
  const ConstraintBlock<3> half = grain_block(pair);
  EXPECT_NEAR(half.law.mu[0], 0.3, 1e-14);
  EXPECT_NEAR(half.law.mu[1], 0.6, 1e-14);
}

/// A spinning ball at rest loses mu rho m g dt / I of its spin in a step, and none once it has stopped.
TEST(ContactRows, TorsionSlowsASpinDown) {
  const std::unique_ptr<ContactLab> lab = make_contact_lab(Backend::cpu, 1);
  const double g = 9.81, mu = 0.5, rho = 0.02, dt = 0.01;
  std::vector<RigidOne> bodies(1);
  bodies[0].mass = 2;
  bodies[0].inertia = {0.008, 0.008, 0.008};
  bodies[0].spin = {0, 2, 0};
  SurfacePair pair = plain_pair(mu);
  pair.torsion_radius = rho;
  RigidContact c = contact_at({0, -0.1, 0}, {0, 1, 0}, 0);
  c.b = -1;
  const double loss = mu * rho * 2 * g * dt / 0.008;
  double spin = 2;
  while (spin > 0) {
    push_freely(bodies, -g, dt);
    const ConstraintBlock<4> block =
        contact_block<4>(c, bodies[0].at_step(), BodyAtStep::world(), pair, {ErrorFeedback{dt, 0.2}, 0.5});
    EXPECT_TRUE(is_circular(block.law));
    solve_by_lab<4>(*lab, "nsgs", bodies, {block}, 1e-12);
    spin = std::max(spin - loss, 0.0);
    EXPECT_NEAR(bodies[0].spin[1], spin, 1e-9);
    EXPECT_NEAR(norm(bodies[0].velocity), 0, 1e-9);
  }
}

TEST(ContactRows, WithoutTorsionTheFourthRowIsEmpty) {
  RigidOne body;
  const ConstraintBlock<4> four = contact_block<4>(contact_at({0, -1, 0}, {0, 1, 0}, 0), body.at_step(),
                                                   BodyAtStep::world(), plain_pair(0.3), plain_options());
  EXPECT_EQ(four.jacobian[0][3], (Vec<double, 6>::zero()));
  EXPECT_GT(four.compliance[3], 0);
  EXPECT_EQ(four.law.mu[2], 0);
}

/// The rows of rolling are as mobile as those of friction, whose W_ii the lab's rule compares.
TEST(ContactRows, RollingRowsAreCommensurate) {
  std::mt19937 rng(5);
  const std::vector<RigidOne> bodies = two_bodies(rng);
  SurfacePair pair = plain_pair(0.3);
  pair.rolling = 0.02;
  const RigidContact c = contact_at(random_vector(rng, 1.0), normalized(random_vector(rng, 1.0)), 0);
  const BodyAtStep a = bodies[0].at_step(), b = bodies[1].at_step();
  const ConstraintBlock<5> block = contact_block<5>(c, a, b, pair, plain_options());
  const auto mobility = [&](int i) { return rigid_detail::row_mobility(block, i, a.inverse, b.inverse); };
  EXPECT_NEAR(mobility(3) + mobility(4), mobility(1) + mobility(2), 1e-12 * mobility(1));
  EXPECT_EQ(block.law.set, FrictionSet::rolling);
  EXPECT_EQ(block.law.mu[0], block.law.mu[1]);
  for (int i = 1; i < 3; ++i) {
    const Vec<double, 6>&slides = block.jacobian[0][i], &rolls = block.jacobian[0][2 + i];
    const double length = norm(V3d{rolls[3], rolls[4], rolls[5]});
    EXPECT_NEAR(block.law.mu[1 + i], pair.rolling / length, 1e-15);
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(rolls[3 + k], length * slides[k], 1e-14);
      EXPECT_EQ(rolls[k], 0);
      EXPECT_EQ(block.jacobian[1][2 + i][3 + k], -rolls[3 + k]);
    }
  }
  EXPECT_EQ(block.compliance, (Vec<double, 5>::zero()));
  pair.rolling = 0;
  const ConstraintBlock<5> none = contact_block<5>(c, a, b, pair, plain_options());
  EXPECT_EQ(none.jacobian[0][3], (Vec<double, 6>::zero()));
  EXPECT_GT(none.compliance[4], 0);
  EXPECT_EQ(none.law.mu[2], 0);
}

}  // namespace
}  // namespace stickslip

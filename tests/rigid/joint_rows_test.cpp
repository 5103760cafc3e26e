#include "gpu/rigid/joint_rows.h"

#include "gpu/model/rigid_body.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/rigid/rigid_problem.h"

namespace stickslip {
namespace {

using namespace fixtures;

constexpr JointKind kJointKinds[] = {JointKind::ball,  JointKind::hinge,    JointKind::slider,
                                     JointKind::fixed, JointKind::distance, JointKind::gear};

/// Two bodies of random shape and motion, and a joint between them without error. Its free coordinate is
/// between its limits and near both.
struct JointCase {
  DeviceJoint joint{};
  std::vector<RigidOne> bodies{2};
};

JointCase joint_case(JointKind kind, std::mt19937& rng, bool to_world) {
  JointCase c;
  for (RigidOne& b : c.bodies) {
    b.mass = 1.5 + random_vector(rng, 1.0)[0];
    b.inertia = V3d{1.0, 1.1, 0.9} + random_vector(rng, 0.3);
    b.velocity = random_vector(rng, 1.0);
    b.spin = random_vector(rng, 1.0);
  }
  DeviceJoint& j = c.joint;
  j.kind = kind;
  j.a = 0;
  j.b = to_world ? -1 : 1;
  j.frame_a = random_pose(rng, 0.5);
  j.frame_b = random_pose(rng, 0.5);
  j.ratio = 2.5;
  const V3d random = random_vector(rng, 1.0);
  double coordinate = 0.7 * random[0];
  Pose between = Pose::identity();  // from frame a to frame b
  if (kind == JointKind::ball || kind == JointKind::gear) between.q = rotation_by(random);
  if (kind == JointKind::hinge) between.q = rotation_by(V3d{coordinate, 0, 0});
  if (kind == JointKind::slider) between.x = {coordinate, 0, 0};
  if (kind == JointKind::distance) {
    between.x = random;
    coordinate = norm(random);
  }
  j.low = coordinate - 0.01;
  j.high = coordinate + 0.02;
  c.bodies[1].pose = random_pose(rng, 1.0);
  const Pose b = to_world ? Pose::identity() : c.bodies[1].pose;
  const Pose back{j.frame_a.q.conjugate().rotate(-j.frame_a.x), j.frame_a.q.conjugate()};
  c.bodies[0].pose = b * j.frame_b * between * back;
  return c;
}

ConstraintBlock<3> block_of(const JointCase& c, int i) {
  ConstraintBlock<3> block;
  fill_joint_block<3>(c.joint, i, at_step(c.bodies, c.joint.a), at_step(c.bodies, c.joint.b), whole_error(),
                      block);
  return block;
}

Vec<double, 3> row_velocities(const JointCase& c, const ConstraintBlock<3>& block) {
  Vec<double, 3> u{};
  for (int i = 0; i < 3; ++i)
    for (int side = 0; side < 2; ++side)
      if (block.body[side] >= 0)
        u[i] += dot(block.jacobian[side][i], at_step(c.bodies, block.body[side]).twist());
  return u;
}

TEST(JointRows, AreTheRatesOfTheErrors) {
  std::mt19937 rng(1);
  const double h = 1e-5;
  for (const JointKind kind : kJointKinds)
    for (int trial = 0; trial < 20; ++trial) {
      const JointCase c = joint_case(kind, rng, trial % 4 == 0);
      const JointParts parts = joint_parts(c.joint);
      for (int i = 0; i < parts.count; ++i) {
        if (parts.part[i] == JointPart::gear) continue;
        SCOPED_TRACE(testing::Message()
                     << "kind " << static_cast<int>(kind) << " part " << static_cast<int>(parts.part[i]));
        JointCase before = c, after = c;
        advance(before.bodies, -h);
        advance(after.bodies, h);
        const ConstraintBlock<3> middle = block_of(c, i);
        const Vec<double, 3> u = row_velocities(c, middle);
        const Vec<double, 3> rate = (0.5 / h) * (block_of(after, i).w - block_of(before, i).w);
        for (int k = 0; k < 3; ++k) EXPECT_NEAR(u[k], rate[k], 1e-8) << "row " << k;
        if (middle.law.set == FrictionSet::bilateral) {
          EXPECT_LT(norm(middle.w), 1e-13);
        }
      }
    }
}

/// For rows half a step ahead, w also contains the second derivative of each error along free motion.
TEST(JointRows, BendAsTheirErrorsDo) {
  std::mt19937 rng(11);
  const double h = 1e-4, ahead = 1e-4;
  ErrorFeedback bent = whole_error();
  bent.ahead = ahead;
  for (const JointKind kind :
       {JointKind::ball, JointKind::hinge, JointKind::slider, JointKind::fixed, JointKind::distance})
    for (int trial = 0; trial < 20; ++trial) {
      JointCase c = joint_case(kind, rng, trial % 4 == 0);
      RigidOne& a = c.bodies[0];
      // Rotations that the joint permits.
      const BodyAtStep b = at_step(c.bodies, c.joint.b);
      const V3d axis = (b.pose * c.joint.frame_b).q.rotate(V3d{1, 0, 0});
      if (kind == JointKind::hinge) a.spin = b.spin + 1.7 * axis;
      if (kind == JointKind::slider || kind == JointKind::fixed) a.spin = b.spin;
      for (int i = 0; i < joint_block_count(c.joint); ++i) {
        JointCase before = c, after = c;
        advance(before.bodies, -h);
        advance(after.bodies, h);
        const Vec<double, 3> second =
            (1 / (h * h)) * (block_of(after, i).w - 2 * block_of(c, i).w + block_of(before, i).w);
        ConstraintBlock<3> block;
        ASSERT_TRUE(fill_joint_block<3>(c.joint, i, at_step(c.bodies, c.joint.a),
                                        at_step(c.bodies, c.joint.b), bent, block));
        // w contains the error, whose offset is ahead^2 / 2 too large, and ahead times its rate.
        const Vec<double, 3> rate = (1 / (ahead - 0.5 * ahead * ahead)) * (block.w - block_of(c, i).w);
        for (int k = 0; k < 3; ++k)
          EXPECT_NEAR(rate[k], second[k], 2e-6)
              << "kind " << static_cast<int>(kind) << " block " << i << " row " << k;
      }
    }
}

/// Wheels a and b about z, rotated by these angles since the start.
double gear_error_at(const Joint& joint, double a, double b) {
  const DeviceJoint j = device_joint(joint);
  BodyAtStep wheels[2] = {BodyAtStep::world(), BodyAtStep::world()};
  for (int i = 0; i < 2; ++i) {
    wheels[i].inverse = {1, {1, 1, 1, 0, 0, 0}};
    wheels[i].pose = {{1.0 * i, 0, 0}, rotation_by(V3d{0, 0, i == 0 ? a : b})};
  }
  ConstraintBlock<3> block;
  fill_joint_block(j, 0, wheels[0], wheels[1], whole_error(), block);
  return block.w[0];  // their length is 1 m
}

TEST(JointRows, GearsCountTurnsFromTheStart) {
  Model model;
  fixtures::add_rigid_box(model, {1, 1, 1}, fixtures::pose_at({0, 0, 0}, {0.3, 0.2, 0.1}));
  fixtures::add_rigid_box(model, {1, 1, 1}, fixtures::pose_at({1, 0, 0}, {0.1, -0.2, 0.7}));
  for (const double ratio : {1.0, -2.0, 0.5, -2.0 / 3, 3.5, 7.0 / 64}) {
    Joint gear;
    gear.kind = JointKind::gear;
    gear.a = 0;
    gear.b = 1;
    gear.ratio = ratio;
    Joint& joint = add_joint(model, gear, Pose{{0, 0, 0}, turn_of_x({0, 0, 1})});
    // As if the bodies had started unrotated.
    joint.frame_a = joint.frame_b = Pose{{0, 0, 0}, turn_of_x({0, 0, 1})};
    for (double turn = -20; turn < 20; turn += 0.37) {
      EXPECT_NEAR(gear_error_at(joint, ratio * turn, turn), 0, 1e-12) << ratio << " " << turn;
      EXPECT_NEAR(gear_error_at(joint, ratio * turn + 0.01, turn), 0.01, 1e-12) << ratio << " " << turn;
      EXPECT_NEAR(gear_error_at(joint, ratio * turn, turn - 0.01), 0.01 * ratio, 1e-12) << ratio;
    }
  }
  Joint& last = model.joints.back();
  last.ratio = std::sqrt(2);  // an irrational ratio
  EXPECT_EQ(gear_error_at(last, 0.1, 0.3), 0);
  last.ratio = 2;
  EXPECT_NEAR(gear_error_at(last, 0.1, 0.3), -0.5, 1e-12);
  last.start_a = turn_of_x(V3d{0, 0.3, 1});  // the axis has moved away
  EXPECT_EQ(gear_error_at(last, 0.1, 0.3), 0);
}

TEST(JointRows, CoordinateIsWhatTheLimitsBound) {
  std::mt19937 rng(2);
  for (const JointKind kind : {JointKind::hinge, JointKind::slider, JointKind::distance}) {
    const JointCase c = joint_case(kind, rng, false);
    const BodyAtStep a = at_step(c.bodies, 0), b = at_step(c.bodies, 1);
    const JointCoordinate x = joint_coordinate(c.joint, a, b);
    EXPECT_NEAR(x.value, c.joint.low + 0.01, 1e-13);
    JointCase after = c;
    advance(after.bodies, 1e-6);
    const double later =
        joint_coordinate(after.joint, at_step(after.bodies, 0), at_step(after.bodies, 1)).value;
    EXPECT_NEAR(x.rate, (later - x.value) / 1e-6, 1e-5);
  }
}

/// The angle of a hinge is measured from the middle of its limits, so that limits beyond pi work.
TEST(JointRows, AnglesBeyondHalfATurnAreCountedOn) {
  DeviceJoint j{};
  j.kind = JointKind::hinge;
  j.a = 0;
  j.b = -1;
  j.frame_a = j.frame_b = Pose::identity();
  j.low = 0;
  j.high = 6;
  for (const double angle : {0.1, 3.0, 3.3, 5.9}) {
    RigidOne body;
    body.pose.q = rotation_by(V3d{angle, 0, 0});
    EXPECT_NEAR(joint_coordinate(j, body.at_step(), BodyAtStep::world()).value, angle, 1e-12);
  }
}

/// Action and reaction: the impulses of rows add up to no force, and to no torque about any point.
TEST(JointRows, PushBothBodiesAlike) {
  std::mt19937 rng(3);
  for (const JointKind kind : kJointKinds)
    for (int trial = 0; trial < 10; ++trial) {
      const JointCase c = joint_case(kind, rng, false);
      for (int i = 0; i < joint_block_count(c.joint); ++i) {
        const ConstraintBlock<3> block = block_of(c, i);
        for (int row = 0; row < 3; ++row) {
          V3d force{}, torque{};
          for (int side = 0; side < 2; ++side) {
            const Vec<double, 6>& h = block.jacobian[side][row];
            force += V3d{h[0], h[1], h[2]};
            torque += cross(c.bodies[static_cast<std::size_t>(side)].pose.x, V3d{h[0], h[1], h[2]}) +
                      V3d{h[3], h[4], h[5]};
          }
          EXPECT_LT(norm(force), 1e-13);
          // The bearings of gears, which are separate joints, take the rest.
          if (kind != JointKind::gear) {
            EXPECT_LT(norm(torque), 1e-13);
          }
        }
      }
    }
}

/// Moving everything rigidly changes neither velocities nor errors of rows, nor the W of their blocks.
TEST(JointRows, DoNotDependOnThePlace) {
  std::mt19937 rng(4);
  for (const JointKind kind : kJointKinds) {
    JointCase c = joint_case(kind, rng, false);
    advance(c.bodies, 0.05);  // with errors
    JointCase moved = c;
    const Pose g = random_pose(rng, 3.0);
    for (RigidOne& b : moved.bodies) {
      b.pose = g * b.pose;
      b.velocity = g.q.rotate(b.velocity);
      b.spin = g.q.rotate(b.spin);
    }
    for (int i = 0; i < joint_block_count(c.joint); ++i) {
      const ConstraintBlock<3> one = block_of(c, i), other = block_of(moved, i);
      EXPECT_NEAR(norm(one.w), norm(other.w), 1e-12);
      EXPECT_NEAR(norm(row_velocities(c, one)), norm(row_velocities(moved, other)), 1e-12);
      const DenseRows a = dense_rows<3>(c.bodies, {one}), b = dense_rows<3>(moved.bodies, {other});
      EXPECT_NEAR(a.W().trace(), b.W().trace(), 1e-12 * a.W().trace());
    }
  }
}

TEST(JointRows, RowsOfFourAreRowsOfThreeAndAnEmptyOne) {
  std::mt19937 rng(5);
  for (const JointKind kind : kJointKinds) {
    JointCase c = joint_case(kind, rng, false);
    c.joint.motor_limit = kind == JointKind::hinge ? 2 : 0;
    for (int i = 0; i < joint_block_count(c.joint); ++i) {
      const ErrorFeedback feedback{0.01, 0.2};
      const BodyAtStep a = at_step(c.bodies, 0), b = at_step(c.bodies, 1);
      ConstraintBlock<3> three;
      ConstraintBlock<4> four;
      EXPECT_EQ(fill_joint_block(c.joint, i, a, b, feedback, three),
                fill_joint_block(c.joint, i, a, b, feedback, four));
      for (int row = 0; row < 3; ++row) {
        EXPECT_EQ(three.w[row], four.w[row]);
        EXPECT_EQ(three.jacobian[0][row], four.jacobian[0][row]);
        EXPECT_EQ(three.compliance[row], four.compliance[row]);
      }
      EXPECT_EQ(four.w[3], 0);
      EXPECT_GT(four.compliance[3], 0);
      EXPECT_EQ(four.jacobian[1][3], (Vec<double, 6>::zero()));
      EXPECT_EQ(four.law.mu[2], 0);
    }
  }
}

/// Every row in use has about the same W_ii, and empty rows have a similar one: block scales stay reasonable.
TEST(JointRows, WeighAlike) {
  std::mt19937 rng(6);
  for (const JointKind kind : kJointKinds)
    for (const double size : {0.01, 1.0, 30.0}) {
      JointCase c = joint_case(kind, rng, true);
      c.bodies[0].mass *= size * size * size;
      c.bodies[0].inertia *= std::pow(size, 5);
      c.joint.frame_a.x *= size;
      c.joint.frame_b.x *= 0;
      c.bodies[0].pose = Pose{-c.joint.frame_a.x, Quat::identity()};
      if (kind == JointKind::hinge) c.joint.motor_limit = 1;
      for (int i = 0; i < joint_block_count(c.joint); ++i) {
        const ConstraintBlock<3> block = block_of(c, i);
        const Eigen::MatrixXd w = dense_rows<3>(c.bodies, {block}).W();
        const double most = w.diagonal().maxCoeff(), least = w.diagonal().minCoeff();
        EXPECT_LT(most, 30 * least) << "kind " << static_cast<int>(kind) << " block " << i;
        EXPECT_GT(most * c.bodies[0].mass, 0.3);
      }
    }
}

/// Baumgarte removes a share of the error per step; the spring's error decays like the implicit oscillator.
TEST(JointRows, ErrorsDecayAsTheStabilisationSays) {
  std::mt19937 rng(7);
  Params params;
  params.dt = 0.01;
  for (const Stabilisation rule : {Stabilisation::baumgarte, Stabilisation::spring_damper}) {
    params.stabilisation = rule;
    params.baumgarte_speed = 1000;
    JointCase c = joint_case(JointKind::ball, rng, true);
    RigidOne& body = c.bodies[0];
    body.velocity = body.spin = V3d::zero();
    c.joint.frame_a = Pose::identity();  // at the centre: no rotation, one row each
    c.joint.frame_b = Pose::identity();
    body.pose.x = {0.1, 0, 0};
    double x = 0.1, v = 0;
    const double angle = 2 * std::acos(-1.0) * params.spring_frequency * params.dt;
    for (int step = 0; step < 10; ++step) {
      solve_equalities(c.bodies, joint_blocks<3>(c.bodies, {c.joint}, error_feedback(params)));
      advance(c.bodies, params.dt);
      if (rule == Stabilisation::baumgarte) {
        x *= 0.8;
      } else {  // (1 + b dt/m + k dt^2/m) v+ = v - k dt x/m, in units of dt
        v = (v - angle * angle * x) / (1 + 2 * params.spring_damping * angle + angle * angle);
        x += v;
      }
      EXPECT_NEAR(body.pose.x[0], x, 1e-12);
    }
  }
}

TEST(JointRows, CorrectionsAreCapped) {
  std::mt19937 rng(8);
  JointCase c = joint_case(JointKind::fixed, rng, false);
  c.bodies[0].pose = random_pose(rng, 20.0);
  const ErrorFeedback feedback{0.01, 0.2, 2.0};
  for (const ConstraintBlock<3>& block : joint_blocks<3>(c.bodies, {c.joint}, feedback))
    EXPECT_NEAR(norm(block.w), 2.0, 1e-12);
}

/// Period 2 pi sqrt((I + m l^2) / (m g l)) (1 + theta^2 / 16), within the accuracy of the step, and conserved
/// energy.
TEST(JointRows, PendulumKeepsItsPeriodAndEnergy) {
  for (const JointKind kind : {JointKind::hinge, JointKind::ball, JointKind::distance}) {
    const double g = 9.81, l = 0.8, dt = 1.0 / 1000, theta = 0.3;
    std::vector<RigidOne> bodies(1);
    bodies[0].mass = 2;
    bodies[0].inertia = {0.3, 0.2, 0.3};
    DeviceJoint j{};
    j.kind = kind;
    j.b = -1;
    // The hinge's axis is z.
    const Quat z_first = rotation_by(V3d{0, -std::acos(-1.0) / 2, 0});
    j.frame_b = {{0, 0, 0}, z_first};
    j.frame_a = {kind == JointKind::distance ? V3d{0, 0, 0} : V3d{0, l, 0}, z_first};
    j.low = kind == JointKind::distance ? l : 1;
    j.high = kind == JointKind::distance ? l : -1;
    bodies[0].pose.q = kind == JointKind::distance ? Quat::identity() : rotation_by(V3d{0, 0, theta});
    bodies[0].pose.x = l * V3d{std::sin(theta), -std::cos(theta), 0};
    const double inertia = (kind == JointKind::distance ? 0 : 0.3) + 2 * l * l;
    const double period = 2 * std::acos(-1.0) * std::sqrt(inertia / (2 * g * l)) * (1 + theta * theta / 16);
    Params params;
    params.dt = dt;
    const double start = bodies[0].energy(-g);
    double crossed = 0, last = bodies[0].pose.x[0];
    int crossings = 0;
    for (int step = 1; crossings < 5 && step < 20000; ++step) {
      push_freely(bodies, -g, dt);
      solve_equalities(bodies, joint_blocks<3>(bodies, {j}, error_feedback(params)));
      advance(bodies, dt);
      const double x = bodies[0].pose.x[0];
      if (last > 0 && x <= 0) {  // every second crossing of the vertical: once per period
        const double now = dt * (step - x / (x - last));
        if (++crossings == 1) crossed = now;
        if (crossings == 5) {
          EXPECT_NEAR((now - crossed) / 4, period, 2e-3 * period);
        }
      }
      last = x;
    }
    EXPECT_EQ(crossings, 5);
    EXPECT_NEAR(bodies[0].energy(-g), start, 0.01 * 2 * g * l * (1 - std::cos(theta)) + 2e-3);
    EXPECT_NEAR(norm(bodies[0].pose.x), l, 1e-5);
  }
}

/// A chain of 12 links that falls from the horizontal: links stay connected, and energy does not grow.
TEST(JointRows, ChainFallsTogether) {
  const int links = 12;
  const double g = -9.81, dt = 1.0 / 400, length = 0.2;
  std::vector<RigidOne> bodies(links);
  std::vector<DeviceJoint> joints(links);
  for (int i = 0; i < links; ++i) {
    RigidOne& b = bodies[static_cast<std::size_t>(i)];
    b.mass = 0.3;
    b.inertia = {2e-4, 1e-3, 1e-3};
    b.pose.x = {length * (i + 0.5), 0, 0};
    DeviceJoint& j = joints[static_cast<std::size_t>(i)];
    j.kind = JointKind::ball;
    j.a = i;
    j.b = i - 1;
    j.frame_a = {{-length / 2, 0, 0}, Quat::identity()};
    j.frame_b = {{i > 0 ? length / 2 : 0, 0, 0}, Quat::identity()};
  }
  const auto energy = [&] {
    double sum = 0;
    for (const RigidOne& b : bodies) sum += b.energy(g);
    return sum;
  };
  Params params;
  params.dt = dt;
  const double start = energy(), scale = 12 * 0.3 * 9.81 * 1.2;
  double most = 0;
  for (int step = 0; step < 400; ++step) {
    push_freely(bodies, g, dt);
    solve_equalities(bodies, joint_blocks<3>(bodies, joints, error_feedback(params)));
    advance(bodies, dt);
    for (const ConstraintBlock<3>& block : joint_blocks<3>(bodies, joints, whole_error()))
      most = std::max(most, norm(block.w));
    ASSERT_LT(energy(), start + 0.02 * scale) << "step " << step;
  }
  EXPECT_LT(most, 4e-3);
  EXPECT_GT(energy(), start - 0.2 * scale);
}

}  // namespace
}  // namespace stickslip

// Problems with rolling resistance (blocks of five rows) against analytic motions, a judge written out here,
// and each other.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "gpu/contact_lab.h"
#include "gpu/dfcp/problem/body_problem.h"
#include "gpu/dfcp/problem/generators.h"
#include "tests/backend_test.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

std::unique_ptr<ContactLab> rolling_lab(const ContactProblem& problem) {
  auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
  lab->load(problem);
  return lab;
}

std::vector<std::string> rolling_solvers() {
  std::vector<std::string> names;
  for (const ContactSolverInfo& info : list_contact_solvers())
    if (info.has(SolverTrait::rolling)) names.emplace_back(info.name);
  return names;
}

constexpr double kGravity = 9.81, kRadius = 0.1, kRolling = 0.002, kDt = 0.01;  // [m/s^2, m, m, s]

/// A ball on a plane that falls off along x at this angle [rad].
struct RollingBall {
  double angle;
  RigidBody ball = solid_ball(2, kRadius);

  explicit RollingBall(double slope) : angle(slope) { ball.position = {0, kRadius, 0}; }

  /// Rolls at `speed` along x without slip.
  void roll(double speed) {
    ball.velocity = {speed, 0, 0};
    ball.spin = {0, 0, -speed / kRadius};
  }
  ContactProblem step() const {
    BodyProblem build(kDt, {kGravity * std::sin(angle), -kGravity * std::cos(angle), 0},
                      BodyProblem::Resistance::rolling);
    ContactPoint contact;
    contact.a = build.add(ball);
    contact.point = ball.position - Vec3d{0, kRadius, 0};
    contact.mu = 0.4;
    contact.rolling = kRolling;
    build.add(contact);
    return build.take("ball", "");
  }
  void advance(const std::string& solver) {
    const ContactProblem problem = step();
    LabParams params;
    if (solver != "spg") params.tolerance = 1e-10;  // its search along a direction ends in rounding errors
    const SolveReport report = rolling_lab(problem)->solve(solver, params);
    ASSERT_TRUE(report.converged) << solver << " " << report.judgement.residual << " " << report.message;
    const std::vector<double> v = velocities(problem, report.r);
    for (int i = 0; i < 3; ++i) {
      ball.velocity[i] = v[static_cast<std::size_t>(i)];
      ball.spin[i] = v[static_cast<std::size_t>(i) + 3];
    }
    ball.position += kDt * ball.velocity;
    ball.position[1] = kRadius;
  }
  void expect_rolls(double speed, double tolerance) const {
    EXPECT_NEAR(ball.velocity[0], speed, tolerance);
    EXPECT_NEAR(ball.spin[2], -speed / kRadius, tolerance / kRadius);
    EXPECT_NEAR(ball.velocity[1], 0, tolerance);
    EXPECT_NEAR(ball.velocity[2], 0, tolerance);
    EXPECT_NEAR(ball.spin[0], 0, tolerance / kRadius);
    EXPECT_NEAR(ball.spin[1], 0, tolerance / kRadius);
  }
};

/// Of a solid ball that rolls without slip: 5/7 (g sin(slope) - (mu_r / R) g cos(slope)).
double acceleration(double slope) {
  return 5.0 / 7 * kGravity * (std::sin(slope) - kRolling / kRadius * std::cos(slope));
}

/// Residual and largest violations of impulses, from dense W and q.
struct DenseJudgement {
  double residual = 0, error = 0, penetration = 0, outside = 0, complementarity = 0;

  DenseJudgement(const ContactProblem& problem, const std::vector<double>& impulses) {
    const ContactProblem local = to_local(problem);
    const auto n = static_cast<Eigen::Index>(local.size());
    Eigen::MatrixXd w = Eigen::MatrixXd::Zero(n, n);
    for (std::int32_t i = 0; i < local.W.rows; ++i)
      for (std::int32_t k = local.W.offsets[i]; k < local.W.offsets[i + 1]; ++k)
        w(i, local.W.indices[k]) = local.W.values[k];
    // Rolling rows in the length that gives them the mean diagonal of the rows of friction.
    Eigen::VectorXd length = Eigen::VectorXd::Ones(n);
    for (Eigen::Index at = 0; at < n; at += 5)
      length[at + 3] = length[at + 4] =
          std::sqrt((w(at + 1, at + 1) + w(at + 2, at + 2)) / (w(at + 3, at + 3) + w(at + 4, at + 4)));
    w = length.asDiagonal() * w * length.asDiagonal();
    const Eigen::VectorXd given = Eigen::Map<const Eigen::VectorXd>(local.q.data(), n),
                          raw = Eigen::Map<const Eigen::VectorXd>(impulses.data(), n),
                          q = given.cwiseProduct(length), r = raw.cwiseQuotient(length), u = w * r + q;
    double sum = 0;
    for (std::size_t c = 0; c < local.blocks(); ++c) {
      const auto at = static_cast<Eigen::Index>(5 * c);
      const double mu = local.laws[c].mu[0], mu_r = local.laws[c].mu[2] / length[at + 3],
                   s = w.block<5, 5>(at, at).trace() / 5;
      const Eigen::Matrix<double, 5, 1> rc = r.segment<5>(at);
      Eigen::Matrix<double, 5, 1> uc = u.segment<5>(at);
      penetration = std::max(penetration, -uc[0]);
      uc[0] += mu * std::hypot(uc[1], uc[2]) + mu_r * std::hypot(uc[3], uc[4]);
      const double e = s * (rc - projected(mu, mu_r, rc - uc / s)).norm();
      error = std::max(error, e);
      outside = std::max(outside, (rc - projected(mu, mu_r, rc)).norm());
      complementarity = std::max(complementarity, std::fabs(rc.dot(uc)));
      sum += e * e;
    }
    residual = std::sqrt(sum) / q.norm();
  }

  /// For every r_N the closest point is known. The slope of the squared distance grows with r_N: bisection.
  static Eigen::Matrix<double, 5, 1> projected(double mu, double mu_r, const Eigen::Matrix<double, 5, 1>& x) {
    const auto point = [&](double n) {
      Eigen::Matrix<double, 5, 1> p = x;
      p[0] = n;
      for (const auto& [first, m] : {std::pair<int, double>{1, mu}, std::pair<int, double>{3, mu_r}}) {
        const double length = std::hypot(x[first], x[first + 1]);
        if (length <= m * n) continue;
        p[first] *= m * n / length;
        p[first + 1] *= m * n / length;
      }
      return p;
    };
    double low = 0, high = x.norm();
    for (int step = 0; step < 200; ++step) {
      const double n = 0.5 * (low + high);
      const double slope = n - x[0] - mu * std::max(0.0, std::hypot(x[1], x[2]) - mu * n) -
                           mu_r * std::max(0.0, std::hypot(x[3], x[4]) - mu_r * n);
      (slope < 0 ? low : high) = n;
    }
    // Inside the cone x itself: halves of an interval do not hit it exactly.
    if (std::hypot(x[1], x[2]) <= mu * x[0] && std::hypot(x[3], x[4]) <= mu_r * x[0]) return x;
    return point(0.5 * (low + high));
  }
};

double largest_gap(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
  return most;
}

/// Two balls joined by a ball joint, the lower one on the ground: bilateral and rolling blocks of five rows.
ContactProblem joined_balls() {
  BodyProblem build(kDt, {1, -kGravity, 0.5}, BodyProblem::Resistance::rolling);
  RigidBody ball = solid_ball(1, kRadius);
  ball.position = {0, kRadius, 0};
  ball.velocity = {0.3, 0, 0};
  const std::int32_t lower = build.add(ball);
  ball.position = {0, 3 * kRadius, 0};
  const std::int32_t upper = build.add(ball);
  build.add_joint(lower, upper, {0, 2 * kRadius, 0});
  ContactPoint contact;
  contact.a = lower;
  contact.rolling = 10 * kRolling;
  build.add(contact);
  return build.take("joined", "");
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(RollingLab, ABallSlowsDownAtTheAnalyticRateAndStops) {
  constexpr double speed = 0.03;
  for (const std::string& solver : rolling_solvers()) {
    SCOPED_TRACE(solver);
    RollingBall ball(0);
    ball.roll(speed);
    double expected = speed;
    for (int step = 0; step < 30; ++step) {
      ball.advance(solver);
      expected = std::max(0.0, expected + kDt * acceleration(0));
      ball.expect_rolls(expected, solver == "spg" ? 1e-6 : 1e-8);
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(expected, 0);  // it has come to rest
  }
}

BACKEND_TEST(RollingLab, ABallOnASlopeStaysOrRolls) {
  for (const std::string& solver : rolling_solvers()) {
    SCOPED_TRACE(solver);
    for (const double share : {0.5, 0.99, 1.01, 3.0}) {
      const double slope = std::atan(share * kRolling / kRadius);
      RollingBall ball(slope);
      for (int step = 0; step < 10; ++step) ball.advance(solver);
      ball.expect_rolls(share < 1 ? 0.0 : 10 * kDt * acceleration(slope), solver == "spg" ? 1e-6 : 1e-8);
    }
  }
}

/// A steep slope: the ball slides, and friction turns it against the rolling resistance.
BACKEND_TEST(RollingLab, ASlidingBallIsTurnedByFrictionLessResistance) {
  const double slope = std::atan(3.0), mu = 0.4;
  RollingBall ball(slope);
  const double normal = kGravity * std::cos(slope);
  const double linear = kGravity * std::sin(slope) - mu * normal,
               turning = (mu - kRolling / kRadius) * normal * kRadius / (0.4 * kRadius * kRadius);
  for (int step = 0; step < 10; ++step) ball.advance("nsgs");
  EXPECT_NEAR(ball.ball.velocity[0], 10 * kDt * linear, 1e-10);
  EXPECT_NEAR(ball.ball.spin[2], -10 * kDt * turning, 1e-9);
}

BACKEND_TEST(RollingLab, SolversAgreeAndTheJudgeIsRight) {
  for (const std::uint64_t seed : {1, 2}) {
    const ContactProblem problem = generate("rolling_spheres", 20, seed);
    const auto lab = rolling_lab(problem);
    std::vector<double> u;
    LabParams params;
    params.max_iterations = 100000;
    for (const std::string& solver : rolling_solvers()) {
      params.tolerance = solver == "spg" ? 1e-8 : 1e-10;
      SCOPED_TRACE(solver + " " + std::to_string(seed));
      const SolveReport report = lab->solve(solver, params);
      EXPECT_TRUE(report.converged) << report.judgement.residual << " " << report.message;
      const DenseJudgement judged(problem, report.r);
      EXPECT_NEAR(report.judgement.residual, judged.residual, 1e-6 * judged.residual + 1e-14);
      EXPECT_NEAR(report.judgement.largest_error, judged.error, 1e-6 * judged.error + 1e-14);
      EXPECT_NEAR(report.judgement.penetration, judged.penetration, 1e-12);
      EXPECT_NEAR(report.judgement.cone_distance, judged.outside, 1e-14);
      EXPECT_NEAR(report.judgement.complementarity, judged.complementarity, 1e-12);
      EXPECT_LE(judged.residual, 1.001 * params.tolerance);
      EXPECT_LE(report.judgement.cone_violation, 1e-13);
      EXPECT_GE(report.judgement.dissipation, -1e-9);
      if (u.empty()) u = report.u;
      EXPECT_LE(largest_gap(u, report.u), 1e-6);
    }
    // Of impulses that solve nothing.
    std::vector<double> wrong(problem.size());
    for (std::size_t i = 0; i < wrong.size(); ++i) wrong[i] = 1e-3 * std::sin(static_cast<double>(i));
    const Judgement judgement = lab->judge(wrong);
    const DenseJudgement judged(problem, wrong);
    EXPECT_NEAR(judgement.residual, judged.residual, 1e-9 * judged.residual);
    EXPECT_NEAR(judgement.cone_distance, judged.outside, 1e-9 * judged.outside);
    EXPECT_NEAR(judgement.penetration, judged.penetration, 1e-9 * judged.penetration);
    EXPECT_NEAR(judgement.complementarity, judged.complementarity, 1e-9 * judged.complementarity);
  }
}

/// Contacts of the generated problem roll freely, resist rolling, slide and open.
BACKEND_TEST(RollingLab, TheGeneratedProblemHasContactsOfAllKinds) {
  const ContactProblem problem = generate("rolling_spheres", 100, 1);
  const SolveReport report = rolling_lab(problem)->solve("auto", {});
  ASSERT_TRUE(report.converged) << report.message;
  int rolls = 0, resists = 0, slides = 0, opens = 0;
  for (std::size_t c = 0; c < problem.blocks(); ++c) {
    const double* u = report.u.data() + 5 * c;
    const double slip = std::hypot(u[1], u[2]), turn = std::hypot(u[3], u[4]);
    if (!(report.r[5 * c] > 0)) ++opens;
    else if (slip > 1e-6) ++slides;
    else ++(turn > 1e-4 ? rolls : resists);
  }
  EXPECT_GT(rolls, 10);
  EXPECT_GT(resists, 3);
  EXPECT_GT(slides, 10);
  EXPECT_GT(opens, 10);
}

BACKEND_TEST(RollingLab, EveryFormAndStorageHasTheSameSolution) {
  const ContactProblem bodies = generate("rolling_spheres", 12, 5);
  LabParams params;
  params.tolerance = 1e-10;
  const SolveReport first = rolling_lab(bodies)->solve("nsgs", params);
  ASSERT_TRUE(first.converged);
  params.storage = DelassusStorage::factored;
  for (const char* solver : {"nsgs", "spg", "prox_gs", "newton_ac", "auto"}) {
    params.tolerance = 1e-8;
    const SolveReport factored = rolling_lab(bodies)->solve(solver, params);
    EXPECT_TRUE(factored.converged) << solver << " " << factored.message;
    EXPECT_LE(largest_gap(first.u, factored.u), 1e-6) << solver;
  }
  params.storage = DelassusStorage::automatic;
  const SolveReport local = rolling_lab(to_local(bodies))->solve("nsgs", params);
  ASSERT_TRUE(local.converged);
  EXPECT_LE(largest_gap(first.u, local.u), 1e-6);
}

BACKEND_TEST(RollingLab, WithJoints) {
  const ContactProblem problem = joined_balls();
  const auto lab = rolling_lab(problem);
  std::vector<double> u;
  for (const std::string& solver : rolling_solvers()) {
    const SolveReport report = lab->solve(solver, {});
    ASSERT_TRUE(report.converged) << solver << " " << report.message;
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(report.u[static_cast<std::size_t>(i)], 0, 1e-6) << solver;
    if (u.empty()) u = report.u;
    EXPECT_LE(largest_gap(u, report.u), 1e-6) << solver;
  }
}

/// Under the associated rule, gaps open where contacts slide or roll: u_N = mu |u_T| + mu_r |u_R|.
BACKEND_TEST(RollingLab, TheAssociatedRule) {
  ContactProblem problem = generate("rolling_spheres", 12, 3);
  for (BlockLaw& law : problem.laws) law.flow = FlowRule::associated;
  const auto lab = rolling_lab(problem);
  std::vector<double> u;
  for (const std::string& solver : rolling_solvers()) {
    const SolveReport report = lab->solve(solver, {});
    ASSERT_TRUE(report.converged) << solver << " " << report.message;
    if (u.empty()) u = report.u;
    EXPECT_LE(largest_gap(u, report.u), 1e-6) << solver;
    for (std::size_t c = 0; c < problem.blocks(); ++c)
      if (const double* v = report.u.data() + 5 * c; report.r[5 * c] > 1e-9) {
        const BlockLaw& law = problem.laws[c];
        EXPECT_NEAR(v[0], law.mu[0] * std::hypot(v[1], v[2]) + law.mu[2] * std::hypot(v[3], v[4]), 1e-5);
      }
  }
}

BACKEND_TEST(RollingLab, OtherSolversRefuse) {
  const auto lab = rolling_lab(generate("rolling_spheres", 3, 1));
  int refused = 0;
  for (const ContactSolverInfo& info : list_lab_solvers()) {
    if (info.has(SolverTrait::rolling)) continue;
    const SolveReport report = lab->solve(info.name, {});
    EXPECT_EQ(report.end, SolveEnd::refused) << info.name;
    EXPECT_NE(report.message.find("rolling resistance"), std::string::npos) << report.message;
    ++refused;
  }
  EXPECT_GT(refused, 8);
}

BACKEND_TEST(RollingLab, LawsAreChecked) {
  const ContactProblem good = generate("rolling_spheres", 3, 1);
  const auto refused = [&](const std::function<void(ContactProblem&)>& spoil, const std::string& part) {
    ContactProblem bad = good;
    spoil(bad);
    try {
      check(bad);
      ADD_FAILURE() << "accepted: " << part;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  EXPECT_NO_THROW(check(good));
  refused([](ContactProblem& p) { p.laws[1].set = FrictionSet::ellipsoid; }, "block 1 has five rows");
  refused([](ContactProblem& p) { p.laws[0].mu[1] += 0.1; }, "each pair must be equal");
  refused([](ContactProblem& p) { p.laws[0].mu[3] = -1; }, "mu of block 0, tangent 4");
  refused([](ContactProblem& p) { p.dim = 6; }, "dim is 6");
  ContactProblem three = to_local(generate("mass_chain", 2, 1));
  three.laws[0].set = FrictionSet::rolling;
  try {
    check(three);
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("needs blocks of five rows"), std::string::npos);
  }
}

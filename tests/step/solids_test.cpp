// Scenes of solids, affine bodies, colliders and half-spaces at velocity level, without any rigid body,
// compared with mechanics.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>

#include "gpu/math/quat.h"
#include "gpu/model/element_group.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/clip_model.h"
#include "tests/fixtures/fresh_seed.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/solid_step_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using Vec3d = Vec<double, 3>;

class SolidSteps : public fixtures::SolidStepTest {
 protected:
  double mean_height(const Object& object) {
    return fixtures::mean(engine->state().positions, object.node_begin, object.node_end)[1];
  }
};

double mass_of(const Model& model, const Object& object) {
  return model.materials[static_cast<std::size_t>(object.material)].density * solid_volume(model, object);
}

double energy(const StepReport& r) { return r.kinetic_energy + r.gravity_energy + r.elastic_energy; }

/// A box collider of two triangles per face.
Object& add_box_collider(Model& model, const Vec3d& half, const Vec3d& center, const Motion& motion = {}) {
  std::vector<Vec3d> nodes;
  for (int i = 0; i < 8; ++i)
    nodes.push_back(
        center + Vec3d{i & 1 ? half[0] : -half[0], i & 2 ? half[1] : -half[1], i & 4 ? half[2] : -half[2]});
  const std::vector<Vec3i> triangles{{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                     {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return add_collider(model, "collider", nodes, triangles, 0, motion);
}

TEST_P(SolidSteps, ABlockOnAnInclinedPlaneSticksOrSlidesByMu) {
  const double angle = 0.5;
  const Vec3d up{std::sin(angle), std::cos(angle), 0}, down{std::cos(angle), -std::sin(angle), 0};
  for (const fixtures::BoxBody kind : {fixtures::BoxBody::deformable, fixtures::BoxBody::affine})
    for (const double mu : {0.3, 0.8}) {
      Model model;
      const Object& block =
          add_box(model, "block", {0.3, 0.2, 0.3}, 0.1 * up, 2, -angle * 180 / M_PI, {0, 0, 0}, kind);
      model.half_spaces.push_back({up, 0, mu});
      model.materials[0].mu = mu;
      model.materials[0].young = 1e6;
      model.materials[0].damping = 0.02;
      const int begin = block.node_begin, end = block.node_end;
      load(model);
      run(100);
      const State state = engine->state();
      const double acceleration = mu > std::tan(angle) ? 0 : 9.81 * (std::sin(angle) - mu * std::cos(angle));
      EXPECT_NEAR(dot(fixtures::mean(state.velocities, begin, end), down), acceleration, 3e-3) << mu;
      const double way = dot(
          fixtures::mean(state.positions, begin, end) - fixtures::mean(model.positions, begin, end), down);
      EXPECT_NEAR(way, 0.5 * acceleration, 5e-3 + 0.01 * acceleration) << mu;
    }
}

TEST_P(SolidSteps, TwoFreeBodiesThatCollideKeepTheirMomentumAndGainNoEnergy) {
  using fixtures::BoxBody;
  params.gravity = 0;
  contact.tolerance = 1e-3;
  for (const auto& [one, two] :
       {std::pair{BoxBody::deformable, BoxBody::deformable}, std::pair{BoxBody::deformable, BoxBody::affine},
        std::pair{BoxBody::affine, BoxBody::affine}}) {
    Model model;
    add_box(model, "a", {0.2, 0.2, 0.2}, {-0.25, 0.03, 0.02}, 2, 10, {2, 0, 0}, one);
    add_box(model, "b", {0.3, 0.3, 0.3}, {0.02, 0, 0}, 3, 0, {-0.5, 0.1, 0}, two);
    load(model);
    const StepReport first = engine->step();
    int touched = 0;
    double least = energy(first);
    StepReport last;
    for (int i = 0; i < 30; ++i) {
      last = step();
      touched += last.contact_solve->law->impulse > 0 ? 1 : 0;
      EXPECT_LT(norm(last.momentum - first.momentum), 1e-8 * norm(first.momentum)) << last.frame;
      EXPECT_LT(energy(last), least + 1e-3 * energy(first)) << last.frame;
      least = std::min(least, energy(last));
    }
    EXPECT_GT(touched, 1);
    const State state = engine->state();
    const Object &a = model.objects[0], &b = model.objects[1];
    EXPECT_GT(fixtures::mean(state.velocities, b.node_begin, b.node_end)[0],
              fixtures::mean(state.velocities, a.node_begin, a.node_end)[0] - 0.05)
        << "they part or stay together";
    EXPECT_LT(norm(last.angular_momentum - first.angular_momentum), 0.02 * 2 * 8 * 0.35);
  }
}

TEST_P(SolidSteps, AStackOfTwoBlocksCarriesAndYieldsAsItsWeightSays) {
  params.dt = 0.02;
  const double side = 0.2, young = 1e5;
  Model model;
  fixtures::add_floor(model);
  add_box(model, "lower", {side, side, side}, {0, 0.5 * side, 0}, 4);
  add_box(model, "upper", {side, side, side}, {0.002, 1.5 * side, 0.003}, 3);
  model.materials[0].young = young;
  model.materials[0].poisson = 0;
  model.materials[0].damping = 0.05;
  model.materials[0].mu = 0.5;
  contact.tolerance = 1e-4;
  load(model);
  run(150);
  Snapshot snapshot;
  engine->snapshot(snapshot);
  double on_floor = 0, between = 0;
  for (const ContactRecord& c : snapshot.contacts) {
    const double force = c.normal_force * c.normal[1];
    if (c.object_b < 0) on_floor += force;
    else between += c.object_a == 1 ? force : -force;
  }
  const double weight = 9.81 * mass_of(model, model.objects[0]);
  EXPECT_NEAR(on_floor, 2 * weight, 1e-3 * weight);
  EXPECT_NEAR(between, weight, 1e-3 * weight);
  // A column under its own weight, and the lower one under that of the upper one too.
  const State state = engine->state();
  const auto top = [&](const Object& object) {
    double sum = 0;
    int count = 0;
    for (int i = object.node_begin; i < object.node_end; ++i)
      if (model.positions[i][1] > mean_height(object) &&
          model.positions[i][1] > 0.99 * side * (object.node_begin > 0 ? 2 : 1))
        sum += state.positions[i][1] - model.positions[i][1], ++count;
    return sum / count;
  };
  const double own = 1000 * 9.81 * side * side / (2 * young),
               load_of_upper = 1000 * 9.81 * side * side / young;
  EXPECT_NEAR(top(model.objects[0]), -(own + load_of_upper), 0.15 * own);
  EXPECT_NEAR(top(model.objects[1]), -(2 * own + load_of_upper), 0.15 * own);
}

TEST_P(SolidSteps, ABlockRestsOnAColliderAndIsCarriedByIt) {
  contact.tolerance = 1e-5;
  for (const bool affine : {false, true}) {
    Model model;
    Motion motion;
    motion.velocity = {0.2, 0, 0};
    add_box_collider(model, {0.5, 0.05, 0.5}, {0, -0.05, 0}, motion);
    const Object& block = add_box(model, "block", {0.2, 0.2, 0.2}, {0.01, 0.1, 0.02}, 3, 0, {0, 0, 0},
                                  affine ? fixtures::BoxBody::affine : fixtures::BoxBody::deformable);
    const int begin = block.node_begin, end = block.node_end;
    const double weight = 9.81 * mass_of(model, block);
    model.materials[0].mu = 0.5;
    model.materials[0].damping = 0.02;
    load(model);
    run(100);
    const State state = engine->state();
    EXPECT_LT(norm(fixtures::mean(state.velocities, begin, end) - Vec3d{0.2, 0, 0}), 2e-3);
    Snapshot snapshot;
    engine->snapshot(snapshot);
    double force = 0;
    for (const ContactRecord& c : snapshot.contacts)
      force += (c.object_a == 1 ? 1 : -1) * c.normal_force * c.normal[1];
    EXPECT_NEAR(force, weight, 2e-3 * weight);
  }
}

TEST_P(SolidSteps, TheArmsOfAClipStopEachOther) {
  params.gravity = 0;
  contact.tolerance = 1e-3;
  double least[2];
  for (const bool apart : {false, true}) {
    fixtures::Clip clip = fixtures::clip_model(0.06, apart);
    ASSERT_GT(clip.facing.size(), 3u);
    load(clip.model);
    least[apart] = 1;
    bool touched = false;
    for (int i = 0; i < 60; ++i) {
      const StepReport report = step();
      touched = touched || report.contacts > 0;
      EXPECT_LT(report.contact_solve->penetration, 4e-3);
      const State state = engine->state();
      for (const auto& [low, high] : clip.facing)
        least[apart] = std::min(least[apart], state.positions[high][1] - state.positions[low][1]);
    }
    EXPECT_EQ(touched, !apart);
  }
  EXPECT_GT(least[0], -5e-3);
  EXPECT_LT(least[1], -0.01) << "without contacts the arms pass through each other";
}

/// Boxes of three kinds that fall on a collider, a floor and each other.
Model heap(unsigned seed) {
  Model model;
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> any(-1, 1);
  fixtures::add_floor(model);
  add_box_collider(model, {0.15, 0.05, 0.3}, {-0.2, 0.06, 0});
  for (int i = 0; i < 5; ++i)
    add_box(model, "box " + std::to_string(i), {0.16 + 0.03 * any(rng), 0.12, 0.14},
            {0.12 * any(rng), 0.2 + 0.17 * i, 0.05 * any(rng)}, 2, 40 * any(rng),
            {0.3 * any(rng), -1, 0.3 * any(rng)},
            i % 2 == 0 ? fixtures::BoxBody::deformable : fixtures::BoxBody::affine);
  model.materials[0].young = 1e5;
  model.materials[0].mu = 0.4;
  model.materials[0].damping = 0.005;
  return model;
}

TEST_P(SolidSteps, AHeapObeysTheLawsUnderEveryContactSolver) {
  contact.tolerance = 1e-3;
  contact.max_iterations = 100;
  params.pcg_tolerance = 1e-6;
  FRESH_SEED(seed);
  const ParamInfo& row = *find_param(param_table(), "contact_solver");
  for (std::size_t i = 0; i < row.choices.size(); ++i) {
    if (row.choices[i] == "penalty_explicit") continue;  // no law judges it
    SCOPED_TRACE(std::string(row.choices[i]));
    set_param(&params, row, static_cast<double>(i));
    Model model = heap(seed);
    double weight = 0;  // [N s] of gravity in a step
    for (const Object& object : model.objects)
      if (object.is_deformable())
        weight += model.materials[static_cast<std::size_t>(object.material)].density *
                  solid_volume(model, object) * std::abs(params.gravity) * params.dt;
    load(model);
    double least = 1e300, range = 0;
    for (int k = 0; k < 20; ++k) {
      const StepReport report = engine->step();
      ASSERT_TRUE(report.contact_solve);
      ASSERT_TRUE(report.contact_solve->law);
      const LawCheck law = *report.contact_solve->law;
      EXPECT_TRUE(std::isfinite(energy(report)));
      const double scale = std::max(1e-9, law.impulse);
      // Over nodes, so that it has the error of PCG, with contacts or without.
      EXPECT_LT(law.momentum, 1e-4 * scale * (1 + report.contacts) + params.pcg_tolerance * weight);
      if (report.converged) {
        EXPECT_LE(law.pull, 1e-2 * scale);
        EXPECT_LT(report.contact_solve->residual, 1.01e-3);
      }
      range = std::max(range, report.kinetic_energy);
      EXPECT_LT(energy(report), least + 0.05 * range) << report.frame;
      least = std::min(least, energy(report));
    }
    const State state = engine->state();
    for (const Vec3d& p : state.positions) {
      EXPECT_GT(p[1], -0.02);
      EXPECT_LT(norm(p), 3);
    }
  }
}

/// v, u and the law of a global problem, by dense matrices.
Eigen::MatrixXd dense(const SparseRows& s) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(s.rows, s.columns);
  for (int i = 0; i < s.rows; ++i)
    for (int k = s.offsets[i]; k < s.offsets[i + 1]; ++k) m(i, s.indices[k]) += s.values[k];
  return m;
}

TEST_P(SolidSteps, VelocitiesAreThoseOfTheDenseProblem) {
  contact.tolerance = 1e-10;
  Model model;
  fixtures::add_floor(model);
  Motion motion;
  motion.velocity = {0.1, 0.02, 0};
  add_box_collider(model, {0.3, 0.05, 0.3}, {0, 0.06, 0}, motion);
  add_box(model, "soft", {0.2, 0.2, 0.2}, {0.02, 0.212, 0.01}, 2, 0, {0.3, -0.5, 0});
  add_box(model, "affine", {0.18, 0.18, 0.18}, {0.0, 0.404, 0.02}, 2, 3, {0.1, -0.8, 0},
          fixtures::BoxBody::affine);
  model.materials[0].young = 1e5;
  load(model);
  run(3);
  const State state = engine->state();
  const ContactProblem p = engine->freeze();
  ASSERT_EQ(p.form, ContactProblem::Form::global);
  ASSERT_GT(p.blocks(), 8u);
  const Eigen::MatrixXd A = dense(p.A), H = dense(p.H);
  const auto vector_of = [](const std::vector<double>& v) {
    return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
  };
  const Eigen::VectorXd r = vector_of(p.solution), v = A.ldlt().solve(vector_of(p.f) + H.transpose() * r);
  const Eigen::VectorXd u = H * v + vector_of(p.w);
  EXPECT_GT(r.norm(), 0.1);
  // The free nodes are those of the soft box and the four control nodes of the affine one.
  const Object &soft = model.objects[1], &affine = model.objects[2];
  Eigen::Index at = 0;
  const auto compare = [&](std::int32_t node) {
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(v[at++], state.velocities[node][k], 1e-7) << node;
  };
  for (std::int32_t n = soft.node_begin; n < soft.node_end; ++n) compare(n);
  for (int k = 0; k < 4; ++k) compare(affine.control_begin + k);
  EXPECT_EQ(at, v.size());
  // Coulomb's law, written out.
  const double most = r.cwiseAbs().maxCoeff(), fastest = 9.81 * params.dt;
  for (Eigen::Index c = 0; c < static_cast<Eigen::Index>(p.blocks()); ++c) {
    const double mu = p.laws[static_cast<std::size_t>(c)].mu[0], rn = r[3 * c], un = u[3 * c];
    const Eigen::Vector2d rt = r.segment<2>(3 * c + 1), ut = u.segment<2>(3 * c + 1);
    EXPECT_GE(rn, -1e-7 * most);
    EXPECT_GE(un, -1e-6 * fastest);
    EXPECT_LE(rn * un, 1e-6 * most * fastest);
    EXPECT_LE(rt.norm(), mu * rn + 1e-6 * most);
    EXPECT_LE(mu * rn * ut.norm() + rt.dot(ut), 1e-6 * most * fastest);
  }
}

/// Nothing touches them, so a stiff affine cube and a stiff elastic one must keep their energy and turn.
TEST_P(SolidSteps, StiffSolidsSpinWithoutGainingEnergy) {
  params.gravity = 0;
  const Vec3d spin{1, 4, 10};
  for (const fixtures::BoxBody body : {fixtures::BoxBody::affine, fixtures::BoxBody::deformable}) {
    Model model;
    add_box(model, "cube", {0.2, 0.2, 0.2}, {0, 1, 0}, 1, 0, {0, 0, 0}, body);
    model.materials[0].young = 1e9;
    model.materials[0].damping = body == fixtures::BoxBody::affine ? 0 : 1e-3;
    for (std::size_t i = 0; i < model.velocities.size(); ++i)
      model.velocities[i] = cross(spin, model.positions[i] - Vec3d{0, 1, 0});
    load(model);
    double energy = 0;
    Vec3d angular{0, 0, 0};
    for (int k = 0; k < 20; ++k) {
      const StepReport report = engine->step();
      const double now = report.kinetic_energy + report.elastic_energy;
      EXPECT_TRUE(report.converged) << report.stop_reason;
      EXPECT_EQ(report.contact_solve->linearisations, 1);
      if (k > 0) {
        EXPECT_LE(now, energy * (1 + 1e-6)) << k;
        // Backward Euler: w falls by the fraction (w dt)^2 in a step.
        EXPECT_NEAR(norm(report.angular_momentum) / norm(angular), 1,
                    1.2 * norm2(spin) * params.dt * params.dt);
        EXPECT_GT(dot(report.angular_momentum, angular),
                  0.9999 * norm(report.angular_momentum) * norm(angular));
      }
      energy = now;
      angular = report.angular_momentum;
    }
  }
}

/// A stiff bar that hits an edge with one end starts to turn within a step. The first linearisation, at a
/// motion without the turn, would stretch it; the step linearises again, or says that it is wrong.
TEST_P(SolidSteps, AStepWhoseLinearisedForcesCreateEnergyDoesNotPassAsConverged) {
  params.gravity = 0;
  params.dt = 0.05;
  Model model;
  fixtures::add_floor(model);
  add_box(model, "bar", {0.5, 0.05, 0.05}, {0, 0.2, 0}, 1, 0, {0, -8, 0});
  model.materials[0].young = 1e9;
  const Vec3d axis{0, 0, 1};
  for (std::size_t i = 0; i < model.positions.size(); ++i) {
    const Vec3d arm = model.positions[i] - Vec3d{0, 0.2, 0};
    model.positions[i] = Vec3d{0, 0.45, 0} + rotation_by(0.5 * axis).rotate(arm);
  }
  load(model);
  double energy = 0;
  int further = 0;
  for (int k = 0; k < 6; ++k) {
    const StepReport report = engine->step();
    const double now = report.kinetic_energy + report.elastic_energy;
    if (k > 0 && report.converged) {
      EXPECT_LE(now, 1.2 * energy) << k;
    }
    further += report.contact_solve->linearisations - 1;
    energy = now;
  }
  EXPECT_GT(further, 0) << "a motion that one linearisation describes";
}

/// A very stiff bar spins by a third of a radian per step when its end hits the floor. Elastic energy does
/// not rise in the step that would make the bar twice as fast: elastic impulses do that, at the positions
/// before the impact.
TEST_P(SolidSteps, AStiffBarThatSpinsIntoTheFloorGainsNoEnergy) {
  for (const Vec3d& turn : {Vec3d{0.3, 0.17, 1.08}, Vec3d{0.1, 0.51, 0.96}}) {
    Model model;
    fixtures::add_floor(model, 0, 0.5);
    add_box(model, "bar", {0.6, 0.05, 0.05}, {0, 0.5, 0}, 2);
    model.materials[0].young = 1e11;
    model.materials[0].density = 3000;
    model.materials[0].mu = 0.5;
    for (std::size_t i = 0; i < model.positions.size(); ++i) {
      const Vec3d arm = rotation_by(turn).rotate(model.positions[i] - Vec3d{0, 0.5, 0});
      model.positions[i] = Vec3d{0, 0.5, 0} + arm;
      model.velocities[i] = Vec3d{1, -3, 0} + cross(Vec3d{0, 3, 20}, arm);
    }
    load(model);
    double energy = 0, most = 0;
    for (int k = 0; k < 40; ++k) {
      const StepReport report = engine->step();
      if (k > 0 && report.converged) {
        EXPECT_LE(report.judgement->energy_change, std::max(0.25 * energy, 1e-9 * most)) << k;
      }
      most = std::max(most, energy);
      energy = report.kinetic_energy + report.elastic_energy;
    }
  }
}

TEST_P(SolidSteps, FurtherLinearisationsApproachTheNonlinearStep) {
  const auto swing = [&](SolverKind solver, int linearisations) {
    Model model;
    add_box(model, "block", {0.2, 0.3, 0.2}, {0, 0.5, 0}, 2);
    model.materials[0].damping = 0.003;
    for (std::size_t i = 0; i < model.velocities.size(); ++i)
      model.velocities[i] = Vec3d{3 * model.positions[i][1], -6 * model.positions[i][1], 0};
    params.solver = solver;
    params.linearisations = linearisations;
    params.newton_tolerance = 1e-8;
    load(model);
    run_unconverged(5);
    return engine->state();
  };
  const State exact = swing(SolverKind::ipc, 1);
  double error[3];
  const int counts[3] = {1, 2, 5};
  for (int k = 0; k < 3; ++k) {
    engine = make_engine(GetParam(), 2);
    const State state = swing(SolverKind::velocity, counts[k]);
    error[k] = 0;
    for (std::size_t i = 0; i < state.positions.size(); ++i)
      error[k] = std::max(error[k], norm(state.positions[i] - exact.positions[i]));
  }
  EXPECT_GT(error[0], 1e-4) << "a step that a single linearisation gets wrong";
  EXPECT_LT(error[1], 0.5 * error[0]);
  EXPECT_LT(error[2], 0.05 * error[0]);
}

TEST_P(SolidSteps, ContactsObeyTheirLawWithSeveralLinearisations) {
  params.linearisations = 3;
  contact.tolerance = 1e-4;
  Model model;
  fixtures::add_floor(model);
  add_box(model, "block", {0.2, 0.2, 0.2}, {0, 0.1, 0}, 2, 0, {0.5, -0.5, 0});
  add_box(model, "upper", {0.1, 0.1, 0.1}, {0, 0.26, 0}, 2, 5, {0, -1, 0});
  load(model);
  for (int i = 0; i < 20; ++i) {
    const StepReport report = step();
    ASSERT_TRUE(report.contact_solve->law);
    EXPECT_LE(report.contact_solve->law->pull, 1e-6);
    EXPECT_LE(report.contact_solve->law->cone, 1e-4 * report.contact_solve->law->impulse);
    EXPECT_LT(report.contact_solve->penetration, 2e-3);
  }
}

INSTANTIATE_ON_BACKENDS(SolidSteps);

}  // namespace
}  // namespace stickslip

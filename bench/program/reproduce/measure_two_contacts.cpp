// Two contacts of one particle [Daviet20 §5.2.4, Fig. 5]. Quantities per seed, of position-based projection
// (pbd), of Gauss-Seidel on impulses (nsgs), and of steps of nodal ADMM with either projection
// (admm_positions and admm_impulses), whose particle is a node of a tet that hardly resists: M.work = (p -
// p0) . p over |p0|^2, which is zero where Signorini's condition holds and the work of the contacts where it
// does not, and M.distance of p to the exact projection over |p0|. Of the steps also M.converged by the
// report, and admm_positions.from_pbd, the distance to position-based projection in one of both orders.
#include <algorithm>
#include <cmath>
#include <random>

#include "bench/program/reproduce/measure.h"
#include "gpu/model/model.h"

namespace stickslip {
namespace {

using Vec3 = Vec<double, 3>;

/// Moves p out of one half-space after the other until p is in both. May return from within one.
Vec3 pbd_projection(Vec3 p, const Vec3 (&normals)[2]) {
  for (int sweep = 0; sweep < 10000; ++sweep) {
    bool moved = false;
    for (const Vec3& n : normals) {
      const double depth = -dot(p, n);
      if (depth <= 0) continue;
      p += depth * n;
      moved = moved || depth > 1e-14;
    }
    if (!moved) break;
  }
  return p;
}

/// The nearest point of both half-spaces: p itself, the foot on one plane, or that on the line of both.
Vec3 exact_projection(const Vec3& p, const Vec3 (&normals)[2]) {
  const auto inside = [&](const Vec3& x) {
    return dot(x, normals[0]) >= -1e-12 && dot(x, normals[1]) >= -1e-12;
  };
  if (inside(p)) return p;
  for (const Vec3& n : normals) {
    const Vec3 foot = p - dot(p, n) * n;
    if (dot(p, n) < 0 && inside(foot)) return foot;
  }
  const Vec3 line = cross(normals[0], normals[1]);
  return dot(p, line) / norm2(line) * line;
}

/// A particle of 1 kg with momentum p0 and frictionless contacts at rest.
ContactProblem particle_problem(const Vec3& p0, const Vec3 (&normals)[2]) {
  ContactProblem problem;
  problem.form = ContactProblem::Form::bodies;
  problem.body_dofs = 3;
  problem.inverse_mass = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  problem.f = {p0[0], p0[1], p0[2]};
  problem.block_start = {0};
  for (const Vec3& n : normals) {
    const Vec3 other = std::abs(n[0]) < 0.7 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
    const Vec3 t = cross(n, other) / norm(cross(n, other)), b = cross(n, t);
    JacobianBlock block;
    for (int i = 0; i < 3; ++i) {
      block.rows[static_cast<std::size_t>(i)] = n[i];
      block.rows[static_cast<std::size_t>(3 + i)] = t[i];
      block.rows[static_cast<std::size_t>(6 + i)] = b[i];
    }
    problem.jacobian.push_back(block);
    problem.block_start.push_back(static_cast<std::int32_t>(problem.jacobian.size()));
    problem.laws.emplace_back();
  }
  problem.w.assign(problem.size(), 0);
  return problem;
}

/// A tet whose node 0 is at both planes and has the velocity p0, the others far from them.
Model particle_model(const Vec3& p0, const Vec3 (&normals)[2]) {
  const Vec3 between = normals[0] + normals[1], up = between / norm(between);
  const Vec3 line = cross(normals[0], normals[1]) / norm(cross(normals[0], normals[1]));
  const Vec3 side = cross(line, up);
  Model model;
  model.material_names = {"dust"};
  model.materials = {Material{}};
  model.materials[0].young = 1;
  model.materials[0].mu = 0;
  const auto corner = [&](double a, double b) { return 0.3 * up + a * line + b * side; };
  add_solid(model, "tet", {{0, 0, 0}, corner(0.1, 0), corner(-0.1, 0.1), corner(-0.1, -0.1)}, {{0, 1, 2, 3}},
            0);
  for (Vec3& v : model.velocities) v = p0;
  for (const Vec3& n : normals) model.half_spaces.push_back({n, 0, 0, false});
  finalize(model);
  return model;
}

struct ParticleStep {
  Vec3 velocity;
  bool converged;
};

ParticleStep step_particle(Engine& engine, const Model& model, ProjectionRule rule) {
  Params params;
  params.solver = SolverKind::velocity;
  params.coupling = SolidCoupling::nodal_admm;
  params.nodal_projection = rule;
  params.dt = 1e-4;  // the forces of the tet move nothing in it
  params.gravity = 0;
  params.pcg_tolerance = 1e-12;
  params.admm_tolerance = 1e-13;
  params.admm_iterations = 1000;
  params.projection_sweeps = 1000;
  params.admm_sleep = 0;
  engine.set_params(params);
  engine.load(model);
  const StepReport report = engine.step();
  return {engine.state().velocities[0], report.converged};
}

bool both_act(const Vec3& p0, const Vec3 (&normals)[2]) {
  const double cosine = dot(normals[0], normals[1]);
  const Vec3 foot = p0 - dot(p0, normals[0]) * normals[0];
  return cosine > 0.1 && cosine < 0.95 && dot(p0, normals[0]) < -0.1 && dot(foot, normals[1]) < -0.1;
}

Vec3 random_direction(std::mt19937_64& random) {
  const auto unit = [&] { return std::ldexp(static_cast<double>(random() >> 11), -52) - 1; };
  for (;;) {
    const Vec3 d{unit(), unit(), unit()};
    if (norm2(d) > 0.01 && norm2(d) < 1) return d / norm(d);
  }
}

}  // namespace

Measurement measure_two_contacts(const Claim&, const ClaimRun& run, const MeasureContext& context) {
  Measurement out;
  const std::unique_ptr<ContactLab> lab = (*context.labs)(context.backend, context.threads);
  const std::unique_ptr<Engine> engine = context.engine();
  std::mt19937_64 random(1);
  for (int k = 0; k < run.starts; ++k) {
    context.check();
    // As in the figure: p0 violates both, also after the first is satisfied; the normals are near each other.
    Vec3 normals[2], p0;
    do {
      normals[0] = random_direction(random);
      normals[1] = random_direction(random);
      p0 = random_direction(random);
    } while (!both_act(p0, normals));
    const Vec3 exact = exact_projection(p0, normals);
    const auto add = [&](const std::string& name, const Vec3& p) {
      out.add(name + ".work", dot(p - p0, p));
      out.add(name + ".distance", norm(p - exact));
    };
    add("pbd", pbd_projection(p0, normals));
    const ContactProblem problem = particle_problem(p0, normals);
    lab->load(problem);
    LabParams params;
    params.tolerance = 1e-10;
    const std::vector<double> v = velocities(problem, lab->solve("nsgs", params).r);
    add("nsgs", {v[0], v[1], v[2]});
    const Model model = particle_model(p0, normals);
    const Vec3 turned[2] = {normals[1], normals[0]};
    for (const bool positions : {true, false}) {
      const ParticleStep step =
          step_particle(*engine, model, positions ? ProjectionRule::positions : ProjectionRule::impulses);
      const std::string name = positions ? "admm_positions" : "admm_impulses";
      add(name, step.velocity);
      out.add(name + ".converged", step.converged ? 1 : 0);
      if (positions)
        out.add(name + ".from_pbd", std::min(norm(step.velocity - pbd_projection(p0, normals)),
                                             norm(step.velocity - pbd_projection(p0, turned))));
    }
  }
  return out;
}

}  // namespace stickslip

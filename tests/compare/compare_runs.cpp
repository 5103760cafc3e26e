#include "tests/compare/compare_runs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "gpu/core/real.h"

namespace stickslip::compare {
namespace {

using Vec3d = Vec<double, 3>;

constexpr bool kDouble = sizeof(Real) == 8;
constexpr double kEpsilon = std::numeric_limits<Real>::epsilon();

// Newton tolerance of compared runs: in float, gradients of stiff bodies have no more digits.
constexpr double kNewtonTolerance = kDouble ? 1e-5 : 1e-3;

// Backends precondition PCG differently, so its error has to be well below Newton's. With the tolerance 1e-3
// of the scene roller two preconditioners end 1e-3 sizes of the scene apart after three steps.
constexpr double kPcgTolerance = kDouble ? 1e-6 : 1e-4;
constexpr double kContactTolerance = kDouble ? 1e-5 : 1e-3;

// Tolerance of rigid scenes per step: rounding of 1e-16 times the growth measured on the CPU between runs
// with starts 1e-14 sizes apart, with two digits of margin. Bodies are stepped in double for any Real, but
// their nodes are not.
constexpr double kRigid = 1e-6;

// If two runs on one engine, with starts kNudge sizes apart, exceed the tolerance, then two engines may
// differ by kSensitive times that difference.
constexpr double kNudge = 1e-14, kFloatNudge = 1e-6, kSensitive = 10;

// Energies relative to the energy exchanged in the run; contacts at the end relative to those of the other
// run.
constexpr double kEnergyApart = 0.05, kContactsApart = 0.25, kAtRest = 1e-4;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double size_of(const Model& model) {
  Vec3d low = Vec3d::filled(1e300), high = Vec3d::filled(-1e300);
  const auto cover = [&](const Vec3d& p) {
    for (int i = 0; i < 3; ++i) low[i] = std::min(low[i], p[i]), high[i] = std::max(high[i], p[i]);
  };
  for (const Vec3d& p : model.positions) cover(p);
  for (const Body& body : model.bodies) cover(body.pose.x);
  return norm(high - low);
}

/// One engine during a run.
struct Run {
  std::unique_ptr<Engine> engine;
  StepReport report;
  long iterations = 0;
  double seconds = 0, first_energy = 0, least = 0, most = 0, kinetic_most = 0;
  bool converged = true;

  Run(const Scene& scene, const Runner& runner) : engine(make_engine(runner.backend, runner.threads)) {
    engine->set_params(scene.params);
    engine->set_contact_params(scene.contact_params);
    engine->load(scene.model);
  }
  void step() {
    const auto start = std::chrono::steady_clock::now();
    report = engine->step();
    seconds += seconds_since(start);
    iterations += report.contact_solve ? report.contact_solve->iterations : report.newton_iterations;
    converged = converged && report.converged;
    const double now = energy();
    if (report.frame == 1) first_energy = least = most = now;
    least = std::min(least, now), most = std::max(most, now);
    kinetic_most = std::max(kinetic_most, report.kinetic_energy);
  }
  double energy() const { return report.kinetic_energy + report.elastic_energy + report.gravity_energy; }
  /// A scene at rest exchanges no energy: then a part of its total counts.
  double exchanged() const {
    return std::max({most - least, kinetic_most, kAtRest * std::abs(energy()), 1e-300});
  }
};

double distance(const State& a, const State& b) {
  double most = 0;
  // A NaN counts as a large distance.
  const auto look = [&](const Vec3d& x, const Vec3d& y) {
    const double d = norm(x - y);
    if (!(d <= most)) most = std::isfinite(d) ? d : std::numeric_limits<double>::infinity();
  };
  for (std::size_t i = 0; i < a.positions.size(); ++i) look(a.positions[i], b.positions[i]);
  for (std::size_t i = 0; i < a.bodies.size(); ++i) look(a.bodies[i].pose.x, b.bodies[i].pose.x);
  return most;
}

void nudge(Engine& engine, double length) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> draw(-length, length);
  State state = engine.state();
  for (Vec3d& x : state.positions)
    for (int i = 0; i < 3; ++i) x[i] += draw(random);
  for (BodyState& body : state.bodies)
    for (int i = 0; i < 3; ++i) body.pose.x[i] += draw(random);
  engine.set_state(state);
}

std::string fault_of(const Outcome& outcome, double distance_allowed, double energy_allowed) {
  if (!(outcome.distance <= distance_allowed)) return "positions are too far apart";
  if (!(outcome.energy_apart <= energy_allowed)) return "energies are too far apart";
  return {};
}

std::string fault_of(const Outcome& outcome) {
  if (outcome.tolerance == 0 && outcome.first_iterations != outcome.second_iterations)
    return "iterations differ";
  const std::string fault = fault_of(outcome, outcome.tolerance, kEnergyApart);
  const int more = std::max(outcome.first_contacts, outcome.second_contacts),
            fewer = std::min(outcome.first_contacts, outcome.second_contacts);
  if (fault.empty() && more - fewer > std::max(8.0, kContactsApart * more))
    return "numbers of contacts differ too much";
  return fault;
}

Outcome side_by_side(const Scene& scene, const Runner& first, const Runner& second, const Lengths& lengths) {
  Run a(scene, first), b(scene, second);
  Outcome outcome;
  outcome.size = size_of(scene.model);
  outcome.tolerance = tolerance_of(scene, first, second, lengths);
  if (lengths.nudge > 0) nudge(*b.engine, lengths.nudge * outcome.size);
  for (int i = 0; i < lengths.steps + lengths.then; ++i) {
    a.step();
    b.step();
    if (i < lengths.steps)
      outcome.distance =
          std::max(outcome.distance, distance(a.engine->state(), b.engine->state()) / outcome.size);
  }
  outcome.first_contacts = a.report.contacts, outcome.second_contacts = b.report.contacts;
  outcome.first_iterations = a.iterations, outcome.second_iterations = b.iterations;
  outcome.energy_apart = std::abs(a.energy() - b.energy()) / std::max(a.exchanged(), b.exchanged());
  outcome.first_seconds = a.seconds, outcome.second_seconds = b.seconds;
  return outcome;
}

}  // namespace

Runner parse_runner(const std::string& text) {
  const std::size_t colon = text.find(':');
  Runner runner;
  runner.text = text;
  try {
    runner.backend = choose_backend(text.substr(0, colon));
    if (colon != std::string::npos) runner.threads = std::stoi(text.substr(colon + 1));
  } catch (const std::exception&) {
    throw InputError("'" + text + "': must be cpu, cpu:THREADS or cuda");
  }
  return runner;
}

void settle_for_comparison(Scene& scene) {
  scene.params.budget_ms = 0;
  scene.contact_params.time_budget = 0;
  // As on a device, up to the runs of blocks by which the CPU sweeps large problems. Friction that is much
  // stronger along one direction than across can have several solutions: sweeps in another order find another
  // one, as in the scene wood-rings.
  scene.contact_params.ordering = SweepOrder::coloured;
  scene.params.newton_stop = NewtonStop::displacement;
  scene.params.newton_tolerance = std::min(scene.params.newton_tolerance, kNewtonTolerance);
  scene.params.pcg_tolerance = std::min(scene.params.pcg_tolerance, kPcgTolerance);
  // Between rigid and elastic bodies, contacts act through a solve by PCG that differs as well.
  if (!scene.model.bodies.empty() && !scene.model.tets.empty())
    scene.contact_params.tolerance = std::min(scene.contact_params.tolerance, kContactTolerance);
}

void make_brief(Scene& scene) {
  Params& p = scene.params;
  p.newton_iterations = std::min(p.newton_iterations, 2);
  p.pcg_iterations = std::min(p.pcg_iterations, 20);
  p.warm_start_iterations = std::min(p.warm_start_iterations, 5);
}

double tolerance_of(const Scene& scene, const Runner& first, const Runner& second, const Lengths& lengths) {
  if (first.backend == Backend::cpu && second.backend == Backend::cpu && lengths.nudge == 0) return 0;
  const double n = lengths.steps;
  const double rounding = 64 * kEpsilon * n;
  if (!scene.model.bodies.empty()) return rounding + kRigid * n;
  return rounding + scene.params.newton_tolerance * scene.params.dt * n * (n + 1);
}

Outcome compare(const Scene& scene, const Runner& first, const Runner& second, const Lengths& lengths) {
  Outcome outcome = side_by_side(scene, first, second, lengths);
  outcome.fault = fault_of(outcome);
  if (outcome.fault.empty() || outcome.tolerance == 0 || lengths.nudge > 0) return outcome;
  Lengths nudged = lengths;
  // Rigid bodies move in double for any Real.
  nudged.nudge = kDouble || scene.model.tets.empty() ? kNudge : kFloatNudge;
  const Outcome own = side_by_side(scene, first, first, nudged);
  outcome.by_rounding = own.distance;
  if (fault_of(own).empty()) return outcome;
  outcome.fault = fault_of(outcome, std::max(outcome.tolerance, kSensitive * own.distance),
                           std::max(kEnergyApart, kSensitive * own.energy_apart));
  return outcome;
}

std::uint64_t hash_run(const Scene& scene, const Runner& runner, int steps) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](const auto& values) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
    for (std::size_t i = 0; i < values.size() * sizeof(values[0]); ++i)
      hash = (hash ^ bytes[i]) * 0x100000001b3;
  };
  Run run(scene, runner);
  for (int i = 0; i < steps; ++i) {
    run.step();
    const State state = run.engine->state();
    add(state.positions);
    add(state.velocities);
    add(state.bodies);
  }
  return hash;
}

}  // namespace stickslip::compare

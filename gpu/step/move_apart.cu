#include "gpu/step/move_apart.cuh"

#include <algorithm>
#include <cstdio>

#include "gpu/step/barrier_stepper.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// The time of the step in units of dt. Elastic forces move nodes from where they should go by a (share dt)^2,
// with the acceleration a that they give: 1% of what they do in a step.
constexpr double kShare = 0.1;
// Steps, each from where the last one ended: rigid bodies turn along tangents, the farther from their poses
// the more they turn.
constexpr int kRounds = 1, kRoundsOfBodies = 4;
// Newton iterations of a step, and of all starts together: a person may be waiting.
constexpr int kIterations = 300, kAllIterations = 600;
// Starts that are tried.
constexpr int kStarts = 3;
// A node that would end farther than this share of the scene's diagonal from where it was is no repair.
constexpr double kFarthest = 0.05;

/// Without forces and friction.
Model smooth(Model model) {
  for (Material& material : model.materials) {
    material.mu = material.mu_across = material.mu_crossed = material.mu_static = 0;
    material.damping = 0;
  }
  for (HalfSpace& plane : model.half_spaces) plane.mu = 0;
  model.pair_friction.clear();
  model.forces.clear();
  return model;
}

Params unforced(Params params) {
  params.solver = SolverKind::ipc;
  params.barrier = BarrierKind::logarithmic;
  params.time_integrator = TimeIntegrator::backward_euler;
  params.dt *= kShare;
  params.gravity = 0;
  params.air_density = 0;
  params.contact_limit = 0;
  params.newton_iterations = kIterations;
  params.budget_ms = 0;
  params.check_intersections = false;
  return params;
}

State state_of(Context& ctx, const RecentStates& recent, const RecentStates::Entry& entry, const State& now) {
  State state = now;
  state.thickness.clear();
  const std::vector<Vec3> x = recent.positions(ctx, entry);
  for (std::size_t i = 0; i < x.size(); ++i) state.positions[i] = x[i].template cast<double>();
  for (std::size_t b = 0; b < entry.poses.size(); ++b) state.bodies[b].pose = entry.poses[b];
  return state;
}

/// `from` with the velocities that lead to the positions of `to` within dt, just before it.
State aimed(State from, const State& to, double dt) {
  from.frame = to.frame - 1;
  from.time = to.time - dt;
  for (std::size_t i = 0; i < from.positions.size(); ++i)
    from.velocities[i] = (to.positions[i] - from.positions[i]) / dt;
  for (std::size_t b = 0; b < from.bodies.size(); ++b) {
    const Pose &p = from.bodies[b].pose, &q = to.bodies[b].pose;
    from.bodies[b].velocity = (q.x - p.x) / dt;
    from.bodies[b].spin = rotation_vector(q.q * p.q.conjugate()) / dt;
  }
  return from;
}

double distance_between(const State& a, const State& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.positions.size(); ++i)
    most = std::max(most, norm(a.positions[i] - b.positions[i]));
  return most;
}

/// [m] of the box around all positions.
double diagonal(const State& state) {
  Vec<double, 3> low = state.positions.front(), high = low;
  for (const auto& x : state.positions)
    for (int c = 0; c < 3; ++c) low[c] = std::min(low[c], x[c]), high[c] = std::max(high[c], x[c]);
  return norm(high - low);
}

bool is_apart(Stepper& stepper, const Params& params) {
  try {
    stepper.check_start(params);
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}

std::string note_of(double distance, int steps) {
  char text[160];
  std::snprintf(text, sizeof text,
                "surfaces that went through each other were moved apart, nodes by up to %.3g mm, on the way "
                "from %d %s before",
                1e3 * distance, steps, steps == 1 ? "step" : "steps");
  return text;
}

}  // namespace

std::optional<std::string> move_apart(Context& ctx, const Model& model, const RecentStates& recent,
                                      const State& now, const Params& params, Stepper& next,
                                      const std::atomic<bool>* cancel) {
  if (recent.entries().empty()) return std::nullopt;
  const Model without_forces = smooth(model);
  const Params settings = unforced(params);
  BarrierStepper mover(ctx, without_forces);
  mover.set_cancel(cancel);
  const double limit = kFarthest * diagonal(now);
  int starts = 0, iterations = 0;
  for (auto entry = recent.entries().rbegin();
       entry != recent.entries().rend() && starts < kStarts && iterations < kAllIterations; ++entry) {
    if (entry->frame >= now.frame) continue;
    try {
      mover.set_state(aimed(state_of(ctx, recent, *entry, now), now, settings.dt), settings);
      if (!is_apart(mover, settings)) continue;
      ++starts;
      const LabParams lab = stepping_lab_params();
      const int rounds = model.bodies.empty() ? kRounds : kRoundsOfBodies;
      iterations += mover.step({settings, lab, {}}).newton_iterations;
      for (int round = 1; round < rounds; ++round) {
        mover.set_state(aimed(mover.state(), now, settings.dt), settings);
        iterations += mover.step({settings, lab, {}}).newton_iterations;
      }
      State apart = mover.state();
      const double distance = distance_between(apart, now);
      if (!(distance < limit)) continue;
      apart.frame = now.frame;
      apart.time = now.time;
      apart.velocities = now.velocities;
      for (std::size_t b = 0; b < now.bodies.size(); ++b) {
        apart.bodies[b].velocity = now.bodies[b].velocity;
        apart.bodies[b].spin = now.bodies[b].spin;
      }
      next.set_state(apart, params);
      const std::string note = next.check_start(params);
      return note_of(distance, now.frame - entry->frame) + (note.empty() ? "" : "; ") + note;
    } catch (const std::invalid_argument&) {  // of check_start: another start may lead farther
    } catch (const SimulationError&) {        // an element is inverted there, for example
    }
  }
  return std::nullopt;
}

}  // namespace stickslip::STICKSLIP_BACKEND

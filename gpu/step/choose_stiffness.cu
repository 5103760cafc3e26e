// The stiffness of the barrier in a step.
#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/step/fall_acceleration.h"
#include "gpu/step/time_stepper.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// Bounds on the adaptive barrier stiffness, as multiples of a node's own resistance: its mass over dt^2, and
// a share of its elastic stiffness (without which the gaps of stiff bodies shrink to rounding before the
// barrier acts). It falls at most by half from one step to the next.
constexpr double kElasticShare = 0.1;
constexpr double kMostStiffness = 100;
constexpr double kStiffnessMemory = 0.5;
// Of the scene's diagonal, for sigma_rule = ipc2020 [Li20 suppl.].
constexpr double kTightGap2020 = 1e-9;
// `ccd_al`: the penalty beside multipliers, as a multiple of the resistance of a node.
constexpr double kPenalty = 100;
// The first part grows with 1 / dt^2. Where bodies are within d_hat of each other at the start of a step, it
// must not throw them: it is at most kOverBalance times the sigma that balances all forces, or that at which
// the barrier has the energy of the approach and of a lift by kHop d_hat. The second part may also lift by
// kFirmLift d_hat, and move at the speed that gravity adds in a step. In later steps neither makes sigma rise
// above what balances, because that adds energy.
constexpr double kOverBalance = 2, kHop = 0.25, kFirmLift = 4;

}  // namespace

void TimeStepper::choose_stiffness(Context& ctx, const DeviceModel& device, const Params& params) {
  if (params.solver == SolverKind::ccd_al) {
    const double beta = is_newmark(params) ? params.newmark_beta : 1;
    const double node =
        device.mean_mass / (beta * params.dt * params.dt) + kElasticShare * device.mean_stiffness;
    const double penalty = params.barrier_stiffness > 0 ? params.barrier_stiffness : kPenalty * node;
    potential_.contacts().set_stiffness(static_cast<Real>(penalty));
    return;
  }
  if (params.barrier == BarrierKind::cubic) return potential_.contacts().set_stiffness(Real(0));
  const double beta = is_newmark(params) ? params.newmark_beta : 1;
  const double inertial = device.mean_mass / (beta * params.dt * params.dt);
  if (params.barrier_stiffness > 0) {
    history_.stiffness = static_cast<Real>(params.barrier_stiffness);
  } else if (params.sigma_rule == SigmaRule::ipc2020) {
    const double diagonal = static_cast<double>(device.diagonal);
    const double least = least_stiffness(inertial, diagonal, params.d_hat), most = kMostStiffness * least;
    const double balance = potential_.starting_barrier(ctx, x_.data()).balancing_stiffness;
    history_.stiffness = static_cast<Real>(std::isfinite(balance) ? std::clamp(balance, least, most) : least);
    potential_.contacts().set_ipc2020({static_cast<Real>(most), static_cast<Real>(kTightGap2020 * diagonal)});
  } else {
    const double elastic = kElasticShare * device.mean_stiffness;
    const auto start = potential_.starting_barrier(ctx, x_.data());
    const double balance = start.balancing_stiffness, last = static_cast<double>(history_.stiffness);
    const double speed = start.approach / params.dt;
    const double g = fall_acceleration(params), fallen = g * params.dt;
    const double moves = 0.5 * speed * speed;  // [J/kg]
    // All infinite without contact.
    const double gentle = std::max(kOverBalance * balance, (kHop * g * params.d_hat + moves) / start.energy);
    const double firm =
        std::max(gentle, (kFirmLift * g * params.d_hat + moves + 0.5 * fallen * fallen) / start.energy);
    const double steady =
        last > 0 && start.energy > 0 ? std::max(balance, last) : std::numeric_limits<double>::infinity();
    const double floor = std::min(std::max(std::min(params.barrier_floor * elastic, firm),
                                           std::min(params.barrier_floor * (inertial + elastic), gentle)),
                                  steady);
    const double wanted = std::max(balance, std::min(kStiffnessMemory * last, gentle));
    history_.stiffness = static_cast<Real>(std::clamp(wanted, floor, kMostStiffness * (inertial + elastic)));
  }
  potential_.contacts().set_stiffness(history_.stiffness);
}

}  // namespace stickslip::STICKSLIP_BACKEND

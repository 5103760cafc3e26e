#include "gpu/rigid/manifold/manifold_lab.cuh"

#include <algorithm>

#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Impulses in the order of the manifolds into the order of the blocks; where a block's frame is left-handed,
/// its second tangent is reversed.
void scatter_impulses(Context& ctx, std::size_t n, const std::int32_t* block, const double* handedness,
                      const Vec<double, 3>* sorted, Vec<double, 3>* r) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t k) {
    r[block[k]] = {sorted[k][0], sorted[k][1], handedness[k] * sorted[k][2]};
  });
}

}  // namespace

/// Into system.r, block by block.
void ManifoldLab::take_impulses(System<3>& system) {
  solver_.impulses(system.ctx, sorted_.data());
  scatter_impulses(system.ctx, block_.size(), block_.data(), handedness_.data(), sorted_.data(), system.r);
}

void ManifoldLab::solve(System<3>& system, const ContactProblem& problem) {
  Monitor<3>& monitor = system.monitor;
  ManifoldProblem manifolds;
  if (const std::string why = read_manifolds(problem, manifolds); !why.empty())
    return monitor.stop(SolveEnd::refused, "manifold_gs refuses: " + why);
  if (!system.params.warm_start) {
    for (ProblemPoint& point : manifolds.points) point.start = {0, 0, 0};
    for (Vec<double, 3>& start : manifolds.block_start) start = {0, 0, 0};
  }
  block_.upload(system.ctx, manifolds.block);
  handedness_.upload(system.ctx, manifolds.handedness);
  sorted_.resize(system.ctx, manifolds.block.size());
  solver_.build(system.ctx, manifolds);

  LabParams params = system.params;
  const bool history = monitor.limits().history;
  if (history && params.check_interval == 0) params.check_interval = 1;
  long counted = 0;
  const auto count = [&](long iterations) {
    monitor.count(iterations - counted);
    counted = iterations;
  };
  ContactSolveRecord record;
  solver_.solve(system.ctx, params, record, [&](const ManifoldProgress& progress) {
    count(std::max(0, progress.iterations - 1));
    if (history) {
      take_impulses(system);
      monitor.check(system.r);
    }
    return !monitor.out_of_budget();
  });
  const bool is_checked = history && counted == record.iterations;
  count(record.iterations);
  if (!is_checked) {
    take_impulses(system);
    monitor.check(system.r);
  }
  if (monitor.converged() || monitor.out_of_budget()) return;
  if (!record.message.empty())
    return monitor.stop(SolveEnd::refused, "manifold_gs refuses: " + record.message);
  monitor.stop(SolveEnd::stalled, "the residual cannot be lowered any more");
}

}  // namespace stickslip::STICKSLIP_BACKEND

#include "gpu/rigid/manifold/manifold_lab.cuh"

#include <algorithm>

#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Into system.r, block by block.
void ManifoldLab::impulses(System<3>& system) {
  solver_.impulses(system.ctx, sorted_.data());
  const std::int32_t* block = block_.data();
  const double* handedness = handedness_.data();
  const Vec<double, 3>* from = sorted_.data();
  Vec<double, 3>* to = system.r;
  launch(system.ctx, block_.size(), [=] SS_LAMBDA(std::size_t k) {
    to[block[k]] = {from[k][0], from[k][1], handedness[k] * from[k][2]};
  });
}

void ManifoldLab::solve(System<3>& system, const ContactProblem& problem) {
  Monitor<3>& monitor = system.monitor;
  ManifoldProblem manifolds;
  if (const std::string why = read_manifolds(problem, manifolds); !why.empty())
    return monitor.stop(SolveEnd::refused, "manifold_gs refuses: " + why);
  if (!system.params.warm_start)
    for (ProblemPoint& point : manifolds.points) point.start = {0, 0, 0};
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
      impulses(system);
      monitor.check(system.r);
    }
    return !monitor.out_of_budget();
  });
  const bool is_checked = history && counted == record.iterations;
  count(record.iterations);
  if (!is_checked) {
    impulses(system);
    monitor.check(system.r);
  }
  if (monitor.converged() || monitor.out_of_budget()) return;
  if (!record.message.empty())
    return monitor.stop(SolveEnd::refused, "manifold_gs refuses: " + record.message);
  monitor.stop(SolveEnd::stalled, "the residual cannot be lowered any more");
}

}  // namespace stickslip::STICKSLIP_BACKEND

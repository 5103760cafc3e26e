// Friction of barrier steps is smoothed below eps_v: what rests under a tangential load creeps.
#include <algorithm>
#include <cmath>

#include "tests/fixtures/thin_model.h"

namespace stickslip {
namespace {

using namespace fixtures;

class Creep : public ThinTest {};

// Friction is mu lambda (2 y - y^2) at the speed y eps_v, so a load q mu lambda is balanced at
// y = 1 - sqrt(1 - q).
TEST_P(Creep, WhatIsPushedWithLessThanItsSlidingLoadCreepsAtAPartOfEpsV) {
  constexpr double kMu = 0.4;
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al})
    for (const bool rod : {false, true})
      for (const double q : {0.1, 0.5, 0.9}) {
        SCOPED_TRACE((rod ? "rod, " : "block, ") + std::to_string(q) + ", solver " +
                     std::to_string(static_cast<int>(solver)));
        choose(solver);
        params.eps_v = 0.02;
        Model model = thin_model(true);
        model.materials[0].mu = kMu;
        if (rod) add_rod(model, {0, kThickness / 2 + 8e-4, 0}, {1, 0, 0}, 0.2, 5, {0, 0, 0});
        else add_box(model, "block", {0.1, 0.05, 0.1}, {0, 0.0258, 0}, 2);
        model.half_spaces.push_back({{0, 1, 0}, 0, kMu});
        NodeForce push;
        for (std::int32_t n = 0; n < model.objects[0].node_end; ++n) push.nodes.push_back(n);
        push.acceleration = {0, 0, -q * kMu * params.gravity};
        model.forces.push_back(push);
        load(model);
        for (int i = 0; i < 60; ++i) step();
        const State state = engine->state();
        // The frames of the rod turn.
        const std::int32_t first = std::max(model.objects[0].node_begin, model.objects[0].collides_from);
        double speed = 0;
        for (std::int32_t n = first; n < model.objects[0].node_end; ++n)
          speed += state.velocities[static_cast<std::size_t>(n)][2] / (model.objects[0].node_end - first);
        const double expected = params.eps_v * (1 - std::sqrt(1 - q));
        EXPECT_NEAR(speed, expected, (rod || sizeof(Real) == 4 ? 0.02 : 1e-4) * expected);
      }
}

INSTANTIATE_ON_BACKENDS(Creep);

}  // namespace
}  // namespace stickslip

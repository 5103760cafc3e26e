// The stages of a velocity-level step.
#include <gtest/gtest.h>

#include "app/io/scene/scene.h"
#include "gpu/engine.h"

namespace stickslip {
namespace {

TEST(StageTimes, SearchForPairsCountsAsBroadPhase) {
  for (const char* name : {"box-stack", "drop"}) {  // rigid bodies, elastic ones
    SCOPED_TRACE(name);
    const Scene scene = load_scene(name);
    Params params = scene.params;
    params.solver = SolverKind::velocity;
    const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 1);
    engine->set_params(params);
    engine->set_contact_params(scene.contact_params);
    engine->load(scene.model);
    const StageTimes seconds = engine->step().seconds;
    EXPECT_GT(seconds.broad_phase, 0);
    EXPECT_GT(seconds.contacts, 0);
  }
}

}  // namespace
}  // namespace stickslip

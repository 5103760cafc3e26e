// Loss of the device during a run, in a separate process, because the loss ends the process.
#include "gpu/core/launch.h"

#if STICKSLIP_ON_CUDA

#include <cstdlib>
#include <iostream>
#include <string>

#include "gpu/core/device_lost.h"
#include "gpu/engine_backend.h"
#include "tests/backend_test.h"
#include "tests/fixtures/box_model.h"

namespace stickslip::cuda {

inline void lose_the_device() {
  Context ctx;
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { __trap(); });
  ctx.synchronize();
}

/// Whether `act` throws DeviceLost.
template <class Act>
bool is_lost(Act act) {
  try {
    act();
  } catch (const DeviceLost& error) {
    std::cerr << error.what() << "\n";
    return true;
  }
  return false;
}

/// Exits with the number of failed checks; 0 if all passed.
[[noreturn]] inline void step_without_a_device(bool traced) {
  int wrong = 0;
  {
    Model model;
    fixtures::add_box(model, "box", {1, 1, 1}, {0, 0.6, 0}, 2);
    model.half_spaces.push_back({});
    finalize(model);
    const std::unique_ptr<Engine> engine = make_backend_engine(0);
    engine->set_tracing(traced);
    engine->load(model);
    engine->step();
    wrong += !is_lost([] { lose_the_device(); });
    for (int i = 0; i < 2; ++i) wrong += !is_lost([&] { engine->step(); });
    wrong += !is_lost([&] { engine->state(); });
    Snapshot snapshot;
    wrong += !is_lost([&] { engine->snapshot(snapshot); });
  }  // the engine's resources are released without an exception
  std::exit(wrong);
}

}  // namespace stickslip::cuda

TEST(cuda_LostDevice, IsNamedByEveryCallAndTheProcessEnds) {
  if (!stickslip::cuda::tested_device().available) GTEST_SKIP() << stickslip::cuda::tested_device().reason;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(stickslip::cuda::step_without_a_device(false), testing::ExitedWithCode(0),
              "the device is lost");
  EXPECT_EXIT(stickslip::cuda::step_without_a_device(true), testing::ExitedWithCode(0), "the device is lost");
}

#endif

// Launches that repeat: recorded or not, they do the same.
#include "gpu/core/launch_graph.h"

#include "tests/backend_test.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

struct Step {
  double factor, summand;
};

/// x = factor x, then x = x + summand.
void advance(Context& ctx, LaunchGraph& graph, double* x, const Step& step) {
  graph.run(ctx, step, [&] {
    const Step s = step;
    launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *x *= s.factor; });
    launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *x += s.summand; });
  });
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(LaunchGraph, RunsInTheOrderOfTheStreamWithTheArgumentsOfItsKey) {
  LaunchGraph graph;
  Buffer<double> x(ctx, 1);
  fill(ctx, x.data(), 1, 1.0);
  double expected = 1;
  const Step steps[] = {{2, -1}, {0.5, 3}, {2, -1}};
  for (const Step& step : steps)
    for (int k = 0; k < 8; ++k) {
      advance(ctx, graph, x.data(), step);
      expected = step.factor * expected + step.summand;
      // Others on the stream come between two runs.
      double* const value = x.data();
      launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *value += 1; });
      expected += 1;
    }
  EXPECT_EQ(read_back(ctx, x.data()), expected);
}

BACKEND_TEST(LaunchGraph, StartsKernelsFromTheHostOnlyWhileAKeyIsNew) {
  LaunchGraph graph;
  Buffer<double> x(ctx, 1);
  fill(ctx, x.data(), 1, 1.0);
  const auto launches_of = [&](int runs) {
    const std::size_t before = ctx.counters().launches;
    for (int k = 0; k < runs; ++k) advance(ctx, graph, x.data(), {1, 1});
    return ctx.counters().launches - before;
  };
  launches_of(4);
  EXPECT_EQ(launches_of(10), STICKSLIP_ON_CUDA ? 0u : 20u);
  EXPECT_EQ(read_back(ctx, x.data()), 15);
}

BACKEND_TEST(LaunchGraph, AnErrorInTheBodyLeavesTheContextUsable) {
  LaunchGraph graph;
  Buffer<double> x(ctx, 1);
  fill(ctx, x.data(), 1, 0.0);
  int calls = 0;
  const auto run = [&] {
    graph.run(ctx, Step{1, 1}, [&] {
      if (++calls == 4) throw std::runtime_error("the fourth call");
      double* const value = x.data();
      launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *value += 1; });
    });
  };
  for (int k = 0; k < 3; ++k) run();
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_FALSE(ctx.is_capturing());
  for (int k = 0; k < 3; ++k) run();
  EXPECT_EQ(read_back(ctx, x.data()), 6);
}

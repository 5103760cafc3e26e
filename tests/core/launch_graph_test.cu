// Launches that repeat: recorded or not, they do the same.
#include "gpu/core/launch.h"
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

BACKEND_TEST(LaunchGraph, TellsBodiesApartWhoseKeysHaveTheSameBytes) {
  LaunchGraph graph;
  Buffer<double> x(ctx, 1);
  fill(ctx, x.data(), 1, 0.0);
  double* const value = x.data();
  for (int k = 0; k < 8; ++k) {
    graph.run(ctx, 1, [&] { launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *value += 1; }); });
    graph.run(ctx, 1, [&] { launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *value += 100; }); });
  }
  EXPECT_EQ(read_back(ctx, value), 808);
}

// More keys than recordings: the oldest gives way.
BACKEND_TEST(LaunchGraph, ManyKeysInTurn) {
  LaunchGraph graph;
  Buffer<double> x(ctx, 1);
  fill(ctx, x.data(), 1, 0.0);
  for (int round = 0; round < 6; ++round)
    for (int key = 0; key < 6; ++key)
      for (int k = 0; k < 5; ++k) advance(ctx, graph, x.data(), {1, static_cast<double>(key)});
  EXPECT_EQ(read_back(ctx, x.data()), 6 * 5 * (0 + 1 + 2 + 3 + 4 + 5));
}

BACKEND_TEST(LaunchGraph, WithinARepeatedLoopItIsPartOfIt) {
  LaunchGraph graph;
  LoopGraph loop;
  Buffer<double> x(ctx, 1);
  Buffer<std::int32_t> stop(ctx, 1);
  fill(ctx, x.data(), 1, 0.0);
  fill(ctx, stop.data(), 1, std::int32_t{0});
  double* const value = x.data();
  std::int32_t* const done = stop.data();
  repeat_until(ctx, loop, done, [&] {
    advance(ctx, graph, value, {1, 1});
    launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
      if (*value >= 20) *done = 1;
    });
  });
  EXPECT_EQ(read_back(ctx, value), 20);
}

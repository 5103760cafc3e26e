#include "bench/barrier_study.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/fixtures/box_model.h"

namespace stickslip {
namespace {

TEST(BarrierStudy, HasEveryMethodOnceAndTheReferenceFirst) {
  const std::vector<BarrierMethod> methods = barrier_methods();
  ASSERT_EQ(methods.size(), 12u);
  EXPECT_EQ(methods.front().name(), "ipc, block_jacobi");
  std::set<std::string> names;
  for (const BarrierMethod& method : methods) {
    names.insert(method.name());
    Params params;
    method.apply(params);
    EXPECT_EQ(params.solver, method.solver);
    EXPECT_EQ(params.preconditioner, method.preconditioner);
    EXPECT_EQ(params.warm_start, method.warm_start);
  }
  EXPECT_EQ(names.size(), methods.size());
  EXPECT_EQ(names.count("barrier_al, multilevel, warm"), 1u);
}

TEST(BarrierStudy, MeasuresTheSameStepsWhateverWasSteppedBefore) {
  Model model;
  fixtures::add_box(model, "lower", {0.1, 0.1, 0.1}, {0, 0.0505, 0}, 2);
  fixtures::add_box(model, "upper", {0.1, 0.1, 0.1}, {0.013, 0.1516, 0.017}, 2);
  model.half_spaces.push_back({});
  finalize(model);
  const auto measure = [&](int steps_before) {
    const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 1);
    engine->load(model);
    const State start = engine->state();
    for (int i = 0; i < steps_before; ++i) engine->step();
    return measure_method(*engine, start, Params{}, barrier_methods().front(), 3);
  };
  const BarrierMeasure first = measure(0), second = measure(2);
  EXPECT_EQ(first.error, "");
  EXPECT_EQ(first.frames, 3);
  EXPECT_EQ(first.converged, 3);
  EXPECT_GT(first.contacts, 0);
  EXPECT_GT(first.gap_min, 0);
  EXPECT_EQ(first.intersections, 0);
  EXPECT_GT(first.seconds, 0);
  EXPECT_GT(first.memory_bytes, 1000 * sizeof(double));
  EXPECT_EQ(first.newton_iterations, second.newton_iterations);
  EXPECT_EQ(first.pcg_iterations, second.pcg_iterations);
}

TEST(LongBarrierStudy, MemoryOfTheLargestSceneOfThePaperStaysBelowEightGigabytes) {
  std::vector<BarrierMethod> methods;
  for (const PreconditionerKind preconditioner :
       {PreconditionerKind::block_jacobi, PreconditionerKind::additive, PreconditionerKind::multilevel})
    methods.push_back({SolverKind::barrier_al, preconditioner, true});
  const std::vector<MemoryModel> all = measure_memory([] { return make_engine(Backend::cpu); }, methods);
  ASSERT_EQ(all.size(), methods.size());
  for (const MemoryModel& memory : all) {
    SCOPED_TRACE(memory.method.name());
    EXPECT_GT(memory.bytes_per_tet, 100);
    EXPECT_GT(memory.bytes_per_contact, 100);
    EXPECT_GT(memory.contacts, 1000u);
    EXPECT_LT(memory.projected(9e6, 300e3), 8e9);
  }
}

}  // namespace
}  // namespace stickslip

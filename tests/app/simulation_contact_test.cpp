// The simulation's thread with scenes of rigid bodies: parameters of contact solvers, frozen problems.
#include "app/viewer/actions.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

using test::at_rest_after;
using test::fake;
using test::Gate;
using test::other_value;
using test::reached;

TEST(SimulationContact, ElasticAndRigidScenesFollowEachOther) {
  int engines = 0;
  Simulation simulation(fake([&](test::FakeEngine& engine) {
                          ++engines;
                          engine.on_load = [&engine](const Model& model) {
                            const bool velocity = engine.params().solver == SolverKind::velocity;
                            if (velocity == model.bodies.empty())
                              throw std::invalid_argument("a wrong solver");
                          };
                        }),
                        [](const std::string& name, const std::string&) {
                          return name == "r" ? test::rigid_scene(name) : test::two_tets(name);
                        });
  for (const char* name : {"r", "r", "a", "r", "a", "a"}) {
    simulation.post(LoadScene{name});
    simulation.step_once();
    ASSERT_TRUE(reached(simulation, [&] {
      return simulation.status().loaded && simulation.frame().scene->name == name &&
             simulation.history().size() == 1;
    })) << simulation.status().error;
    EXPECT_EQ(simulation.history().back().contact_solve.has_value(), *name == 'r');
    EXPECT_EQ(simulation.status().error, "");
  }
  EXPECT_EQ(engines, 4) << "one for each change of kind, and the first";
}

TEST(SimulationContact, EveryContactParameterActsBetweenSteps) {
  std::mutex mutex;
  LabParams seen;
  Simulation simulation(fake([&](test::FakeEngine& engine) {
                          engine.on_solve = [&](const LabParams& params) {
                            const std::lock_guard lock(mutex);
                            seen = params;
                            return ContactSolveRecord{};
                          };
                        }),
                        test::rigid_scene);
  simulation.post(LoadScene{"r"});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().loaded; }));
  int steps = 0;
  for (const ParamInfo& info : lab_param_table()) {
    const double wanted = other_value(info, get_param(&simulation.settings().contact_params, info));
    simulation.post(ContactParamEdit{info.name, wanted});
    simulation.step_once();
    ASSERT_TRUE(at_rest_after(simulation, ++steps));
    const std::lock_guard lock(mutex);
    EXPECT_EQ(get_param(&seen, info), wanted) << info.name;
    EXPECT_EQ(get_param(&simulation.settings().contact_params, info), wanted) << info.name;
  }
}

TEST(SimulationContact, ContactParametersAreEditedBetweenStepsAndComeWithTheScene) {
  Gate gate;
  std::atomic<double> tolerance = 0;
  Simulation simulation(fake([&](test::FakeEngine& engine) {
                          engine.on_step = [&](int frame) {
                            if (frame == 0) gate.pass();
                          };
                          engine.on_solve = [&](const LabParams& params) {
                            tolerance = params.tolerance;
                            return ContactSolveRecord{};
                          };
                        }),
                        [](const std::string& name, const std::string&) {
                          Scene scene = test::rigid_scene(name);
                          scene.contact_params.tolerance = 1e-4;
                          return scene;
                        });
  simulation.post(LoadScene{"r"});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().loaded; }));
  EXPECT_EQ(simulation.settings().contact_params.tolerance, 1e-4);
  simulation.step_once();
  gate.wait_for_arrival();
  for (const double value : {1e-5, 1e-6, 1e-7}) {  // a moving slider
    simulation.post(ContactParamEdit{"tolerance", value});
    EXPECT_EQ(simulation.settings().contact_params.tolerance, value) << "it shows at once";
  }
  simulation.post(ContactParamEdit{"max_iterations", 7});
  simulation.post(ParamEdit{"contact_solver", static_cast<double>(ContactSolverKind::apgd)});
  gate.open();
  ASSERT_TRUE(at_rest_after(simulation, 1));
  EXPECT_EQ(tolerance, 1e-4) << "the step under way keeps what it began with";
  simulation.step_once();
  ASSERT_TRUE(at_rest_after(simulation, 2));
  EXPECT_EQ(tolerance, 1e-7);
  EXPECT_EQ(simulation.settings().contact_params.max_iterations, 7);
  EXPECT_EQ(simulation.settings().params.contact_solver, ContactSolverKind::apgd);
  const std::vector<JournalEntry> journal = simulation.journal(1);
  ASSERT_EQ(journal.size(), 3u) << "what a slider passed on its way is not kept";
  EXPECT_EQ(std::get<ContactParamEdit>(journal[0].command).value, 1e-7);
  EXPECT_EQ(journal[0].frame, 1);
  EXPECT_EQ(std::get<ContactParamEdit>(journal[1].command).name, "max_iterations");
  EXPECT_EQ(std::get<ParamEdit>(journal[2].command).name, "contact_solver");
}

TEST(SimulationContact, ABadContactParameterIsRefused) {
  Simulation simulation(fake(), test::rigid_scene);
  simulation.post(LoadScene{"r"});
  simulation.post(ContactParamEdit{"tolerance", 2});
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().error.empty(); }));
  EXPECT_EQ(simulation.settings().contact_params.tolerance, stepping_lab_params().tolerance);
  EXPECT_EQ(simulation.journal().size(), 1u);
}

TEST(SimulationContact, FreezesTheLastStepOnceWithoutStoppingTheRun) {
  Simulation simulation(
      fake([](test::FakeEngine& engine) { engine.on_freeze = [] { return test::one_contact(); }; }),
      test::rigid_scene);
  simulation.set_pacing({.real_time = false});
  simulation.post(LoadScene{"r"});
  simulation.post(ParamEdit{"contact_solver", static_cast<double>(ContactSolverKind::pgs)});
  simulation.play();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.history().size() > 3; }));
  EXPECT_EQ(simulation.take_frozen(), nullptr);
  simulation.post(Freeze{});
  std::shared_ptr<const FrozenStep> frozen;
  ASSERT_TRUE(reached(simulation, [&] { return (frozen = simulation.take_frozen()) != nullptr; }));
  EXPECT_TRUE(simulation.status().playing);
  EXPECT_EQ(frozen->scene, "r");
  EXPECT_GE(frozen->frame, 3);
  EXPECT_EQ(frozen->solver, "pgs");
  EXPECT_EQ(frozen->problem.blocks(), 1u);
  EXPECT_EQ(frozen->params.max_iterations, stepping_lab_params().max_iterations);
  EXPECT_EQ(simulation.take_frozen(), nullptr) << "taken once";
  EXPECT_TRUE(std::holds_alternative<Freeze>(simulation.journal().back().command));
}

/// The window offers what the command does: the problem of any step at velocity level, also of elastic
/// solids.
TEST(SimulationContact, FreezeIsOfferedAfterEveryStepAtVelocityLevelThatSolvedAProblem) {
  bool velocity = false, judged = false;
  Simulation simulation(fake([&](test::FakeEngine& engine) {
                          engine.on_report = [&](StepReport& report) {
                            if (velocity) report.contact_solve.emplace();
                            if (judged) report.judgement.emplace();
                          };
                        }),
                        test::two_tets);
  simulation.post(LoadScene{"a"});
  const auto reason_after_a_step = [&] {
    const std::size_t before = simulation.history().size();
    simulation.step_once();
    EXPECT_TRUE(reached(simulation, [&] { return simulation.history().size() > before; }));
    return inactive_reason(ActionId::freeze, simulation);
  };
  EXPECT_EQ(inactive_reason(ActionId::freeze, simulation), "No step was made");
  EXPECT_NE(reason_after_a_step().find("Barrier steps"), std::string::npos);
  velocity = true;
  EXPECT_NE(reason_after_a_step().find("penalty"), std::string::npos);
  judged = true;
  EXPECT_EQ(reason_after_a_step(), "") << "its objects are elastic";
}

TEST(SimulationContact, NothingToFreezeIsNoError) {
  Simulation simulation(fake(), test::two_tets);
  simulation.post(LoadScene{"a"});
  simulation.play();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.history().size() > 1; }));
  simulation.post(Freeze{});
  simulation.post(ParamEdit{"gravity", -1});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.journal().size() == 2; }));
  EXPECT_TRUE(simulation.status().error.empty());
  EXPECT_TRUE(simulation.status().playing);
  EXPECT_EQ(simulation.take_frozen(), nullptr);
}

TEST(SimulationContact, AFrameSaysWhetherItHasWhatIsWanted) {
  Simulation simulation(test::fake(), test::rigid_scene);
  EXPECT_TRUE(simulation.shows_what_is_wanted()) << "nothing is loaded";
  simulation.want_contacts(false);
  simulation.post(LoadScene{"a"});
  simulation.step_once();
  ASSERT_TRUE(test::at_rest_after(simulation, 1));
  ASSERT_TRUE(test::reached(simulation, [&] { return simulation.shows_what_is_wanted(); }));
  for (const auto& want : {&Simulation::want_contacts, &Simulation::want_contact_details,
                           &Simulation::want_tree, &Simulation::want_stiffness, &Simulation::want_matrix}) {
    (simulation.*want)(true);
    EXPECT_FALSE(simulation.shows_what_is_wanted()) << "until the frame that follows";
    EXPECT_TRUE(test::reached(simulation, [&] { return simulation.shows_what_is_wanted(); }));
  }
  const SimulationFrame& frame = simulation.frame();
  EXPECT_TRUE(frame.parts.contacts && frame.parts.details && frame.parts.tree && frame.parts.stiffness &&
              frame.parts.matrix);
}

}  // namespace
}  // namespace stickslip

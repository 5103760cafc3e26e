// A journal of the window, done again.
#include "app/viewer/replay.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/io/file/input_error.h"
#include "app/io/scene/scene_variant.h"
#include "app/viewer/scene_content.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using test::reached;

JournalStart start_of(const std::string& scene) {
  JournalStart start;
  start.scene = scene;
  start.backend = "cpu";
  return start;
}

std::unique_ptr<Engine> cpu() { return make_engine(Backend::cpu, 2); }

class ReplayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder);
    ASSERT_NO_THROW(load_variant("box-stack", "")) << "these tests need the shipped scenes: STICKSLIP_ASSETS";
  }
  void TearDown() override { fs::remove_all(folder); }

  ReplayOptions options() const {
    ReplayOptions options;
    options.journal = file;
    options.make_engine = cpu;
    options.load_scene = [](const std::string& name, const std::string& variant, const JournalStart&) {
      return load_variant(name, variant);
    };
    return options;
  }

  /// Drives a simulation as a window with --journal does, and writes its journal.
  void record(const std::function<void(Simulation&)>& drive) {
    Simulation simulation(cpu, load_variant);
    simulation.set_hashing(true);
    drive(simulation);
    ASSERT_TRUE(simulation.frame().scene) << "no scene was loaded: " << simulation.status().error;
    JournalFile journal(file);
    journal.start(start_of("box-stack"));
    const Model model = simulation.frame().scene->model;
    for (const JournalEntry& entry : simulation.journal()) journal.add(entry, model);
  }

  std::string text() const {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  const fs::path folder = fs::temp_directory_path() / ("stickslip-replay-" + std::to_string(getpid()));
  const fs::path file = folder / "done.jsonl";
};

void step_to(Simulation& simulation, int frame) {
  for (int i = simulation.status().frame; i < frame; ++i) simulation.step_once();
  ASSERT_TRUE(reached(simulation, [&] {
    return simulation.status().frame == frame &&
           simulation.status().activity == SimulationStatus::Activity::idle;
  }));
}

void go_to(Simulation& simulation, const Command& command, int frame) {
  simulation.post(command);
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().frame == frame; }));
}

TEST_F(ReplayTest, RepeatsEveryStateBitForBit) {
  record([](Simulation& simulation) {
    simulation.post(LoadScene{"box-stack"});
    step_to(simulation, 12);
    simulation.post(ForkState{});
    simulation.post(MaterialEdit{-1, "mu", 0.1});
    simulation.post(ContactParamEdit{"tolerance", 1e-7});
    step_to(simulation, 16);
    simulation.post(KeepState{});
    simulation.post(DragStart{{{0, 1, 2}, {1, 0, 0}, {0, 3, 0}}});
    step_to(simulation, 20);
    simulation.post(DragMove{{1, 3, 0}});
    step_to(simulation, 22);
    simulation.post(DragEnd{});
    go_to(simulation, Rewind{9}, 9);
    simulation.post(ParamEdit{"gravity", -3});
    step_to(simulation, 18);
    go_to(simulation, ReturnToKept{}, 16);
    step_to(simulation, 19);
    go_to(simulation, Reset{}, 0);
    step_to(simulation, 4);
  });
  const ReplayReport report = replay(options());
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.steps, 22 + 9 + 3 + 4);
  EXPECT_EQ(report.equal, report.steps);
  EXPECT_EQ(report.differing, 0);
  EXPECT_EQ(report.commands, 12);
  EXPECT_EQ(report.scene, "box-stack");
}

/// They were set before the scene was there; none of the steps that trip one is left out.
TEST_F(ReplayTest, TripwiresAreSetAgain) {
  record([](Simulation& simulation) {
    Tripwires wires;
    wires.unconverged = true;
    wires.depth = 0.002;
    simulation.set_tripwires(wires);
    simulation.post(LoadScene{"box-stack"});
    simulation.post(ContactParamEdit{"tolerance", 1e-12});
    simulation.post(ContactParamEdit{"max_iterations", 1});
    step_to(simulation, 1);
    step_to(simulation, 2);
    ASSERT_FALSE(simulation.status().tripped.empty()) << "this test needs steps that trip it";
    simulation.post(TripwireEdit{"unconverged", 0});
    step_to(simulation, 4);
  });
  EXPECT_NE(text().find("\"tripwire.depth\""), std::string::npos);
  std::ofstream(file, std::ios::app)
      << R"({"event": "view", "set": {"contacts": true}, "frame": 4, "time": 0})"
      << "\n";
  const ReplayReport report = replay(options());
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.equal, 4);
  EXPECT_EQ(report.differing, 0);
  EXPECT_EQ(report.commands, 6);

  Simulation simulation(cpu, load_variant);
  ReplayRun run(file, "done.jsonl", simulation, [&] { simulation.update(); });
  bool has_tripped = false;
  while (run.advance()) has_tripped |= !simulation.status().tripped.empty();
  EXPECT_TRUE(has_tripped);
  EXPECT_EQ(run.report().equal, 4);
  EXPECT_EQ(simulation.tripwires().depth, 0.002);
  EXPECT_FALSE(simulation.tripwires().unconverged);
}

TEST_F(ReplayTest, ElasticScenesAndOtherSolversToo) {
  record([](Simulation& simulation) {
    simulation.post(LoadScene{"rest"});
    step_to(simulation, 4);
    const ParamInfo& solver = *find_param(param_table(), "solver");
    const auto al = std::ranges::find(solver.choices, "barrier_al") - solver.choices.begin();
    simulation.post(ParamEdit{"solver", static_cast<double>(al)});
    step_to(simulation, 7);
    go_to(simulation, Rewind{2}, 2);
    step_to(simulation, 5);
    simulation.post(LoadScene{"box-stack"});
    ASSERT_TRUE(reached(simulation, [&] { return simulation.frame().scene->name == "box-stack"; }));
    step_to(simulation, 3);
  });
  const ReplayReport report = replay(options());
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.equal, 7 + 3 + 3);
  EXPECT_EQ(report.differing, 0);
}

/// In frame 4 the cloth goes through the ball: the change of solver moves them apart. So it does after going
/// back there.
TEST_F(ReplayTest, ChangesOfSolverThatMoveSurfacesApart) {
  record([](Simulation& simulation) {
    simulation.post(LoadScene{"cloth-live"});
    step_to(simulation, 4);
    const ParamInfo& solver = *find_param(param_table(), "solver");
    const auto choose = [&](std::string_view name) {
      const auto at = std::ranges::find(solver.choices, name) - solver.choices.begin();
      simulation.post(ParamEdit{"solver", static_cast<double>(at)});
    };
    choose("ipc");
    step_to(simulation, 5);
    choose("velocity");
    step_to(simulation, 6);
    go_to(simulation, Rewind{4}, 4);
    choose("barrier_al");
    step_to(simulation, 5);
    EXPECT_EQ(simulation.status().error, "");
  });
  const ReplayReport report = replay(options());
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.equal, 5 + 1 + 1);
  EXPECT_EQ(report.differing, 0);
}

/// A refused ball leaves no trace in the journal, since it changed nothing.
TEST_F(ReplayTest, ObjectsComeAndGoWithTheSameBits) {
  record([](Simulation& simulation) {
    simulation.post(LoadScene{"box-stack"});
    step_to(simulation, 6);
    const auto count = [&] { return simulation.frame().scene->model.objects.size(); };
    const std::size_t before = count();
    const Shot shot{{0, 0.3, 3}, {0, 0, -6}, 0.1};
    simulation.post(AddObject{shot_toml(simulation.frame().scene->model, shot)});
    ASSERT_TRUE(reached(simulation, [&] { return count() == before + 1; }));
    step_to(simulation, 20);
    simulation.post(MaterialEdit{-1, "mu", 0.2});
    simulation.post(AddObject{"shape = \"nothing\"\n"});
    ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().error.empty(); }));
    step_to(simulation, 24);
    simulation.post(RemoveObject{"shot-1"});
    ASSERT_TRUE(reached(simulation, [&] { return count() == before; }));
    step_to(simulation, 28);
    simulation.undo();
    ASSERT_TRUE(reached(simulation, [&] { return count() == before + 1; }));
    step_to(simulation, 32);
    simulation.redo();
    ASSERT_TRUE(reached(simulation, [&] { return count() == before; }));
    step_to(simulation, 34);
  });
  const ReplayReport report = replay(options());
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.equal, 34);
  EXPECT_EQ(report.differing, 0);
}

TEST_F(ReplayTest, ObjectsMoveWithTheSameBits) {
  record([](Simulation& simulation) {
    simulation.post(LoadScene{"box-stack"});
    step_to(simulation, 3);
    const auto reach = [&](int content) {
      ASSERT_TRUE(reached(simulation, [&] {
        return simulation.status().content == content && !simulation.is_changing_content();
      }));
    };
    const Shot shot{{0, 0.3, 3}, {0, 0, -6}, 0.1};
    simulation.post(AddObject{shot_toml(simulation.frame().scene->model, shot)});
    reach(1);
    step_to(simulation, 8);
    simulation.post(MoveObject{"shot-1", {0.1, 1.0 / 3, 0}, {10, 0, 1e-3}});
    reach(2);
    step_to(simulation, 14);
    simulation.undo();
    reach(1);
    step_to(simulation, 16);
    simulation.redo();
    reach(2);
    step_to(simulation, 20);
  });
  const ReplayReport report = replay(options());
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.equal, 20);
  EXPECT_EQ(report.differing, 0);
}

TEST_F(ReplayTest, JointedObjectsAndScriptsMoveWithTheSameBits) {
  record([](Simulation& simulation) {
    const auto reach = [&](int content) {
      ASSERT_TRUE(reached(simulation, [&] {
        return simulation.status().content == content && !simulation.is_changing_content();
      }));
      ASSERT_EQ(simulation.status().error, "");
    };
    simulation.post(LoadScene{"buggy"});
    step_to(simulation, 6);
    simulation.post(MoveObject{"left.0", {0.1, 0.5, 1.0 / 3}, {0, 0, 0}});
    reach(1);
    step_to(simulation, 10);
    simulation.undo();
    reach(0);
    step_to(simulation, 12);
    simulation.post(LoadScene{"spinner"});
    ASSERT_TRUE(
        reached(simulation, [&] { return simulation.status().loaded && simulation.status().frame == 0; }));
    step_to(simulation, 3);
    simulation.post(MoveObject{"disc", {0, 0.5, 0}, {0, 30, 0}});
    reach(1);
    step_to(simulation, 6);
  });
  const ReplayReport report = replay(options());
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.equal, 18);
  EXPECT_EQ(report.differing, 0);
}

/// As when the journal is dropped on a window that plays another scene.
class ReplayRunTest : public ReplayTest {
 protected:
  void SetUp() override {
    ReplayTest::SetUp();
    if (HasFatalFailure()) return;
    record([](Simulation& simulation) {
      simulation.post(LoadScene{"box-stack"});
      step_to(simulation, 3);
      simulation.post(MaterialEdit{-1, "mu", 0.1});
      step_to(simulation, 6);
    });
    simulation.post(LoadScene{"dominoes"});
    simulation.play();
    ASSERT_TRUE(reached(simulation, [&] { return simulation.status().frame > 1; }));
  }
  /// Until the end, or until this many states were compared.
  bool advance(ReplayRun& run, long states = 1000) {
    bool goes_on = true;
    EXPECT_TRUE(reached(simulation, [&] {
      goes_on = run.advance();
      return !goes_on || run.report().steps >= states;
    }));
    return goes_on;
  }
  Simulation simulation{cpu, load_variant};
  ReplayRun made() {
    return {file, "done.jsonl", simulation, [this] { simulation.update(); }};
  }
};

TEST_F(ReplayRunTest, TakesTheSceneThatRunsAway) {
  ReplayRun run = made();
  EXPECT_FALSE(advance(run));
  EXPECT_EQ(run.report().error, "");
  EXPECT_FALSE(run.report().interrupted);
  EXPECT_EQ(run.report().equal, 6);
  EXPECT_EQ(run.report().differing, 0);
  EXPECT_EQ(simulation.frame().scene->name, "box-stack");
  EXPECT_EQ(simulation.status().frame, 6);
  EXPECT_FALSE(simulation.status().playing);
  EXPECT_EQ(simulation.settings().materials[0].mu, 0.1);
  EXPECT_EQ(verdict_text(run.report(), "done.jsonl", "cpu"),
            "done.jsonl: all 6 states have the bits of the journal's");
}

TEST_F(ReplayRunTest, ShowsTheViewOfThen) {
  std::ofstream(file, std::ios::app)
      << R"({"event": "view", "set": {"cones": true, "forks": "panes"}, "frame": 6, "time": 0})"
      << "\n";
  std::vector<std::string> shown;
  ReplayRun run(
      file, "done.jsonl", simulation, [this] { simulation.update(); },
      [&](const ViewRow& row, double value) {
        EXPECT_EQ(run.report().steps, 6) << "not before the steps that came before";
        shown.push_back(row.name + "=" + std::to_string(static_cast<int>(value)));
      });
  EXPECT_FALSE(advance(run));
  EXPECT_EQ(run.report().error, "");
  EXPECT_EQ(shown, (std::vector<std::string>{"cones=1", "forks=2"}));
}

TEST_F(ReplayRunTest, EndsWhenTheRunIsChangedBesides) {
  ReplayRun run = made();
  ASSERT_TRUE(advance(run, 4));
  simulation.post(ParamEdit{"gravity", -3});
  EXPECT_FALSE(advance(run));
  EXPECT_TRUE(run.report().interrupted);
  EXPECT_EQ(run.report().differing, 0) << "states after the change are not compared";
  EXPECT_LT(run.report().equal, 6);
}

TEST_F(ReplayRunTest, NeedsASceneFirst) {
  std::string without = text();
  const std::size_t load = without.find("\"load\""), line = without.rfind('\n', load) + 1;
  without.erase(line, without.find('\n', load) + 1 - line);
  std::ofstream(file) << without;
  ReplayRun run = made();
  EXPECT_FALSE(advance(run));
  EXPECT_NE(run.report().error.find("done.jsonl:2: no scene is loaded"), std::string::npos)
      << run.report().error;
  EXPECT_EQ(simulation.frame().scene->name, "dominoes");
}

TEST_F(ReplayTest, SaysWhereAStateDiffers) {
  record([](Simulation& simulation) {
    simulation.post(LoadScene{"box-stack"});
    step_to(simulation, 3);
    simulation.post(MaterialEdit{-1, "mu", 0.1});
    step_to(simulation, 8);
  });
  std::string changed = text();
  ASSERT_NE(changed.find("\"mu\""), std::string::npos);
  // Less heavy instead of more slippery: the next states differ.
  const std::size_t line = changed.rfind('\n', changed.find("\"mu\"")) + 1;
  const std::size_t end = changed.find('\n', line);
  changed.replace(line, end - line,
                  R"({"event": "set", "key": "gravity", "value": -3, "frame": 3, "time": 0.05})");
  std::ofstream(file) << changed;
  const ReplayReport report = replay(options());
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.equal, 3);
  EXPECT_EQ(report.differing, 5);
  EXPECT_EQ(report.first_difference, 4);
  EXPECT_EQ(report.first_difference_line, 7);
  EXPECT_EQ(verdict_text(report, "done.jsonl", "cuda"),
            "done.jsonl:7: the state of frame 4 differs from the journal's, as do 4 later ones; the journal "
            "was written on cpu");
}

TEST_F(ReplayTest, RefusesWhatIsNoJournal) {
  EXPECT_THROW(replay(options()), InputError) << "no file";
  std::ofstream(file) << "no json\n";
  EXPECT_THROW(replay(options()), InputError);
  std::ofstream(file) << R"({"event": "load", "scene": "drop", "frame": 0, "time": 0})"
                      << "\n";
  try {
    replay(options());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("has no start"), std::string::npos);
  }
  std::ofstream(file) << "";
  EXPECT_THROW(replay(options()), InputError);
}

TEST_F(ReplayTest, NamesTheLineThatCannotBeRepeated) {
  {
    JournalFile journal(file);
    journal.start(start_of("box-stack"));
    const Model model = load_scene("box-stack").model;
    journal.add({0, 0, 0, LoadScene{"box-stack"}}, model);
    journal.add({0, 0, 0, Rewind{40}}, model);
  }
  const ReplayReport report = replay(options());
  EXPECT_NE(report.error.find("done.jsonl:3: the state of frame 40 is not kept"), std::string::npos)
      << report.error;
  {
    JournalFile journal(file);
    journal.start(start_of("nowhere"));
    journal.add({0, 0, 0, LoadScene{"nowhere"}}, Model{});
  }
  EXPECT_NE(replay(options()).error.find("no scene 'nowhere'"), std::string::npos);
}

}  // namespace
}  // namespace stickslip

// Scripts of the window's actions, on a simulation without a window.
#include "app/viewer/action_script.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <map>

#include "app/io/file/input_error.h"
#include "app/viewer/log_buffer.h"
#include "app/viewer/picking.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

class ActionScriptTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  ActionScript script(const std::string& text) const {
    std::ofstream(file) << text;
    return ActionScript(file);
  }
  std::string refusal(const std::string& text) const {
    try {
      script(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }
  /// Runs the script to its end; the names of the actions are kept. False where a step has failed.
  bool run(const std::string& text) {
    ActionScript lines = script(text);
    const auto act = [&](ActionId id) {
      const Action& action = action_table()[static_cast<std::size_t>(id)];
      done.emplace_back(action.name);
      if (id == ActionId::keep_state) simulation.post(KeepState{});
      if (id == ActionId::return_to_kept) simulation.post(ReturnToKept{});
      if (id == ActionId::recover && inactive_reason(id, simulation).empty())
        simulation.post(Rewind{simulation.status().sound});
      if (id == ActionId::undo) simulation.undo();
      if (id == ActionId::redo) simulation.redo();
      if (id == ActionId::reset) simulation.post(Reset{});
      if (id == ActionId::toggle_play) simulation.status().playing ? simulation.pause() : simulation.play();
    };
    const auto start = Simulation::Clock::now();
    const auto ask = [&](const SweepRequest& request) { sweep.ask(simulation, request); };
    const auto show = [&](const std::string& solver, long iteration) {
      if (solver == "lemke") throw InputError("the lab has no iterations of lemke");
      iterations.emplace_back(solver, iteration);
    };
    const auto show_step = [&](int iteration) {
      if (iteration == 99) throw InputError("no step has so many");
      step_iterations.push_back(iteration);
    };
    while (lines.advance({simulation,
                          act,
                          [&](const std::string& name) { opened.push_back(name); },
                          [&] { simulation.update(); },
                          [&] { return sweep.busy(); },
                          {0, 0, 0},
                          ask,
                          show,
                          show_step,
                          [&](const Vec<float, 2>& at) { clicks.push_back(at); },
                          [&](const std::string& object) {
                            selected.push_back(object_of_name(simulation.frame().scene->model, object));
                          },
                          [&](const Vec3f& eye, const Vec3f& target) { views.emplace_back(eye, target); },
                          [&](Quality quality) { qualities.push_back(quality); },
                          [&](const ClipChoice& choice) { clip = choice; },
                          &presets,
                          [&](const ViewRow& row, double value) { rows[row.name] = value; }})) {
      simulation.update();
      sweep.follow(simulation);
      if (test::elapsed(start) > 30) {
        ADD_FAILURE() << "the script does not end";
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    simulation.update();
    return !lines.has_failed();
  }

  const fs::path folder = fs::temp_directory_path() / ("stickslip-script-" + std::to_string(getpid()));
  const fs::path file = folder / "actions.txt";
  /// The scene "text" has a TOML text, others have none.
  std::atomic<int> fails_at = -1;  // frame from which no step is made
  Simulation simulation{test::fake([this](test::FakeEngine& engine) {
                          engine.on_step = [this](int frame) {
                            if (frame == fails_at) throw std::runtime_error("the engine gives up");
                          };
                        }),
                        [](const std::string& name, const std::string& variant) {
                          return name == "text"
                                     ? parse_scene(
                                           "[[material]]\nname = \"rubber\"\n[[object]]\nname = "
                                           "\"ball\"\nshape = \"sphere\"\nradius = 0.5\nedge = 0.3\n",
                                           "/somewhere/text.toml")
                                     : test::two_tets(name, variant);
                        }};
  ParamSweep sweep{test::fake(), folder};
  Presets presets{folder / "presets"};
  std::vector<std::string> done, opened;
  std::vector<std::pair<std::string, long>> iterations;
  std::vector<int> step_iterations;
  std::vector<Vec<float, 2>> clicks;
  std::vector<int> selected;
  std::vector<std::pair<Vec3f, Vec3f>> views;
  std::vector<Quality> qualities;
  ClipChoice clip;
  std::map<std::string, double> rows;  // of the view
};

TEST_F(ActionScriptTest, SetsTripwiresAndTheView) {
  EXPECT_TRUE(
      run("scene a\nset tripwire.overlap=true\nset tripwire.depth=0.02\nset tripwire.not_finite=false\n"
          "view contacts=true\nview colours=share_of_the_cone\nview tilt=-12.5\n"));
  EXPECT_TRUE(simulation.tripwires().overlap);
  EXPECT_FALSE(simulation.tripwires().not_finite);
  EXPECT_EQ(simulation.tripwires().depth, 0.02);
  EXPECT_EQ(rows, (std::map<std::string, double>{{"contacts", 1}, {"colours", 4}, {"tilt", -12.5}}));
  for (const auto& [line, part] : {std::pair{"view contacts\n", "view needs KEY=VALUE"},
                                   {"view contact=true\n", "did you mean 'contacts'?"},
                                   {"view contacts=1\n", "must be true or false"},
                                   {"view surfaces=mud\n", "must be objects, stress"},
                                   {"view tilt=steep\n", "must be a number"},
                                   {"view tilt=nan\n", "must be a number"}})
    EXPECT_NE(refusal(line).find(part), std::string::npos) << line << refusal(line);
  EXPECT_THROW(run("scene a\nset tripwire.depht=1\n"), InputError);
  EXPECT_THROW(run("scene a\nset tripwire.depth=-1\n"), InputError);
}

TEST_F(ActionScriptTest, DoesOneLineAfterTheOther) {
  run(R"(# a comment
scene a
steps 10
set gravity=-3
set contact.omega=1.25
set mu=0.4   # of all materials
open some/mesh.obj
steps 2
keep_state
rewind 5
toggle_contacts
steps 1
)");
  EXPECT_EQ(simulation.status().frame, 6);
  EXPECT_EQ(simulation.settings().params.gravity, -3);
  EXPECT_EQ(simulation.settings().contact_params.omega, 1.25);
  EXPECT_EQ(simulation.settings().materials[1].mu, 0.4);
  EXPECT_EQ(simulation.status().kept, 12);
  EXPECT_EQ(done, (std::vector<std::string>{"keep_state", "toggle_contacts"}));
  EXPECT_EQ(opened, std::vector<std::string>{"some/mesh.obj"});
  const std::vector<JournalEntry> journal = simulation.journal();
  ASSERT_EQ(journal.size(), 6u);
  EXPECT_EQ(journal[1].frame, 10) << "the edit waits for the steps before it";
  run("return_to_kept\nsteps 3\n");
  EXPECT_EQ(simulation.status().frame, 15);
}

TEST_F(ActionScriptTest, ASolverIsNamedAsByTheOption) {
  run("scene a\nset solver=prox_gs\nsteps 1\n");
  EXPECT_EQ(simulation.settings().params.solver, SolverKind::velocity);
  EXPECT_EQ(simulation.settings().params.contact_solver, ContactSolverKind::prox_gs);
  run("set solver=ipc\n");
  EXPECT_EQ(simulation.settings().params.solver, SolverKind::ipc);
  EXPECT_THROW(run("set solver=prox\n"), InputError);
}

TEST_F(ActionScriptTest, AddsBodies) {
  run("scene text\nsteps 2\nadd elastic box 0.2\nadd cloth sheet\nsteps 1\n");
  const Model& model = simulation.frame().scene->model;
  ASSERT_EQ(model.objects.size(), 3u);
  EXPECT_EQ(model.objects[1].name, "added-1");
  EXPECT_TRUE(model.objects[1].is_solid());
  EXPECT_EQ(model.objects[2].name, "added-2");
  EXPECT_TRUE(model.objects[2].is_cloth());
  EXPECT_EQ(simulation.status().frame, 3);
  EXPECT_THROW(run("scene a\nadd elastic box\n"), InputError) << "it has no TOML text";
}

/// The states of an engine that has no rigid bodies yet have none.
TEST_F(ActionScriptTest, AddsTheFirstRigidBodyAndTakesItBack) {
  run("scene text\nsteps 2\nadd rigid box 0.2\nsteps 2\n");
  const auto objects = [&] { return simulation.frame().scene->model.objects.size(); };
  EXPECT_EQ(objects(), 2u);
  ASSERT_EQ(simulation.frame().scene->model.bodies.size(), 1u);
  run("undo\nsteps 1\n");
  EXPECT_EQ(objects(), 1u);
  run("redo\nadd rigid ball 0.1\nsteps 1\nrewind 1\nsteps 1\n");
  EXPECT_EQ(objects(), 1u) << "frame 1 is older than the box";
  EXPECT_EQ(simulation.status().frame, 2);
}

TEST_F(ActionScriptTest, MovesAndTurnsObjects) {
  run("scene text\nsteps 1\nmove ball 0 2 0.5\nturn ball 0 1 0 90\nsteps 1\n");
  const std::string& text = simulation.frame().scene->source;
  EXPECT_NE(text.find("position = [0, 2, 0.5]"), std::string::npos) << text;
  EXPECT_NE(text.find("rotation = [0, 90, 0]"), std::string::npos) << text;
  EXPECT_EQ(simulation.status().frame, 2);
  EXPECT_THROW(run("move other 0 1 0\n"), InputError);
}

TEST_F(ActionScriptTest, SelectsAndChangesTheView) {
  run("scene a\nselect high\nselect 320 200.5\ncamera 1 2 3 0 0.5 0\nquality medium\nclip 90 -20 0.25\n");
  EXPECT_EQ(selected, std::vector<int>{1});
  EXPECT_EQ(clicks, (std::vector<Vec<float, 2>>{{320, 200.5f}}));
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].first, (Vec3f{1, 2, 3}));
  EXPECT_EQ(views[0].second, (Vec3f{0, 0.5f, 0}));
  EXPECT_EQ(qualities, std::vector<Quality>{Quality::medium});
  EXPECT_TRUE(clip.on);
  EXPECT_EQ(clip.heading, 90);
  EXPECT_EQ(clip.tilt, -20);
  EXPECT_EQ(clip.position, 0.25f);
  try {
    run("scene a\nselect none\n");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("actions.txt:2: there is no object 'none'"), std::string::npos)
        << error.what();
  }
}

TEST_F(ActionScriptTest, PullsObjectsByTheirEnds) {
  run("scene a\nsteps 1\ndrag high 0 2 0\nsteps 3\ndrag_end\nsteps 1\n");
  const std::vector<JournalEntry> journal = simulation.journal();
  ASSERT_EQ(journal.size(), 3u);
  const Drag& drag = std::get<DragStart>(journal[1].command).drag;
  EXPECT_EQ(journal[1].frame, 1);
  EXPECT_TRUE(std::holds_alternative<DragEnd>(journal[2].command));
  EXPECT_EQ(journal[2].frame, 4);
  const Model& model = simulation.frame().scene->model;
  const auto height_of = [&](const Vec3i& triangle) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += model.positions[static_cast<std::size_t>(triangle[k])][1] / 3;
    return sum;
  };
  double highest = 0;
  for (std::int32_t t = model.objects[1].triangle_begin; t < model.objects[1].triangle_end; ++t)
    highest = std::max(highest, height_of(model.triangles[static_cast<std::size_t>(t)]));
  EXPECT_NEAR(height_of(drag.triangle), highest, 1e-12);
  EXPECT_THROW(run("scene a\ndrag none 0 1 0\n"), InputError);
}

TEST_F(ActionScriptTest, ForksWithSeeds) {
  run("scene a\nfork_seed 4\nfork_seed 5 1e-3\nsteps 1\n");
  const auto first = simulation.take_forked(), second = simulation.take_forked();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->seed, 4u);
  EXPECT_EQ(first->perturbation, kPerturbation);
  EXPECT_EQ(second->seed, 5u);
  EXPECT_EQ(second->perturbation, 1e-3);
}

TEST_F(ActionScriptTest, SweepsAndGoesOnWhenTheResultsAreWritten) {
  run("scene a\nsteps 3\nsweep mu 0.1 0.9 5 4\nsteps 1\nsweep dt 1e-3 1e-1 3 2 log\n");
  EXPECT_EQ(simulation.status().frame, 4) << "a sweep does not move the scene";
  EXPECT_EQ(sweep.status().request.key, "dt");
  EXPECT_EQ(sweep.status().runs.size(), 3u);
  for (const char* name : {"stickslip-a-sweep-1.csv", "stickslip-a-sweep-2.csv"})
    EXPECT_TRUE(fs::exists(folder / name)) << name;
  EXPECT_THROW(run("sweep mu 0.9 0.1 5 4\n"), InputError);
}

TEST_F(ActionScriptTest, ShowsIterationsOfTheLab) {
  run("scene a\nlab_iteration nsgs 3\nlab_iteration apgd 0\n");
  EXPECT_EQ(iterations, (std::vector<std::pair<std::string, long>>{{"nsgs", 3}, {"apgd", 0}}));
  try {
    run("scene a\nlab_iteration lemke 1\n");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("actions.txt:2: the lab has no iterations"), std::string::npos)
        << error.what();
  }
}

TEST_F(ActionScriptTest, ShowsIterationsOfAStep) {
  run("scene a\nstep_iteration 3\n");
  EXPECT_EQ(step_iterations, std::vector<int>{3});
  try {
    run("scene a\nstep_iteration 99\n");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("actions.txt:2: no step"), std::string::npos) << error.what();
  }
}

TEST_F(ActionScriptTest, PlaysAndWaitsByTheClock) {
  simulation.set_pacing({.real_time = false});
  const auto start = Simulation::Clock::now();
  run("scene a\nplay 0.2\nwait 0.1\n");
  EXPECT_GT(test::elapsed(start), 0.3);
  EXPECT_GT(simulation.status().frame, 3);
  EXPECT_FALSE(simulation.status().playing);
}

TEST_F(ActionScriptTest, ActsWhileTheRunPlays) {
  run("scene a\ntoggle_play\nwait 0.1\nset mu=0.4\nfork_seed 1\ntoggle_contacts\nkeep_state\n");
  EXPECT_TRUE(simulation.status().playing);
  EXPECT_EQ(simulation.settings().materials[1].mu, 0.4);
  EXPECT_NE(simulation.take_forked(), nullptr);
  EXPECT_TRUE(simulation.status().kept.has_value());
  run("scene b\nsteps 2\n");
  EXPECT_FALSE(simulation.status().playing) << "single steps end it";
  EXPECT_GE(simulation.status().frame, 2);
}

TEST_F(ActionScriptTest, NamesTheLineThatIsWrong) {
  for (const auto& [text, part] : {std::pair<const char*, const char*>{"jump", "unknown action 'jump'"},
                                   {"kep_state", "did you mean 'keep_state'"},
                                   {"stepz 3", "unknown action 'stepz'; did you mean 'steps'"},
                                   {"stepz 1 2 3", "unknown action 'stepz'"},
                                   {"steps", "steps needs a value"},
                                   {"steps 1.5", "whole number"},
                                   {"steps 0", "at least 1"},
                                   {"steps two", "needs a number"},
                                   {"wait -1", "at least 0"},
                                   {"wait nan", "needs a number"},
                                   {"set dt", "KEY=VALUE"},
                                   {"reset now", "takes no value"},
                                   {"add", "needs a kind and a shape"},
                                   {"add rigid", "needs a kind and a shape"},
                                   {"add soft box", "no kind of body 'soft'"},
                                   {"move ball 1 2", "needs an object and three numbers"},
                                   {"move ball 1 2 x", "'x' is no number"},
                                   {"turn ball 0 0 0 90", "axis that is not zero"},
                                   {"turn ball 0 1 0", "degrees"},
                                   {"add cloth box", "cannot be a box"},
                                   {"add rigid box big", "no size"},
                                   {"add rigid box 0.1 red", "too many words"},
                                   {"fork_seed", "needs a value"},
                                   {"fork_seed 0", "at least 1"},
                                   {"fork_seed -1", "at least 1"},
                                   {"fork_seed 1.5", "at least 1"},
                                   {"fork_seed 1 0", "above 0"},
                                   {"fork_seed 1 inf", "finite"},
                                   {"fork_seed 1 1e-3 9", "too many words"},
                                   {"fork_sed", "did you mean 'fork_seed'"},
                                   {"sweep", "KEY LOW HIGH COUNT STEPS"},
                                   {"sweep muu 0 1 5 9", "did you mean 'mu'"},
                                   {"sweep mu 0 1 2 9", "from 3 to 16 values"},
                                   {"sweep mu 0 1 5 9 log 1", "too many words"},
                                   {"lab_iteration", "needs a solver and a number"},
                                   {"lab_iteration nsgs", "needs a solver and a number"},
                                   {"lab_iteration nsg 3", "did you mean 'nsgs'"},
                                   {"lab_iteration nsgs -1", "whole number of at least 0"},
                                   {"lab_iteration nsgs 1.5", "whole number of at least 0"},
                                   {"lab_iteration nsgs 1 2", "too many words"},
                                   {"step_iteration", "needs a value"},
                                   {"step_iteration 1.5", "needs a whole number"},
                                   {"step_iteration 1 2", "unexpected '2'"},
                                   {"select", "needs an object, or the two numbers of a pixel"},
                                   {"select 3 x", "'x' is no number"},
                                   {"drag ball 1 2", "needs an object and three numbers"},
                                   {"drag ball 1 2 inf", "'inf' is no number"},
                                   {"drag_end now", "takes no value"},
                                   {"camera 1 2 3", "the eye and that of the target"},
                                   {"camera 1 2 3 1 2 3", "must differ"},
                                   {"quality best", "unknown quality 'best'"},
                                   {"clip 90 0", "two angles"},
                                   {"scene a b c", "too many words"}}) {
    const std::string seen = refusal(std::string("reset\n") + text + "\n");
    EXPECT_NE(seen.find("actions.txt:2: "), std::string::npos) << seen;
    EXPECT_NE(seen.find(part), std::string::npos) << seen;
  }
  EXPECT_THROW(ActionScript{folder / "none.txt"}, InputError);
}

TEST_F(ActionScriptTest, TheFirstLineWaitsForTheSceneOfTheProgram) {
  simulation.post(LoadScene{"text"});
  run("move ball 0 2 0\n");
  EXPECT_EQ(simulation.status().content, 1);
  EXPECT_EQ(simulation.edits().next_undo(), "ball moved");
}

TEST_F(ActionScriptTest, SaysThatThereIsNothingToUndoAndGoesOn) {
  const auto log = std::make_shared<LogBuffer>();
  const LogCapture capture(log);
  const auto said = [&](const std::string& what) {
    int count = 0;
    log->visit([&](const LogLine& line) { count += line.text.find(what) != std::string::npos; });
    return count;
  };
  simulation.post(LoadScene{"text"});
  run("undo\nadd elastic box 0.2\nundo\nundo\n");
  EXPECT_EQ(said("there is nothing to undo"), 2) << "the second of three undoes the box";
  EXPECT_EQ(simulation.status().content, 0);
  EXPECT_EQ(simulation.edits().next_redo(), "added-1 added");
  run("redo\nredo\n");
  EXPECT_EQ(said("there is nothing to redo"), 1);
  EXPECT_EQ(simulation.status().content, 1);
}

TEST_F(ActionScriptTest, SavesAppliesAndDeletesPresets) {
  run("scene a\nset gravity=-3\npreset_save moon-1\nset gravity=-9\npreset_list\npreset_apply moon-1\n");
  EXPECT_EQ(simulation.settings().params.gravity, -3);
  EXPECT_EQ(presets.names(), std::vector<std::string>{"moon-1"});
  run("preset_delete moon-1\n");
  EXPECT_TRUE(presets.names().empty());
  EXPECT_THROW(run("preset_apply moon-1\n"), InputError);
  for (const char* line : {"preset_save\n", "preset_apply\n", "preset_list a\n", "preset_save a b\n"})
    EXPECT_THROW(script(line), InputError) << line;
}

TEST_F(ActionScriptTest, EndsAtAnErrorOfTheSimulation) {
  EXPECT_THROW(run("scene a\nset dt=-1\n"), InputError);
  EXPECT_THROW(run("set dx=1\n"), InputError);
  EXPECT_THROW(run("scene a\nrewind 77\nsteps 1\n"), std::runtime_error);
}

/// Of a simulation whose engine cannot make step 3 with the gravity of before.
TEST_F(ActionScriptTest, GoesOnAfterAStepThatFailed) {
  const auto log = std::make_shared<LogBuffer>();
  const LogCapture capture(log);
  const auto said = [&](const std::string& what) {
    int count = 0;
    log->visit([&](const LogLine& line) {
      count += line.level == spdlog::level::err && line.text.find(what) != std::string::npos;
    });
    return count;
  };
  fails_at = 2;
  const bool good = run("scene a\nsteps 5\nset gravity=-3\nrecover\ntoggle_contacts\nsteps 2\nsteps 1\n");
  EXPECT_FALSE(good);
  EXPECT_EQ(said("actions.txt:2: the engine gives up"), 1) << "the first failure";
  EXPECT_EQ(said("actions.txt:6: the engine gives up"), 1);
  EXPECT_EQ(said("actions.txt:7: the engine gives up"), 1) << "the same text, of another step";
  EXPECT_EQ(said("actions.txt:3"), 0);
  EXPECT_EQ(simulation.settings().params.gravity, -3);
  EXPECT_EQ(done, (std::vector<std::string>{"recover", "toggle_contacts"}));
  EXPECT_EQ(simulation.status().frame, 2);
  fails_at = -1;
  EXPECT_TRUE(run("recover\nsteps 3\n"));
  EXPECT_EQ(simulation.status().frame, 5);
  EXPECT_EQ(simulation.status().error, "");
  EXPECT_THROW(run("rewind 77\n"), std::runtime_error) << "a line that is wrong ends the script";
}

TEST_F(ActionScriptTest, KnowsEveryAction) {
  for (const Action& action : action_table()) EXPECT_NO_THROW(script(std::string(action.name) + "\n"));
}

}  // namespace
}  // namespace stickslip

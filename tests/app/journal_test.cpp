// The journal file of the window.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "app/io/file/input_error.h"
#include "app/viewer/journal_file.h"
#include "tests/app/fake_engine.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  std::vector<json> lines() const {
    std::vector<json> all;
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) all.push_back(json::parse(line));
    return all;
  }

  const fs::path folder = fs::temp_directory_path() / ("stickslip-journal-" + std::to_string(getpid()));
  const fs::path file = folder / "done.jsonl";
};

TEST_F(JournalTest, HasOneCompleteLinePerEventWithNamesInsteadOfNumbers) {
  const Model model = test::two_tets("a").model;
  JournalFile journal(file);
  journal.add({0, 0.0, 0.1, LoadScene{"a"}}, model);
  journal.add({3, 0.03, 0.2, ParamEdit{"gravity", -2}}, model);
  journal.add({3, 0.03, 0.3, MaterialEdit{1, "mu", 0.4}}, model);
  journal.add({4, 0.04, 0.4, MaterialEdit{-1, "mu", 0.5}}, model);
  journal.add({4, 0.04, 0.5, HalfSpaceEdit{0, 0.6}}, model);
  journal.add({5, 0.05, 0.6, DragStart{{{4, 5, 6}, {1, 0, 0}, {0, 1, 2}}}}, model);
  journal.add({6, 0.06, 0.7, DragMove{{3, 4, 5}}}, model);
  journal.add({7, 0.07, 0.8, DragEnd{}}, model);
  journal.add_screenshot(8, 0.08, "a-1.png");
  journal.add({9, 0.09, 0.9, Reset{}}, model);
  journal.add({9, 0.09, 1.0, ParamEdit{"solver", 1}}, model);
  journal.add({9, 0.09, 1.1, ParamEdit{"check_intersections", 1}}, model);
  journal.add({9, 0.09, 1.2, MaterialEdit{0, "model", 2}}, model);
  journal.add({9, 0.09, 1.3, ContactParamEdit{"r_strategy", 1}}, model);
  journal.add({9, 0.09, 1.4, ContactParamEdit{"omega", 1.25}}, model);
  journal.add({9, 0.09, 1.5, Freeze{}}, model);
  journal.add({9, 0.09, 1.6, LoadScene{"a", "stiff"}}, model);

  const std::vector<json> seen = lines();
  ASSERT_EQ(seen.size(), 17u) << "they are there while the journal is open";
  EXPECT_EQ(seen[0], json::parse(R"({"frame": 0, "time": 0.0, "event": "load", "scene": "a"})"));
  EXPECT_EQ(seen[1],
            json::parse(R"({"frame": 3, "time": 0.03, "event": "set", "key": "gravity", "value": -2.0})"));
  EXPECT_EQ(seen[2]["material"], "hard");
  EXPECT_TRUE(seen[3]["material"].is_null());
  EXPECT_EQ(seen[4]["half_space"], 0);
  EXPECT_EQ(seen[5]["object"], "high");
  EXPECT_EQ(seen[5]["target"], json::parse("[0.0, 1.0, 2.0]"));
  EXPECT_EQ(seen[6]["event"], "drag_move");
  EXPECT_EQ(seen[7]["event"], "drag_end");
  EXPECT_EQ(seen[8]["file"], "a-1.png");
  EXPECT_EQ(seen[9]["event"], "reset");
  EXPECT_EQ(seen[10]["value"], "barrier_al");
  EXPECT_EQ(seen[11]["value"], true);
  EXPECT_EQ(seen[12]["value"], "arap");
  EXPECT_EQ(seen[13]["key"], "contact.r_strategy");
  EXPECT_EQ(seen[13]["value"], "local");
  EXPECT_EQ(seen[14], json::parse(R"({"frame": 9, "time": 0.09, "event": "set", "key": "contact.omega",
                                      "value": 1.25})"));
  EXPECT_EQ(seen[15]["event"], "freeze");
  EXPECT_EQ(seen[16],
            json::parse(R"({"frame": 9, "time": 0.09, "event": "load", "scene": "a", "variant": "stiff"})"));
}

TEST_F(JournalTest, ReadsWhatItWrote) {
  const Model model = test::two_tets("a").model;
  const std::vector<Command> commands{LoadScene{"a"},
                                      LoadScene{"a", "stiff"},
                                      ParamEdit{"gravity", -2},
                                      ParamEdit{"solver", 1},
                                      ParamEdit{"check_intersections", 1},
                                      ContactParamEdit{"r_strategy", 1},
                                      ContactParamEdit{"tolerance", 1e-6},
                                      ContactParamEdit{"warm_start", 0},
                                      MaterialEdit{1, "mu", 0.4},
                                      MaterialEdit{-1, "model", 2},
                                      HalfSpaceEdit{0, 0.6},
                                      TripwireEdit{"overlap", 1},
                                      TripwireEdit{"depth", 0.002},
                                      DragStart{{{4, 5, 6}, {0.5, 0.25, 0.25}, {0, 1, 2}}},
                                      DragMove{{3, 4, 5}},
                                      DragEnd{},
                                      Freeze{},
                                      ForkState{},
                                      ForkState{7, 1e-4},
                                      CaptureState{CaptureUse::sweep},
                                      Rewind{7},
                                      KeepState{},
                                      ReturnToKept{},
                                      AddObject{"name = \"b\"\n"},
                                      RemoveObject{"b"},
                                      MoveObject{"b", {1, 2, 3}, {0, 90, 0}},
                                      AddPin{"b", {3, 4}},
                                      RemovePins{"b"},
                                      AddJoint{"kind = \"ball\"\n"},
                                      AddSpring{"stiffness = 1\n"},
                                      RemoveTies{"b"},
                                      GoToContent{2},
                                      Stepped{0x0123456789abcdef},
                                      ResetAll{},
                                      Reset{}};
  {
    JournalFile journal(file);
    int frame = 0;
    for (const Command& command : commands) {
      journal.add({frame, 0.5 * frame, 0, command}, model);
      journal.add_screenshot(frame, 0, "a.png");
      journal.add_playing(frame, 0, frame % 2 == 0);
      journal.add_action(frame, 0, "toggle_lab");
      ++frame;
    }
  }
  const std::vector<JournalEntry> entries = read_journal(file, model);
  ASSERT_EQ(entries.size(), commands.size()) << "screenshots, play, pause and actions are nothing to repeat";
  const fs::path again = folder / "again.jsonl";
  JournalFile copy(again);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].frame, static_cast<int>(i));
    EXPECT_EQ(entries[i].time, 0.5 * static_cast<double>(i));
    ASSERT_EQ(entries[i].command.index(), commands[i].index());
    copy.add(entries[i], model);
    copy.add_screenshot(static_cast<int>(i), 0, "a.png");
    copy.add_playing(static_cast<int>(i), 0, i % 2 == 0);
    copy.add_action(static_cast<int>(i), 0, "toggle_lab");
  }
  std::ifstream one(file), two(again);
  const std::string first{std::istreambuf_iterator<char>(one), {}};
  const std::string second{std::istreambuf_iterator<char>(two), {}};
  EXPECT_EQ(second, first);
}

TEST_F(JournalTest, ChangesOfTheViewAreForWhoShowsThem) {
  {
    JournalFile journal(file);
    journal.add_view(2, 0.5, {{"contacts", 1}, {"surfaces", 1}, {"tree_level", 3}});
    journal.add({3, 0.6, 0, Reset{}}, {});
  }
  EXPECT_EQ(lines()[0], json::parse(R"({"event": "view", "frame": 2, "time": 0.5, "set":
                                        {"contacts": true, "surfaces": "stress", "tree_level": 3.0}})"));
  EXPECT_EQ(read_journal(file, {}).size(), 1u) << "nothing that a simulation does";
  JournalReader reader(file);
  std::map<std::string, double> shown;
  reader.on_view([&](const ViewRow& row, double value) { shown[row.name] = value; });
  EXPECT_TRUE(reader.next({}));
  EXPECT_EQ(shown, (std::map<std::string, double>{{"contacts", 1}, {"surfaces", 1}, {"tree_level", 3}}));
}

TEST_F(JournalTest, NamesTheLineThatIsWrong) {
  const Model model = test::two_tets("a").model;
  const auto message = [&](const std::string& line) {
    std::ofstream(file) << R"({"event": "reset", "frame": 0, "time": 0})"
                        << "\n"
                        << line << "\n";
    try {
      read_journal(file, model);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const std::string at = R"("frame": 1, "time": 0.1)";
  for (const auto& [line, part] :
       {std::pair<std::string, const char*>{"{", "parse error"},
        {"{\"event\": \"jump\", " + at + "}", "unknown event 'jump'"},
        {"{\"event\": \"set\", \"key\": \"dt\", \"value\": -1, " + at + "}", "dt = -1"},
        {"{\"event\": \"set\", \"key\": \"contact.dt\", \"value\": 1, " + at + "}", "unknown key 'dt'"},
        {"{\"event\": \"set\", \"key\": \"ccd\", \"value\": \"fast\", " + at + "}", "no choice of ccd"},
        {"{\"event\": \"set\", \"key\": \"mu\", \"value\": 1, \"half_space\": 3, " + at + "}",
         "no half-space 3"},
        {"{\"event\": \"set\", \"key\": \"mu\", \"value\": 1, \"material\": \"ice\", " + at + "}",
         "unknown material \"ice\""},
        {"{\"event\": \"drag_start\", \"triangle\": [0, 1, 99], \"weights\": [1, 0, 0], \"target\": [0, 0, "
         "0], " +
             at + "}",
         "no node 99"},
        {"{\"event\": \"set\", \"key\": \"tripwire.depht\", \"value\": 1, " + at + "}",
         "unknown key 'depht'"},
        {"{\"event\": \"set\", \"key\": \"tripwire.gain\", \"value\": -1, " + at + "}", "gain = -1"},
        {"{\"event\": \"view\", \"set\": {\"contact\": true}, " + at + "}", "did you mean 'contacts'?"},
        {"{\"event\": \"view\", \"set\": {\"surfaces\": \"mud\"}, " + at + "}", "must be objects, stress"},
        {"{\"event\": \"view\", \"set\": {\"tilt\": 100}, " + at + "}", "must be a number from"},
        {"{\"event\": \"view\", \"set\": {\"clip\": 0.5}, " + at + "}", "must be true or false"},
        {"{\"event\": \"rewind\", " + at + "}", "to"},
        {"{\"event\": \"step\", \"hash\": \"12\", " + at + "}", "'12' is no hash"},
        {"{\"event\": \"step\", \"hash\": \"0123456789abcdeg\", " + at + "}", "is no hash"},
        {"{\"event\": \"reset\"}", "frame"}}) {
    const std::string seen = message(line);
    EXPECT_NE(seen.find("done.jsonl:2: "), std::string::npos) << line << ": " << seen;
    EXPECT_NE(seen.find(part), std::string::npos) << line << ": " << seen;
  }
  EXPECT_THROW(read_journal(folder / "none.jsonl", model), InputError);
}

TEST_F(JournalTest, BeginsWithWhatTheWindowWasStartedWith) {
  const JournalStart start{"pyramid", "steep", "nsgs", 2.5,  4.0, {"mu=0.1", "dt=0.01"},
                           true,      true,    "cuda", "1.2"};
  JournalFile(file).start(start);
  JournalReader reader(file);
  ASSERT_TRUE(reader.start());
  EXPECT_EQ(reader.start()->scene, start.scene);
  EXPECT_EQ(reader.start()->variant, start.variant);
  EXPECT_EQ(reader.start()->solver, start.solver);
  EXPECT_EQ(reader.start()->scale, start.scale);
  EXPECT_EQ(reader.start()->density, start.density);
  EXPECT_EQ(reader.start()->settings, start.settings);
  EXPECT_TRUE(reader.start()->force && reader.start()->ignore_unknown);
  EXPECT_EQ(reader.start()->backend, start.backend);
  EXPECT_EQ(reader.start()->version, start.version);
  EXPECT_FALSE(reader.next({}));
  std::ofstream(file) << R"({"event": "start", "scene": 3})"
                      << "\n";
  EXPECT_THROW(JournalReader{file}, InputError);
}

TEST_F(JournalTest, LeavesOutALastLineThatWasCutOff) {
  const Model model = test::two_tets("a").model;
  {
    JournalFile journal(file);
    journal.add({0, 0, 0, LoadScene{"a"}}, model);
    journal.add({1, 0.1, 0, Reset{}}, model);
  }
  std::ofstream(file, std::ios::app) << R"({"event": "reset", "fr)";
  EXPECT_EQ(read_journal(file, model).size(), 2u);
  std::ofstream(file, std::ios::app) << "\n";
  EXPECT_THROW(read_journal(file, model), InputError) << "a whole line must be an event";
}

TEST_F(JournalTest, NamesAPlaceItCannotWrite) {
  try {
    JournalFile journal(folder / "none" / "done.jsonl");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("there is no folder"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace stickslip

// The file of what was done in the window.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/io/input_error.h"
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

  const std::vector<json> seen = lines();
  ASSERT_EQ(seen.size(), 16u) << "they are there while the journal is open";
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

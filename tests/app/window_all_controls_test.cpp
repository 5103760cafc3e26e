// All controls of the window are moved once, by a real mouse and real keys, in scenes of each kind: what each
// shows must change, or the journal must say what it did.
#include <ostream>

#include "tests/app/window_controls.h"

namespace stickslip {
namespace {

using test::Control;
using test::eventually;
using test::ProgramWindowControls;

/// An elastic box at rest on the ground.
constexpr const char* jelly = R"(
[camera]
position = [0.7, 0.6, 1.2]
target = [0, 0.2, 0]
[[material]]
name = 'rubber'
young = 1e5
density = 200
mu = 0.3
[[half_space]]
mu = 0.3
[[object]]
name = 'soft'
shape = 'box'
size = [0.4, 0.4, 0.4]
edge = 0.2
material = 'rubber'
position = [0, 0.202, 0]
)";

/// A sheet of cloth and a curl that is held by its root.
constexpr const char* thin = R"(
[params]
d_hat = 2e-3
[camera]
position = [0.3, 1.2, 0.7]
target = [0, 0.2, 0]
[[material]]
name = 'cotton'
young = 1e5
density = 300
mu = 0.3
[[half_space]]
mu = 0.3
[[object]]
name = 'sheet'
body = 'cloth'
shape = 'sheet'
size = [0.4, 0.4]
edge = 0.1
thickness = 1e-3
material = 'cotton'
position = [0, 0.2, 0]
[[object]]
name = 'curl'
body = 'rods'
shape = 'strand'
length = 0.3
segments = 8
diameter = 0.004
hold = 'root'
material = 'cotton'
position = [0.4, 0.5, 0]
)";

/// A scene, and how many controls of each kind its panels have at least.
struct ControlledScene {
  const char *name, *text;
  std::map<std::string, int> left, right;
  bool freezes = false;  // its steps have contact problems for the lab
};
void PrintTo(const ControlledScene& scene, std::ostream* stream) { *stream << scene.name; }

class LongProgramWindowControls : public ProgramWindowControls,
                                  public ::testing::WithParamInterface<ControlledScene> {
 protected:
  /// Presses rows of the table in the lab, a window of its own, until one has iterations to go through. A row
  /// is wider than the column of the names, which clips it.
  bool choose_solver() {
    std::vector<Control> rows;
    for (const Control& control : picture().controls)
      if (control.kind == "choice" && control.window.starts_with("lab/") && control.top >= control.clip_top &&
          control.bottom <= control.clip_bottom)
        rows.push_back(control);
    return std::ranges::any_of(rows, [&](const Control& row) {
      press({0.5 * (row.clip_left + row.clip_right), row.at(0).y});
      const std::optional<Control> slider = find("lab: ##iteration");
      return slider && slider->enabled;
    });
  }
  /// Waits for the end of a race, or cancels it where it has not ended by itself.
  void end_race(bool cancels) {
    const std::optional<Control> cancel = find("lab: Cancel");
    if (cancels && cancel) press(cancel->at(0.5));
    EXPECT_TRUE(eventually([&] {
      const std::optional<Control> again = find("lab: Race again");
      return again && again->enabled;
    })) << "the race does not end";
  }
  void expect_counts(const std::map<std::string, int>& least) const {
    for (const auto& [kind, count] : least)
      EXPECT_GE(counts_.contains(kind) ? counts_.at(kind) : 0, count) << kind;
  }
};

TEST_P(LongProgramWindowControls, OfTheRightPanelAndTheTimelineAreMoved) {
  begin(GetParam().text);
  move_all("right timeline");
  close_and_check();
  expect_counts(GetParam().right);
}

TEST_P(LongProgramWindowControls, OfTheLeftPanelAreMoved) {
  begin(GetParam().text);
  move_all("left");
  close_and_check();
  expect_counts(GetParam().left);
}

/// In its order, since races have to end before their results can be moved.
TEST_P(LongProgramWindowControls, OfTheLabAndTheHelpAreMoved) {
  begin(GetParam().text);
  move("left: Show lab");
  if (GetParam().freezes) {
    for (const char* const key : {"lab: ##budget", "lab: ##tolerance", "lab: warm", "lab: Freeze"}) move(key);
    ASSERT_TRUE(happened("freeze"));
    end_race(false);
    move("lab: Race again");
    end_race(false);
    if (find("lab: Curves"))
      for (const char* const key : {"lab: Curves", "lab: Table"}) move(key);
    ASSERT_TRUE(choose_solver());
    for (const char* const key : {"lab: ##iteration", "lab: ##before", "lab: ##after", "lab: Run through"})
      move(key);
  }
  for (const char* const key : {"lab: Steppers", "lab: ##steps", "lab: Race steppers"}) move(key);
  end_race(true);
  move("lab: Race again");
  end_race(true);
  for (const char* const key : {"lab: Contact solvers", "left: Hide lab"}) move(key);
  hands("key F1");
  move("Keys: Close");
  EXPECT_TRUE(soon([&] { return !find("Keys: Close"); }));
  close_and_check();
}

const std::map<std::string, int> most_left{
    {"section", 10}, {"check", 8}, {"slider", 20}, {"combo", 8}, {"button", 20}};
const std::map<std::string, int> most_right{{"section", 2}, {"check", 8}, {"combo", 3}, {"button", 8}};

INSTANTIATE_TEST_SUITE_P(Scenes, LongProgramWindowControls,
                         ::testing::Values(ControlledScene{"rigid", test::two_boxes, most_left, most_right,
                                                           true},
                                           ControlledScene{"elastic", jelly, most_left, most_right},
                                           ControlledScene{"thin", thin, most_left, most_right}),
                         [](const auto& scene) { return std::string(scene.param.name); });

}  // namespace
}  // namespace stickslip

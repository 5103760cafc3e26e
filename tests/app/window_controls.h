// Controls of the program's window, moved by a real mouse and real keys. The controls are those that
// probe/control_probe.cpp sees.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/app/window_program.h"

namespace stickslip::test {

inline constexpr double kNotch = 60;         // [px] about what one notch of the wheel scrolls
inline constexpr long kSettledPictures = 2;  // after input, until nothing moves any more
inline constexpr long kPatience = 200;       // pictures after which a control that did not change is faulty

/// A box at rest on the ground, and one that slides.
inline constexpr const char* two_boxes = R"(
solver = 'nsgs'
[camera]
position = [2.7, 0.7, 1.2]
target = [2.05, 0.2, 0]
[[material]]
name = 'wood'
density = 500
mu = 0.5
[[half_space]]
mu = 0.5
[[object]]
name = 'still'
body = 'rigid'
shape = 'box'
size = [0.4, 0.4, 0.4]
material = 'wood'
position = [0, 0.2, 0]
[[object]]
name = 'sliding'
body = 'rigid'
shape = 'box'
size = [0.4, 0.4, 0.4]
material = 'wood'
position = [2, 0.2, 0]
velocity = [1, 0, 0.5]
)";

struct Control {
  std::string kind, window, path, value;
  bool enabled = false;
  double left = 0, top = 0, right = 0, bottom = 0;                      // [px]
  double clip_left = 0, clip_top = 0, clip_right = 0, clip_bottom = 0;  // [px] of its window

  explicit Control(const std::string& line) {
    std::istringstream stream(line);
    for (std::string* text : {&kind, &window, &path, &value}) std::getline(stream, *text, '\t');
    stream >> enabled >> left >> top >> right >> bottom >> clip_left >> clip_top >> clip_right >> clip_bottom;
  }
  std::string key() const { return window + ": " + path; }
  Pixel at(double share) const { return {left + share * (right - left), 0.5 * (top + bottom)}; }
  bool is_in_sight() const {
    return top >= clip_top && bottom <= clip_bottom && at(0.5).x >= clip_left && at(0.5).x <= clip_right;
  }
  bool is_in_list() const { return window.starts_with("##Combo"); }
  /// The last part of the path, without what follows ## in it.
  std::string label() const {
    const std::string last = path.substr(path.rfind('/') + 1);
    return last.substr(0, last.find("##"));
  }
};

/// A picture of the window, as the probe wrote it.
struct Picture {
  std::string counts;
  long number = 0, clicks = 0;
  double notches = 0;
  std::vector<Control> controls;
};

class ProgramWindowControls : public ProgramWindowTest {
 protected:
  void SetUp() override {
    ProgramWindowTest::SetUp();
    if (folder_.empty()) return;
    setenv("STICKSLIP_CONTROLS", (folder_ / "controls").c_str(), 1);
    started_ = STICKSLIP_WINDOW_PROBE;
  }
  void TearDown() override {
    unsetenv("STICKSLIP_CONTROLS");
    ProgramWindowTest::TearDown();
  }

  /// The last one; its lines are read once.
  const Picture& picture() {
    std::ifstream stream("controls");
    std::string counts;
    if (!std::getline(stream, counts) || counts == picture_.counts) return picture_;
    picture_ = {};
    picture_.counts = counts;
    std::istringstream(counts) >> picture_.number >> picture_.clicks >> picture_.notches;
    for (std::string line; std::getline(stream, line);) picture_.controls.emplace_back(line);
    return picture_;
  }
  std::optional<Control> find(const std::string& key) {
    for (const Control& control : picture().controls)
      if (control.key() == key) return control;
    return std::nullopt;
  }
  std::string value_of(const std::string& key) {
    const std::optional<Control> control = find(key);
    return control ? control->value : "gone";
  }

  /// Whether it becomes true within the next pictures.
  template <class Done>
  bool soon(Done&& done) {
    const long first = picture().number;
    bool good = false;
    eventually([&] { return (good = done()) || picture().number > first + kPatience; });
    return good;
  }
  bool changes(const std::string& key, const std::string& from) {
    return soon([&] { return value_of(key) != from; });
  }
  /// Waits until the window has got all input, and shows what follows from it. A window that has drawn what
  /// follows from an input draws only once a second: a key without a meaning makes it draw at once.
  void settle() {
    EXPECT_TRUE(eventually([&] { return picture().clicks == clicks_ && picture().notches == notches_; }));
    const long first = picture().number;
    hands("key Shift_L");
    EXPECT_TRUE(eventually([&] { return picture().number >= first + kSettledPictures; }));
  }
  std::string move_to(const Pixel& at) const {
    return "mousemove --window " + id_ + " " + std::to_string(std::lround(at.x)) + " " +
           std::to_string(std::lround(at.y));
  }
  void press(const Pixel& at) {
    hands(move_to(at) + " click 1");
    ++clicks_;
    settle();
  }
  /// Scrolls its panel until it is in sight, by the wheel over the panel's scroll bar.
  std::optional<Control> revealed(const std::string& key) {
    for (int tries = 0; tries < 40; ++tries) {
      const std::optional<Control> control = find(key);
      if (!control || control->is_in_sight()) return control;
      const double middle = 0.5 * (control->clip_top + control->clip_bottom);
      const double by = control->at(0).y - middle;
      const long notches = std::clamp(std::lround(std::abs(by) / kNotch), 1L, 20L);
      hands(move_to({control->clip_right + (control->is_in_list() ? -4 : 6), middle}) + " click --repeat " +
            std::to_string(notches) + " --delay 0 " + (by > 0 ? "5" : "4"));
      notches_ += static_cast<double>(notches);
      settle();
    }
    ADD_FAILURE() << key << " is never in sight";
    return std::nullopt;
  }

  /// Twice, so that it is afterwards as it was.
  void move_check(const Control& control) {
    press(control.at(0.5));
    ASSERT_TRUE(changes(control.key(), control.value));
    const std::string other = value_of(control.key());
    const std::optional<Control> there = revealed(control.key());  // other rows may have come or gone
    if (!there || control.kind == "radio") return;
    press(there->at(0.5));
    ASSERT_TRUE(changes(control.key(), other));
  }
  void move_slider(const Control& control) {
    for (const double share : {0.75, 0.25}) {
      press(control.at(share));
      if (value_of(control.key()) != control.value) return;
    }
    EXPECT_TRUE(changes(control.key(), control.value));
  }
  void move_drag(const Control& control) {
    hands(move_to(control.at(0.5)) + " mousedown 1");
    const long first = picture().number;
    eventually([&] { return picture().number > first + 1; });
    for (const double share : {0.6, 0.8, 1.0}) hands(move_to(control.at(share)));
    EXPECT_TRUE(changes(control.key(), control.value));
    hands("mouseup 1");
    ++clicks_;
    settle();
  }
  std::vector<Control> choices() {
    std::vector<Control> all;
    for (const Control& choice : picture().controls)
      if (choice.is_in_list() && choice.kind == "choice") all.push_back(choice);
    return all;
  }
  /// Opens the list and presses the first choice that is `wanted`; false: there is none.
  template <class Wanted>
  bool choose(const std::string& key, Wanted&& wanted) {
    const std::optional<Control> there = revealed(key);
    if (!there) return false;
    press(there->at(0.5));
    if (!soon([&] { return !choices().empty(); })) {
      ADD_FAILURE() << "it does not open";
      return false;
    }
    settle();
    const std::vector<Control> offered = choices();
    const auto chosen = std::ranges::find_if(offered, wanted);
    if (chosen == offered.end()) {
      press(there->at(0.5));  // closes it
      return false;
    }
    const std::optional<Control> shown = revealed(chosen->key());
    if (!shown) return false;
    press(shown->at(0.3));
    EXPECT_TRUE(soon([&] { return choices().empty(); })) << "it does not close";
    return true;
  }
  void move_combo(const Control& control) {
    const std::string before = control.value;
    if (!choose(control.key(), [&](const Control& choice) {
          return choice.enabled && choice.value == "off" && choice.label() != before;
        }))
      return;  // nothing else can be chosen
    ASSERT_TRUE(changes(control.key(), before));
    const std::string other = value_of(control.key());
    if (choose(control.key(),
               [&](const Control& choice) { return choice.enabled && choice.label() == before; })) {
      EXPECT_TRUE(changes(control.key(), other));
    }
  }
  /// A button may change any control, or do something that the journal records.
  void move_button(const Control& control) {
    const auto shown = [&] {
      std::string all = std::to_string(std::filesystem::file_size("done.jsonl"));
      for (const Control& each : picture().controls)
        all += each.window + each.path + each.value + (each.enabled ? "1" : "0");
      return all;
    };
    const std::string before = shown();
    press(control.at(0.5));
    EXPECT_TRUE(soon([&] { return shown() != before; })) << "nothing happens";
  }
  void move(const Control& control) {
    SCOPED_TRACE(control.kind + " " + control.key() + " at " + control.value);
    ++counts_[control.kind];
    if (control.kind == "check" || control.kind == "radio") return move_check(control);
    if (control.kind == "slider") return move_slider(control);
    if (control.kind == "drag") return move_drag(control);
    if (control.kind == "combo") return move_combo(control);
    move_button(control);
  }

  /// What is never moved, and why.
  static bool is_excluded(const Control& control) {
    static const std::set<std::string> kinds{
        "choice",         // of a list; that of an open one is pressed with its combo
        "field", "text",  // are typed into; window_edits_test.cpp does
    };
    static const std::set<std::string> labels{
        "without effect now",  // its rows are disabled
        "Reload",              // replaces the scene, and with it all that was set
        "Copy",                // changes the clipboard only
    };
    return kinds.contains(control.kind) || labels.contains(control.label()) || control.is_in_list() ||
           (control.kind == "section" && control.value == "on") ||
           (control.kind == "radio" && control.value == "on");
  }
  /// The next one to move, from above: sections when it is their turn, what they hold thereafter, and buttons
  /// last, after all others Play and Clear, which takes the selection away. The button that resets a row
  /// follows its row.
  std::optional<Control> next(std::string_view windows) {
    std::optional<Control> best;
    std::array<double, 3> best_rank{};
    for (const Control& control : picture().controls) {
      if (moved_.contains(control.key()) || !control.enabled || is_excluded(control)) continue;
      if (windows.find(control.window) == std::string_view::npos) continue;
      const bool ends = control.kind == "button" && control.label() != "x";
      const bool is_last = control.label() == "Play" || control.label() == "Clear";
      const double group = is_last ? 2 : ends ? 1 : 0;
      const std::array<double, 3> rank{group, control.window.starts_with("right") ? 1.0 : 0.0, control.top};
      if (!best || rank < best_rank) best = control, best_rank = rank;
    }
    return best;
  }

  void begin(const std::string& scene) {
    std::ofstream("assets/scenes/ball.toml") << scene;
    open({"--fresh", "--quality", "light"});
    id_ = window();
    ASSERT_TRUE(eventually([&] { return find("left: Step").has_value(); }));
    hands("key period");  // so that there is something to report
    ASSERT_TRUE(happened("step"));
    press({640, 340});  // selects a body
    EXPECT_TRUE(eventually([&] { return find("right: Track").has_value(); }));
  }
  void move(const std::string& key) {
    ASSERT_TRUE(soon([&] { return find(key).has_value(); })) << key;
    const std::optional<Control> control = revealed(key);
    ASSERT_TRUE(control && control->enabled) << key;
    move(*control);
  }
  /// Moves the controls of these windows.
  void move_all(std::string_view windows) {
    while (const std::optional<Control> control = next(windows)) {
      moved_.insert(control->key());
      const std::optional<Control> there = revealed(control->key());
      if (there && there->enabled) move(*there);
    }
  }

  std::string id_;  // of the window
  Picture picture_;
  long clicks_ = 0;     // sent
  double notches_ = 0;  // sent
  std::set<std::string> moved_;
  std::map<std::string, int> counts_;  // of the moved ones
};

}  // namespace stickslip::test

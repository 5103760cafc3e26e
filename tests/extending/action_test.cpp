// The action of docs/extending.md expands as those of actions.h do.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include "app/viewer/panels/panel_context.h"

namespace stickslip {
namespace {

// clang-format off
#define EXAMPLE_ACTIONS(ACTION, OVERLAY_SWITCH) \
  /* [row] */ \
  ACTION(hide_all, "Hide all", KEYS({GLFW_KEY_H, GLFW_MOD_SHIFT}), "hide the panels, the log and the lab", none, "", \
         t.view().panels = t.view().log = t.view().lab = false) \
  /* [/row] */
// clang-format on

enum class ExampleId {
#define EXAMPLE_ID(id, ...) id,
  EXAMPLE_ACTIONS(EXAMPLE_ID, EXAMPLE_ID)
};

/// The window's state without a window.
class Target final : public ActionTarget {
 public:
  Simulation& simulation() override { throw std::logic_error("not needed"); }
  ViewState& view() override { return view_; }
  void switch_scene(int) override {}
  void frame_camera() override {}
  void view_from(float, float) override {}
  void ask_screenshot() override {}
  void toggle_video() override {}
  void save_report() override {}
  void save_plots() override {}
  void pick_worst_contact() override {}
  void save_scene() override {}
  void save_bundle() override {}
  void open_outputs() override {}
  void shoot() override {}
  void add_object() override {}
  void add_camera_key() override {}
  void quit() override {}

 private:
  ViewState view_;
};

Action example_action() {
  using namespace ActionTrait;
#define KEYS(...) \
  { __VA_ARGS__ }
#define EXAMPLE_ACTION(id, label, keys, meaning, traits, reason, effect)            \
  Action {                                                                          \
    static_cast<ActionId>(ExampleId::id), #id, keys, label, meaning, traits,        \
        []([[maybe_unused]] const Simulation& s) -> const char* { return reason; }, \
        []([[maybe_unused]] ActionTarget& t) { effect; }                            \
  }
  return EXAMPLE_ACTIONS(EXAMPLE_ACTION, EXAMPLE_ACTION);
}

TEST(Extending, TheExampleActionActs) {
  const Action action = example_action();
  EXPECT_EQ(chords_text(action), "Shift+H");
  EXPECT_EQ(find_action(GLFW_KEY_H, nullptr, GLFW_MOD_SHIFT), nullptr)
      << "the page's key is taken: choose another";
  Target target;
  target.view().log = true;
  action.effect(target);
  EXPECT_FALSE(target.view().log || target.view().panels || target.view().lab);
}

TEST(Extending, RowsOfFlagsNeedNoWindow) {
  Target target;
  for (const OverlayInfo& overlay : overlay_table()) {
    perform(find_action(overlay.key, nullptr, 0)->id, target);
    EXPECT_TRUE(target.view().overlays.*overlay.flag) << overlay.name;
  }
}

}  // namespace
}  // namespace stickslip

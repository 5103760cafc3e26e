// The action of docs/extending.md expands as those of actions.h do.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include "tests/app/idle_target.h"

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
  test::IdleTarget target;
  target.view().log = true;
  action.effect(target);
  EXPECT_FALSE(target.view().log || target.view().panels || target.view().lab);
}

TEST(Extending, RowsOfFlagsNeedNoWindow) {
  test::IdleTarget target;
  for (const OverlayInfo& overlay : overlay_table()) {
    perform(find_action(overlay.key, nullptr, 0)->id, target);
    EXPECT_TRUE(target.view().overlays.*overlay.flag) << overlay.name;
  }
}

}  // namespace
}  // namespace stickslip

#include "app/viewer/actions.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <map>

namespace stickslip {
namespace {

TEST(Actions, NoTwoActionsShareAKey) {
  std::map<std::string, std::string_view> taken;
  for (const Action& action : action_table())
    for (const Chord& chord : action.chords) {
      const auto [entry, fresh] = taken.emplace(chord_text(chord), action.meaning);
      EXPECT_TRUE(fresh) << chord_text(chord) << ": " << entry->second << " and " << action.meaning;
    }
}

TEST(Actions, EveryActionIsReachedByEachOfItsKeysAndStandsInTheTableOnce) {
  std::map<ActionId, int> seen;
  const std::string markdown = key_table_markdown();
  for (const Action& action : action_table()) {
    EXPECT_EQ(++seen[action.id], 1);
    ASSERT_FALSE(action.chords.empty());
    EXPECT_EQ(shortcut(action.id), chord_text(action.chords.front()));
    for (const Chord& chord : action.chords) {
      const Action* found = chord.character != 0 ? find_action(static_cast<char32_t>(chord.character))
                                                 : find_action(chord.key, nullptr, chord.mods);
      ASSERT_NE(found, nullptr) << chord_text(chord);
      EXPECT_EQ(found->id, action.id);
      EXPECT_NE(markdown.find("`" + chord_text(chord) + "`"), std::string::npos) << chord_text(chord);
      EXPECT_EQ(chord_text(chord).find("key "), std::string::npos) << "a number is no name of a key";
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(ActionId::quit) + 1);
}

TEST(Actions, TheTableIsIndexedByIds) {
  const auto table = action_table();
  for (std::size_t i = 0; i < table.size(); ++i) EXPECT_EQ(static_cast<std::size_t>(table[i].id), i);
}

TEST(Actions, EveryOverlayHasASwitchOnItsKey) {
  for (const OverlayInfo& overlay : overlay_table()) {
    const Action* found = find_action(overlay.key, nullptr, 0);
    ASSERT_NE(found, nullptr) << overlay.name;
    EXPECT_EQ(found->meaning, overlay.meaning);
    EXPECT_EQ(found->label, overlay.label);
  }
}

TEST(Actions, TheContractOfKeys) {
  const auto id = [](int key, int mods = 0) { return find_action(key, nullptr, mods)->id; };
  EXPECT_EQ(id(GLFW_KEY_SPACE), ActionId::toggle_play);
  EXPECT_EQ(id(GLFW_KEY_P), ActionId::toggle_play);
  EXPECT_EQ(id(GLFW_KEY_RIGHT), ActionId::step);
  EXPECT_EQ(find_action(U'.')->id, ActionId::step);
  EXPECT_EQ(id(GLFW_KEY_R), ActionId::reset);
  EXPECT_EQ(id(GLFW_KEY_R, GLFW_MOD_SHIFT), ActionId::reset_all);
  EXPECT_EQ(id(GLFW_KEY_R, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT), ActionId::toggle_video);
  EXPECT_EQ(find_action(U'[')->id, ActionId::previous_scene);
  EXPECT_EQ(find_action(U']')->id, ActionId::next_scene);
  EXPECT_EQ(find_action(U',')->id, ActionId::step_back);
  EXPECT_EQ(id(GLFW_KEY_LEFT), ActionId::step_back);
  EXPECT_EQ(id(GLFW_KEY_HOME), ActionId::first_moment);
  EXPECT_EQ(id(GLFW_KEY_END), ActionId::last_moment);
  EXPECT_EQ(id(GLFW_KEY_F5), ActionId::keep_state);
  EXPECT_EQ(id(GLFW_KEY_F9), ActionId::return_to_kept);
  EXPECT_EQ(id(GLFW_KEY_F12), ActionId::screenshot);
  EXPECT_EQ(id(GLFW_KEY_F1), ActionId::toggle_help);
  EXPECT_EQ(find_action(U'?')->id, ActionId::toggle_help);
  EXPECT_EQ(id(GLFW_KEY_Q, GLFW_MOD_CONTROL), ActionId::quit);
}

TEST(Actions, ModifiersCountAndLocksDoNot) {
  EXPECT_EQ(find_action(GLFW_KEY_R, nullptr, GLFW_MOD_CONTROL), nullptr);
  EXPECT_EQ(find_action(GLFW_KEY_Q, nullptr, 0), nullptr);
  EXPECT_EQ(find_action(GLFW_KEY_F, nullptr, GLFW_MOD_NUM_LOCK | GLFW_MOD_CAPS_LOCK)->id,
            ActionId::frame_view);
}

TEST(Actions, LettersFollowTheLayout) {
  // The key at the place of A on a US keyboard types q on a French one.
  EXPECT_EQ(find_action(GLFW_KEY_A, "q", GLFW_MOD_CONTROL)->id, ActionId::quit);
  EXPECT_EQ(find_action(GLFW_KEY_Q, "a", GLFW_MOD_CONTROL), nullptr);
}

}  // namespace
}  // namespace stickslip

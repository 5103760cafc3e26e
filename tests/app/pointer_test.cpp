#include "app/viewer/pointer.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/app/fake_engine.h"

namespace stickslip {
namespace {

using Button = Pointer::Button;

/// The loaded two tetrahedra, and a camera at +z that views the lower one through a window of 400 x 400.
class PointerTest : public ::testing::Test {
 protected:
  PointerTest()
      : simulation_([] { return std::make_unique<test::FakeEngine>(); }, test::two_tets),
        camera_(Camera::look_at({0.25f, 0.25f, 6}, {0.25f, 0.25f, 0}, 40)),
        pointer_(simulation_, camera_) {
    simulation_.post(LoadScene{"a"});
    while (!simulation_.status().loaded || simulation_.is_changing_content()) {
      simulation_.update();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    pointer_.resize(400, 400);
  }

  /// The journal, once it has `count` entries.
  std::vector<JournalEntry> journal(std::size_t count) {
    while (simulation_.journal().size() < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return simulation_.journal();
  }

  Simulation simulation_;
  Camera camera_;
  Pointer pointer_;
};

TEST_F(PointerTest, AClickPicksAndATrembleIsStillAClick) {
  pointer_.move(200, 200);
  pointer_.press(Button::left, {});
  pointer_.move(201, 201);
  const float yaw = camera_.yaw;
  pointer_.release(Button::left);
  const std::optional<Click> click = pointer_.take_click();
  ASSERT_TRUE(click);
  EXPECT_EQ(click->object, 0);
  EXPECT_FALSE(click->contact);
  EXPECT_FALSE(pointer_.take_click());
  EXPECT_EQ(camera_.yaw, yaw);
  pointer_.move(5, 5);
  pointer_.press(Button::left, {});
  pointer_.release(Button::left);
  EXPECT_EQ(pointer_.take_click().value_or(Click{5, {}}).object, -1) << "the background";
}

TEST_F(PointerTest, AClickOnAMarkPicksTheContactBeforeTheBody) {
  std::vector<ContactRecord> contacts(1);
  contacts[0].point = {0.25f, 0.25f, 0.5f};  // on the face that is seen
  contacts[0].multiplier = 3;
  const auto click_on_it = [&] {
    pointer_.set_marks(contacts);
    pointer_.move(202, 201);
    pointer_.press(Button::left, {});
    pointer_.release(Button::left);
    return pointer_.take_click().value_or(Click{5, {}});
  };
  const Click click = click_on_it();
  ASSERT_TRUE(click.contact);
  EXPECT_EQ(click.contact->multiplier, 3);
  EXPECT_EQ(click.object, -1);
  contacts[0].point = {0.25f, 0.25f, 0};  // behind it, where no mark is drawn
  EXPECT_FALSE(click_on_it().contact);
  EXPECT_EQ(click_on_it().object, 0);
}

TEST_F(PointerTest, HoveringFindsMarksAndSurfacesButNothingDuringAGesture) {
  std::vector<ContactRecord> contacts(1);
  contacts[0].point = {0.25f, 0.25f, 0.5f};  // on the face that is seen
  contacts[0].multiplier = 3;
  pointer_.set_marks(contacts);
  pointer_.move(202, 201);
  EXPECT_FALSE(pointer_.hovered(true)) << "a window that opens below a pointer at rest";
  pointer_.move(203, 201);
  pointer_.move(202, 201);
  const std::optional<Hovered> mark = pointer_.hovered(false);
  ASSERT_TRUE(mark && mark->contact);
  EXPECT_EQ(mark->contact->multiplier, 3);
  EXPECT_EQ(mark->at[0], 202);
  EXPECT_FALSE(pointer_.take_click()) << "it selects nothing";
  for (const Button button : {Button::left, Button::middle, Button::right}) {
    pointer_.press(button, {});
    EXPECT_FALSE(pointer_.hovered(true));
    pointer_.release(button);
    EXPECT_TRUE(pointer_.hovered(true));
    pointer_.take_click();
  }
  contacts[0].point = {0.25f, 0.25f, 0};  // behind it, where no mark is drawn
  const std::optional<Hovered> surface = pointer_.hovered(true);
  ASSERT_TRUE(surface && surface->pick);
  EXPECT_FALSE(surface->contact);
  EXPECT_EQ(surface->pick->object, 0);
  pointer_.set_marks({});
  EXPECT_FALSE(pointer_.hovered(false)) << "nothing is shown of surfaces";
  pointer_.move(5, 5);
  const std::optional<Hovered> nothing = pointer_.hovered(true);
  EXPECT_FALSE(nothing && (nothing->pick || nothing->contact)) << "the background";
}

TEST_F(PointerTest, ALeftDragOrbitsAndPicksNothing) {
  pointer_.move(200, 200);
  pointer_.press(Button::left, {});
  const float yaw = camera_.yaw;
  for (int i = 1; i <= 20; ++i) pointer_.move(200.0f + 3.0f * static_cast<float>(i), 200);
  pointer_.release(Button::left);
  EXPECT_NE(camera_.yaw, yaw);
  EXPECT_FALSE(pointer_.take_click());
}

TEST_F(PointerTest, MiddleAndShiftPanRightAndWheelZoom) {
  for (const bool middle : {true, false}) {
    const Vec3f target = camera_.target;
    const float yaw = camera_.yaw;
    pointer_.move(200, 200);
    pointer_.press(middle ? Button::middle : Button::left, {.shift = !middle});
    pointer_.move(240, 200);
    pointer_.release(middle ? Button::middle : Button::left);
    EXPECT_GT(norm(camera_.target - target), 1e-3f);
    EXPECT_EQ(camera_.yaw, yaw);
  }
  const float distance = camera_.distance;
  pointer_.scroll(1);
  EXPECT_LT(camera_.distance, distance);
  pointer_.press(Button::right, {});
  pointer_.move(240, 300);
  pointer_.release(Button::right);
  EXPECT_GT(camera_.distance, distance);
}

TEST_F(PointerTest, ControlDragPullsInThePlaneOfTheGrabbedPoint) {
  pointer_.move(200, 200);
  pointer_.press(Button::left, {.control = true});
  ASSERT_TRUE(pointer_.drag_line());
  const Vec3f from = pointer_.drag_line()->from;
  pointer_.move(260, 170);
  const DragLine line = *pointer_.drag_line();
  EXPECT_LT(norm(line.from - from), 1e-4f) << "nothing has moved yet";
  EXPECT_GT(line.to[0], line.from[0]);
  EXPECT_GT(line.to[1], line.from[1]);
  EXPECT_NEAR(dot(line.to - line.from, camera_.forward()), 0, 1e-4f);
  // The pointer is over its target.
  const Vec3f pixel = camera_.project(line.to, 400, 400);
  EXPECT_NEAR(pixel[0], 260, 0.5f);
  EXPECT_NEAR(pixel[1], 170, 0.5f);
  pointer_.release(Button::left);
  EXPECT_FALSE(pointer_.drag_line());

  const std::vector<JournalEntry> entries = journal(4);
  const auto& start = std::get<DragStart>(entries[1].command).drag;
  EXPECT_NEAR(start.weights[0] + start.weights[1] + start.weights[2], 1, 1e-6);
  EXPECT_LT(norm(std::get<DragMove>(entries[2].command).target.cast<float>() - line.to), 1e-5f);
  EXPECT_TRUE(std::holds_alternative<DragEnd>(entries[3].command));
}

TEST_F(PointerTest, TheWheelStiffensAPullWithinTheRangeAndDoesNotZoom) {
  const auto stiffness = [&] { return simulation_.settings().params.drag_stiffness; };
  const float distance = camera_.distance;
  const double before = stiffness();
  pointer_.move(200, 200);
  pointer_.press(Button::left, {.control = true});
  pointer_.scroll(2);
  EXPECT_NEAR(stiffness(), 1.25 * 1.25 * before, 1e-9 * before);
  pointer_.scroll(-2);
  EXPECT_NEAR(stiffness(), before, 1e-9 * before);
  pointer_.scroll(1000);
  EXPECT_EQ(stiffness(), find_param(param_table(), "drag_stiffness")->high);
  pointer_.scroll(-1000);
  const double least = stiffness();
  EXPECT_GT(least, 0);
  pointer_.scroll(1);
  EXPECT_GT(stiffness(), least) << "it never sticks at 0";
  EXPECT_EQ(camera_.distance, distance);
  pointer_.release(Button::left);
  const double kept = stiffness();
  pointer_.scroll(1);
  EXPECT_EQ(stiffness(), kept);
  EXPECT_LT(camera_.distance, distance);
}

TEST_F(PointerTest, ControlDragOnTheBackgroundPullsNothing) {
  pointer_.move(5, 5);
  pointer_.press(Button::left, {.control = true});
  EXPECT_FALSE(pointer_.drag_line());
  pointer_.release(Button::left);
  EXPECT_FALSE(pointer_.take_click());
  EXPECT_EQ(simulation_.journal().size(), 1u);
}

// The object of a pull goes, is put elsewhere, or starts anew: the pull ends with the edit, before the window
// shows what has come of it, and moves of the pointer pull nothing.
TEST_F(PointerTest, APullEndsWithAnEditOfTheScene) {
  for (const Command& edit : std::vector<Command>{RemoveObject{"low"}, MoveObject{"low", {0, 1, 0}}, Reset{},
                                                  ResetAll{}, Rewind{0}, LoadScene{"b"}}) {
    SCOPED_TRACE(edit.index());
    const auto settle = [&] {
      while (simulation_.update() || !simulation_.is_caught_up() || simulation_.is_changing_content())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    simulation_.post(LoadScene{"a"});
    settle();
    pointer_.move(200, 200);
    pointer_.press(Button::left, {.control = true});
    ASSERT_TRUE(pointer_.drag_line());
    simulation_.post(edit);
    const std::size_t before = journal(1).size();
    pointer_.move(260, 170);
    EXPECT_FALSE(pointer_.drag_line());
    EXPECT_FALSE(pointer_.busy());
    pointer_.release(Button::left);
    settle();
    bool pulled = false;
    for (const JournalEntry& entry : simulation_.journal(before))
      pulled |= std::holds_alternative<DragMove>(entry.command);
    EXPECT_FALSE(pulled);
  }
}

// What is picked while a change of the scene is under way are nodes of the old scene. They may be those of
// another object in the new one.
TEST_F(PointerTest, NoPullStartsWhileTheSceneChanges) {
  simulation_.post(LoadScene{"b"});
  pointer_.move(200, 200);
  pointer_.press(Button::left, {.control = true});
  EXPECT_FALSE(pointer_.drag_line());
  pointer_.release(Button::left);
  while (simulation_.update() || simulation_.is_changing_content())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  pointer_.press(Button::left, {.control = true});
  EXPECT_TRUE(pointer_.drag_line());
  pointer_.release(Button::left);
  int starts = 0;
  for (const JournalEntry& entry : journal(4)) starts += std::holds_alternative<DragStart>(entry.command);
  EXPECT_EQ(starts, 1);
}

TEST_F(PointerTest, CancelEndsAPull) {
  pointer_.move(200, 200);
  pointer_.press(Button::left, {.control = true});
  pointer_.cancel();
  EXPECT_FALSE(pointer_.drag_line());
  EXPECT_TRUE(std::holds_alternative<DragEnd>(journal(3)[2].command));
}

}  // namespace
}  // namespace stickslip

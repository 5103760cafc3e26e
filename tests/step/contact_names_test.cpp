// Bodies and contacts in snapshots: poses, and contact names that persist between steps.
#include <set>

#include "tests/fixtures/box_model.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::add_rigid_box;
using fixtures::pose_at;

class ContactNames : public fixtures::VelocityStepTest {
 protected:
  ContactNames() { params.dt = Params{}.dt; }  // as running scenes

  Snapshot after(int steps) {
    run_unconverged(steps);
    Snapshot snapshot;
    engine->snapshot(snapshot);
    return snapshot;
  }

  /// Names of the contacts with a force; they must be distinct.
  std::set<std::uint64_t> loaded_names(const Snapshot& snapshot) {
    std::set<std::uint64_t> names;
    for (const ContactRecord& contact : snapshot.contacts) {
      if (contact.state == ContactState::open) continue;
      EXPECT_NE(contact.name, 0u);
      EXPECT_TRUE(names.insert(contact.name).second);
    }
    return names;
  }

  void expect_names_to_stay(Model& model, int settle) {
    if (!model.tets.empty()) finalize(model);
    load(model);
    const std::set<std::uint64_t> before = loaded_names(after(settle));
    EXPECT_GE(before.size(), 3u);
    EXPECT_EQ(loaded_names(after(1)), before);
  }
};

TEST_P(ContactNames, StayWhileARigidBoxSlides) {
  Model model;
  fixtures::add_floor(model);
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1, 0}));
  model.bodies[0].velocity = {2, 0, 0};
  expect_names_to_stay(model, 5);
  const Snapshot snapshot = after(1);
  const State state = engine->state();
  ASSERT_EQ(snapshot.poses.size(), 1u);
  EXPECT_EQ(snapshot.poses[0].x, state.bodies[0].pose.x);
  EXPECT_EQ(snapshot.poses[0].q.v, state.bodies[0].pose.q.v);
}

TEST_P(ContactNames, StayWhileASolidRestsOnARigidSlab) {
  Model model;
  add_rigid_box(model, {0.4, 0.05, 0.4}, pose_at({0, 0.05, 0}));
  fixtures::add_floor(model);
  add_box(model, "block", {0.4, 0.4, 0.4}, {0, 0.3, 0}, 2);
  model.materials[0].damping = 0.05;
  expect_names_to_stay(model, 100);
}

TEST_P(ContactNames, StayWhileASolidRestsInsideTheBarrier) {
  params.solver = SolverKind::ipc;
  Model model;
  add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.06, 0}, 2);
  model.half_spaces.push_back({});
  expect_names_to_stay(model, 120);
  EXPECT_TRUE(after(0).poses.empty());
}

INSTANTIATE_ON_BACKENDS(ContactNames);

}  // namespace
}  // namespace stickslip

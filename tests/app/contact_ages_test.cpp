// Ages of contacts, and the areas that their pressures need, in a simulation.
#include "app/viewer/contact_ages.h"

#include <algorithm>
#include <cmath>

#include "tests/app/simulation_fixture.h"
#include "tests/fixtures/box_model.h"

namespace stickslip {
namespace {

using test::fake;
using test::reached;
using test::two_tets;

ContactRecord pushing(std::uint64_t name) {
  ContactRecord contact;
  contact.name = name;
  contact.state = ContactState::stick;
  contact.normal_force = 1;
  return contact;
}

TEST(ContactAges, CountFromTheFirstFrameInWhichAContactPushes) {
  ContactAges ages;
  std::vector<ContactRecord> contacts{pushing(1), pushing(2), pushing(0)};
  contacts[1].state = ContactState::open;
  ages.observe(3.0, contacts);
  EXPECT_EQ(contacts[0].age, 0);
  EXPECT_EQ(contacts[1].age, 0);
  EXPECT_LT(contacts[2].age, 0) << "it has no name";
  contacts[1].state = ContactState::slip;
  ages.observe(3.25, contacts);
  EXPECT_EQ(contacts[0].age, 0.25f);
  EXPECT_EQ(contacts[1].age, 0);
  contacts[0].state = ContactState::open;
  ages.observe(3.5, contacts);
  contacts[0].state = ContactState::slip;
  ages.observe(3.75, contacts);
  EXPECT_EQ(contacts[0].age, 0) << "it let go in between";
  EXPECT_EQ(contacts[1].age, 0.5f);
  ages.observe(3.75, contacts);
  EXPECT_EQ(contacts[1].age, 0.5f) << "the same frame again";
  ages.clear();
  ages.observe(4, contacts);
  EXPECT_EQ(contacts[1].age, 0);
}

TEST(ContactAges, OfContactsThatBeganUnobservedAreNotKnown) {
  ContactAges ages;
  std::vector<ContactRecord> contacts{pushing(1), pushing(2)};
  ages.miss();
  contacts[1].state = ContactState::open;
  ages.observe(3.0, contacts);
  EXPECT_LT(contacts[0].age, 0);
  contacts[1].state = ContactState::stick;
  ages.observe(3.5, contacts);
  ages.observe(4.0, contacts);
  EXPECT_LT(contacts[0].age, 0) << "it still pushes";
  EXPECT_EQ(contacts[1].age, 0.5f) << "it was seen to begin";
  contacts[0].state = ContactState::open;
  ages.observe(4.5, contacts);
  contacts[0].state = ContactState::stick;
  ages.observe(5.0, contacts);
  ages.observe(5.25, contacts);
  EXPECT_EQ(contacts[0].age, 0.25f);
}

TEST(ContactAges, GoOnFromARestoredFrame) {
  std::vector<ContactRecord> contacts{pushing(1), pushing(2)};
  contacts[0].age = 2;
  ContactAges ages;
  ages.restore(5, contacts);
  ages.observe(5.5, contacts);
  EXPECT_EQ(contacts[0].age, 2.5f);
  EXPECT_LT(contacts[1].age, 0) << "its age was not known";
}

class AgesOfARun : public ::testing::Test {
 protected:
  /// A contact that pushes from step 4 on, and steps of dt.
  AgesOfARun()
      : simulation(fake([](test::FakeEngine& engine) {
                     engine.contacts = {pushing(7)};
                     engine.contacts[0].state = ContactState::open;
                     engine.on_step = [&engine](int frame) {
                       engine.contacts[0].state = frame >= 3 ? ContactState::stick : ContactState::open;
                     };
                   }),
                   two_tets) {
    simulation.want_contact_details(true);
    simulation.post(LoadScene{"a"});
  }

  float age_at(int frame) {
    for (int i = simulation.status().frame; i < frame; ++i) simulation.step_once();
    EXPECT_TRUE(reached(simulation, [&] {
      return simulation.is_caught_up() && simulation.frame().snapshot.frame == frame &&
             simulation.frame().snapshot.contacts.size() == 1;
    }));
    return simulation.frame().snapshot.contacts.at(0).age;
  }

  Simulation simulation;
  const double dt = Params{}.dt;
};

TEST_F(AgesOfARun, CountEveryStepAndAreThoseOfTheFrameAfterARewind) {
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().loaded; }));
  EXPECT_NEAR(age_at(30), 26 * dt, 1e-6);
  simulation.post(Rewind{10});
  EXPECT_NEAR(age_at(10), 6 * dt, 1e-6) << "no frame may have shown this step";
  EXPECT_NEAR(age_at(12), 8 * dt, 1e-6);
  simulation.post(Reset{});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.frame().snapshot.frame == 0; }));
  EXPECT_NEAR(age_at(6), 2 * dt, 1e-6);
}

/// A box of 0.2 x 0.1 x 0.4 m that falls by 5 cm on the floor.
Scene falling_box(const std::string& name, const std::string& /*variant*/) {
  Scene scene;
  scene.name = name;
  Model& model = scene.model;
  model.material_names = {"wood"};
  model.materials = {Material{}};
  BodyStart start;
  start.pose.x = {0, 0.1, 0};
  add_body(model, "box", assemble({test::box_part({0.1, 0.05, 0.2})}), 0, start);
  model.half_spaces.push_back({});
  finalize(model);
  scene.params.solver = SolverKind::velocity;
  return scene;
}

/// A cube of 0.1 m of 27 nodes, 1 mm above the floor.
Scene soft_cube(const std::string& name, const std::string& /*variant*/) {
  Scene scene;
  scene.name = name;
  scene.params.solver = SolverKind::ipc;
  fixtures::add_box(scene.model, "cube", {0.1, 0.1, 0.1}, {0, 0.051, 0}, 2);
  scene.model.half_spaces.push_back({});
  finalize(scene.model);
  return scene;
}

class ContactDetails : public ::testing::Test {
 protected:
  void load(const Simulation::SceneLoader& scene, double dt) {
    simulation.emplace([] { return make_engine(Backend::cpu, 1); }, scene);
    simulation->want_contact_details(true);
    simulation->post(LoadScene{"a"});
    simulation->post(ParamEdit{"dt", dt});
    ASSERT_TRUE(reached(*simulation, [&] {
      return simulation->is_caught_up() && simulation->status().loaded;
    })) << simulation->status().error;
  }
  const Snapshot& step_to(int frame) {
    simulation->step_once();
    EXPECT_TRUE(reached(*simulation, [&] {
      return simulation->is_caught_up() && simulation->frame().snapshot.frame == frame;
    })) << simulation->status().error;
    return simulation->frame().snapshot;
  }
  /// Sums of area [m^2] and of pressure times area [N].
  Vec<double, 2> sums() const {
    Vec<double, 2> sum{0, 0};
    for (const ContactRecord& contact : simulation->frame().snapshot.contacts) {
      EXPECT_GT(contact.area, 0);
      sum += Vec<double, 2>{contact.area, static_cast<double>(contact.pressure()) * contact.area};
    }
    return sum;
  }

  std::optional<Simulation> simulation;
};

TEST_F(ContactDetails, ABoxOnTheFloorHasTheAgeOfItsLandingAndThePressureOfItsWeight) {
  load(falling_box, 0.01);
  std::optional<double> touched;
  for (int i = 1; i <= 80; ++i) {
    const Snapshot& now = step_to(i);
    const bool pushes = std::ranges::any_of(
        now.contacts, [](const ContactRecord& contact) { return contact.state != ContactState::open; });
    if (!pushes) touched.reset();
    else if (!touched) touched = now.time;
  }
  ASSERT_TRUE(touched);
  EXPECT_NEAR(*touched, std::sqrt(2 * 0.05 / 9.81), 0.02) << "free fall by 5 cm";
  const Snapshot& now = simulation->frame().snapshot;
  ASSERT_EQ(now.contacts.size(), 4u);
  for (const ContactRecord& contact : now.contacts) EXPECT_NEAR(contact.age, now.time - *touched, 1e-5);
  const double weight = 9.81 * 0.008 * Material{}.density;
  EXPECT_NEAR(sums()[0], 0.08, 1e-6);
  EXPECT_NEAR(sums()[1], weight, 1e-3 * weight);
}

TEST_F(ContactDetails, NodesOfASoftCubeShareItsFace) {
  load(soft_cube, 0.02);
  for (int i = 1; i <= 60; ++i) step_to(i);
  ASSERT_EQ(simulation->frame().snapshot.contacts.size(), 9u);
  const double weight = 9.81 * 0.001 * Material{}.density;
  EXPECT_NEAR(sums()[0], 0.01, 2e-4) << "wider by its load";
  EXPECT_NEAR(sums()[1], weight, 0.02 * weight);
}

}  // namespace
}  // namespace stickslip

// Shared positions between the simulation's thread and the window's.
#include "app/viewer/picking.h"
#include "app/viewer/position_link.h"
#include "interop_fixture.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

using test::FakeEngine;

/// Slots in memory of the test.
struct HostSlots {
  explicit HostSlots(std::size_t count) : nodes(count), memory(PositionSlots::count * count) {}
  PositionOffer offer() {
    PositionOffer made{{ShareKind::mapped, "as asked"}};
    made.slots = std::make_shared<PositionSlots>([this](const SlotHold& hold) {
      return std::span<const Vec3f>(memory).subspan(hold.index() * nodes, nodes);
    });
    made.target.nodes = nodes;
    made.target.slots = PositionSlots::count;
    made.target.stride = nodes * sizeof(Vec3f);
    made.target.host = reinterpret_cast<std::byte*>(memory.data());
    return made;
  }
  std::size_t nodes;
  std::vector<Vec3f> memory;
};

test::Setup sharing_engine() {
  return [](FakeEngine& engine) {
    engine.on_share = [](const PositionTarget&) { return Sharing{ShareKind::mapped, ""}; };
  };
}

class SharedSimulation {
 public:
  explicit SharedSimulation(test::Setup setup) : simulation(test::fake(std::move(setup)), test::two_tets) {
    simulation.post(LoadScene{"a"});
    EXPECT_TRUE(test::reached(simulation, [&] { return simulation.status().loaded; }));
  }
  void share(HostSlots& memory) { simulation.share(simulation.frame().scene, memory.offer()); }
  bool reached(const std::function<bool()>& done) { return test::reached(simulation, done); }
  Simulation simulation;
};

TEST(InteropSimulation, FramesHaveSlotsInPlaceOfPositions) {
  HostSlots memory(8);
  SharedSimulation shared(sharing_engine());
  Simulation& simulation = shared.simulation;
  EXPECT_EQ(simulation.frame().snapshot.positions.size(), 8u);
  EXPECT_EQ(simulation.status().sharing.kind, ShareKind::staged);
  shared.share(memory);
  ASSERT_TRUE(shared.reached([&] { return bool(simulation.frame().shared); })) << "without a step, too";
  EXPECT_EQ(describe(simulation.status().sharing), "mapped (one transfer): as asked");
  for (int i = 1; i <= 20; ++i) {
    simulation.step_once();
    ASSERT_TRUE(test::at_rest_after(simulation, i));
    ASSERT_TRUE(shared.reached([&] { return simulation.frame().snapshot.frame == i; }));
    EXPECT_TRUE(simulation.frame().snapshot.positions.empty());
    ASSERT_EQ(simulation.frame().positions().size(), 8u);
    EXPECT_NEAR(simulation.frame().positions()[0][1], 0.01 * i, 1e-5);
  }
  simulation.post(Reset{});
  ASSERT_TRUE(shared.reached([&] { return simulation.frame().snapshot.frame == 0; }));
  EXPECT_EQ(simulation.frame().positions()[0][1], 0);
}

/// A picture of each of the first steps, through the window's path.
class InteropLinkTest : public InteropTest {
 protected:
  struct Seen {
    std::vector<Image> pictures;
    std::vector<std::uint64_t> bytes;
    std::string text;
  };
  Seen watch(Interop interop, test::Setup setup) {
    SharedSimulation shared(std::move(setup));
    Simulation& simulation = shared.simulation;
    Renderer own({.quality = Quality::light, .validation = true, .interop = interop});
    PositionLink link(own, simulation);
    link.set_scene(simulation.frame().scene);
    EXPECT_TRUE(shared.reached([&] {
      const Sharing& now = simulation.status().sharing;
      return now.kind == ShareKind::staged ? !now.note.empty() : bool(simulation.frame().shared);
    }));
    view.camera = Camera::look_at({4, 4, 9}, {0, 2.5f, 0}, 50);
    Seen seen;
    for (int step = 1; step <= 6; ++step) {
      simulation.step_once();
      EXPECT_TRUE(test::at_rest_after(simulation, step));
      link.take(simulation.frame());
      seen.pictures.push_back(own.render_offscreen(view, kWidth, kHeight));
      link.drawn();
      if (step > 1) seen.bytes.push_back(link.picture_bytes());
    }
    seen.text = link.text();
    EXPECT_EQ(own.validation_messages().size(), 0u) << own.validation_messages().front();
    return seen;
  }
};

TEST_F(InteropLinkTest, APictureCopiesNothingUnlessItMust) {
  const std::uint64_t nodes = 8 * sizeof(Vec3f);
  const Seen mapped = watch(Interop::automatic, sharing_engine());
  EXPECT_EQ(mapped.text, "mapped (no copy)");
  EXPECT_EQ(mapped.bytes, std::vector<std::uint64_t>(5, 0));
  const Seen off = watch(Interop::off, sharing_engine());
  EXPECT_EQ(off.text, "staged: switched off");
  EXPECT_EQ(off.bytes, std::vector<std::uint64_t>(5, 3 * nodes)) << "snapshot, scene, picture";
  const Seen refused = watch(Interop::automatic, {});
  EXPECT_EQ(refused.text, "staged: a fake shares nothing");
  EXPECT_EQ(refused.bytes, off.bytes);
  for (std::size_t i = 0; i < off.pictures.size(); ++i) {
    EXPECT_EQ(mapped.pictures[i].rgba, off.pictures[i].rgba) << i;
    EXPECT_EQ(refused.pictures[i].rgba, off.pictures[i].rgba) << i;
  }
  EXPECT_NE(off.pictures.front().rgba, off.pictures.back().rgba);
}

TEST_F(InteropLinkTest, ReadingWhereNodesAreIsCounted) {
  SharedSimulation shared([](FakeEngine& engine) {
    engine.on_share = [](const PositionTarget&) { return Sharing{ShareKind::mapped, ""}; };
  });
  Renderer own({.quality = Quality::light});
  PositionLink link(own, shared.simulation);
  link.set_scene(shared.simulation.frame().scene);
  ASSERT_TRUE(shared.reached([&] { return bool(shared.simulation.frame().shared); }));
  link.take(shared.simulation.frame());
  link.drawn();
  EXPECT_EQ(shared.simulation.frame().positions().size(), 8u);
  link.drawn();
  // A software device reads host memory in place; other devices copy it back once.
  EXPECT_EQ(link.picture_bytes(), own.software_device() ? 0 : 8 * sizeof(Vec3f));
}

TEST(InteropSimulation, ARefusalLeavesSnapshotsAsTheyWere) {
  HostSlots memory(8);
  SharedSimulation shared({});
  Simulation& simulation = shared.simulation;
  shared.share(memory);
  ASSERT_TRUE(shared.reached([&] { return !simulation.status().sharing.note.empty(); }));
  EXPECT_EQ(describe(simulation.status().sharing), "staged: a fake shares nothing");
  simulation.step_once();
  ASSERT_TRUE(test::at_rest_after(simulation, 1));
  EXPECT_FALSE(simulation.frame().shared);
  EXPECT_NEAR(simulation.frame().positions()[0][1], 0.01, 1e-6);
}

TEST(InteropSimulation, AFailedPublicationGoesOnStaged) {
  HostSlots memory(8);
  SharedSimulation shared([](FakeEngine& engine) {
    sharing_engine()(engine);
    engine.on_publish = [](std::size_t, std::uint64_t value) {
      if (value == 3) throw std::runtime_error("the device was lost");
    };
  });
  Simulation& simulation = shared.simulation;
  shared.share(memory);
  ASSERT_TRUE(shared.reached([&] { return bool(simulation.frame().shared); }));
  for (int i = 1; i <= 4; ++i) {
    simulation.step_once();
    ASSERT_TRUE(test::at_rest_after(simulation, i));
    EXPECT_NEAR(simulation.frame().positions()[0][1], 0.01 * i, 1e-5);
  }
  EXPECT_FALSE(simulation.frame().shared);
  EXPECT_EQ(describe(simulation.status().sharing), "staged: the device was lost");
  EXPECT_TRUE(simulation.status().error.empty()) << "the simulation itself is well";
}

TEST(InteropSimulation, ClosedSlotsAndOtherScenesAreStaged) {
  HostSlots memory(8);
  SharedSimulation shared(sharing_engine());
  Simulation& simulation = shared.simulation;
  const std::shared_ptr<const Scene> first = simulation.frame().scene;
  PositionOffer offer = memory.offer();
  const std::shared_ptr<PositionSlots> slots = offer.slots;
  simulation.share(first, std::move(offer));
  ASSERT_TRUE(shared.reached([&] { return bool(simulation.frame().shared); }));
  slots->close();
  simulation.step_once();
  ASSERT_TRUE(test::at_rest_after(simulation, 1));
  EXPECT_FALSE(simulation.frame().shared);
  EXPECT_EQ(simulation.frame().positions().size(), 8u);

  simulation.post(LoadScene{"b"});
  ASSERT_TRUE(shared.reached([&] {
    return simulation.frame().scene != first && simulation.status().loaded &&
           simulation.status().activity == SimulationStatus::Activity::idle;
  }));
  simulation.share(first, memory.offer());  // too late
  simulation.step_once();
  ASSERT_TRUE(test::at_rest_after(simulation, 1));
  EXPECT_FALSE(simulation.frame().shared);
  EXPECT_EQ(simulation.status().sharing.kind, ShareKind::staged);
  shared.share(memory);
  ASSERT_TRUE(shared.reached([&] { return bool(simulation.frame().shared); }));
}

TEST(InteropSimulation, ContactsComeWhenTheyAreWanted) {
  SharedSimulation shared([](FakeEngine& engine) { engine.contacts.resize(3); });
  Simulation& simulation = shared.simulation;
  ASSERT_TRUE(shared.reached([&] { return simulation.frame().snapshot.contacts.size() == 3; }));
  simulation.want_contacts(false);
  simulation.step_once();
  ASSERT_TRUE(test::at_rest_after(simulation, 1));
  EXPECT_TRUE(simulation.frame().snapshot.contacts.empty());
  simulation.want_contacts(true);
  ASSERT_TRUE(shared.reached([&] { return simulation.frame().snapshot.contacts.size() == 3; }))
      << "of the same instant, without a step";
  EXPECT_EQ(simulation.frame().snapshot.frame, 1);
}

TEST(InteropSimulation, PickingFindsSharedPositions) {
  HostSlots memory(8);
  SharedSimulation shared(sharing_engine());
  Simulation& simulation = shared.simulation;
  shared.share(memory);
  ASSERT_TRUE(shared.reached([&] { return bool(simulation.frame().shared); }));
  const std::span<const Vec3f> nodes = simulation.frame().positions();
  ASSERT_EQ(nodes.size(), 8u);
  const Ray ray{{0.2f, 0.2f, 5}, {0, 0, -1}};
  const std::optional<Pick> found = pick(simulation.frame().scene->model, nodes, ray);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->object, 0);
  ObjectProbe probe(simulation.frame().scene, 0);
  probe.observe(simulation.frame().snapshot, nodes);
  EXPECT_NEAR(probe.center()[0], 0.25, 1e-6);
}

}  // namespace
}  // namespace stickslip

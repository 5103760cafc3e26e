// Positions that an engine writes where pictures are drawn from: what is agreed on, that pictures stay the
// same, and that nothing is written that is still read.
#include <fcntl.h>

#include <array>
#include <atomic>
#include <cmath>
#include <thread>

#include "app/cli/position_feed.h"
#include "app/io/scene.h"
#include "app/render/shared_positions.h"
#include "app/viewer/picking.h"
#include "app/viewer/position_link.h"
#include "render_fixture.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

using test::FakeEngine;

constexpr DeviceUuid kOneDevice{1, 2, 3}, kAnotherDevice{4, 5, 6};

ExportSupport capable() { return {"a GPU", kOneDevice, true, true, false}; }

// ---- What is agreed on ----

TEST(Interop, TakesTheBestWayThereIs) {
  EXPECT_EQ(describe(negotiate(Interop::automatic, kOneDevice, capable())), "cuda (no copy)");
  EXPECT_EQ(describe(negotiate(Interop::automatic, std::nullopt, capable())), "mapped (no copy)");
  EXPECT_EQ(describe(negotiate(Interop::off, kOneDevice, capable())), "staged: switched off");
  EXPECT_EQ(describe(negotiate(Interop::off, std::nullopt, capable())), "staged: switched off");
}

TEST(Interop, SaysWhyNotABetterWay) {
  EXPECT_EQ(describe(negotiate(Interop::automatic, kAnotherDevice, capable())),
            "mapped (one transfer): Vulkan draws on a GPU, which is not the engine's device");
  ExportSupport without_memory = capable(), without_timelines = capable();
  without_memory.memory = without_timelines.timelines = false;
  EXPECT_EQ(describe(negotiate(Interop::automatic, kOneDevice, without_memory)),
            "mapped (one transfer): a GPU exports no memory");
  EXPECT_EQ(describe(negotiate(Interop::automatic, kOneDevice, without_timelines)),
            "mapped (one transfer): a GPU exports no timeline semaphores");
}

TEST(Interop, ARefusedDeviceLeavesMappedMemory) {
  const Sharing refused{ShareKind::staged, "no import"};
  const std::optional<Sharing> next = second_best(ShareKind::cuda, refused);
  ASSERT_TRUE(next);
  EXPECT_EQ(describe(*next), "mapped (one transfer): no import");
  EXPECT_FALSE(second_best(ShareKind::mapped, refused));
  EXPECT_FALSE(second_best(ShareKind::cuda, {ShareKind::cuda, ""}));
  EXPECT_FALSE(second_best(ShareKind::cuda, {ShareKind::staged, ""})) << "it has not answered yet";
}

TEST(Interop, OptionIsAutoOrOff) {
  EXPECT_EQ(parse_interop("auto"), Interop::automatic);
  EXPECT_EQ(parse_interop("off"), Interop::off);
  EXPECT_THROW(parse_interop("on"), std::invalid_argument);
}

TEST(Interop, DescriptorsAreClosedOnce) {
  const int raw = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const auto is_open = [](int fd) { return fcntl(fd, F_GETFD) != -1; };
  {
    UniqueFd fd(raw);
    UniqueFd other = std::move(fd);
    EXPECT_FALSE(fd);
    EXPECT_TRUE(is_open(raw));
    fd = std::move(other);
  }
  EXPECT_FALSE(is_open(raw));
  const int taken = UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)).release();
  EXPECT_TRUE(is_open(taken)) << "it is its new owner's";
  close(taken);
}

// ---- Slots ----

std::shared_ptr<PositionSlots> plain_slots() {
  return std::make_shared<PositionSlots>([](const SlotHold&) { return std::span<const Vec3f>(); });
}
SlotHold write(PositionSlots& slots) {
  return slots.write([](std::size_t, std::uint64_t) { return PublishedBox::empty(); });
}

TEST(PositionSlots, HeldSlotsAreNotWritten) {
  const auto slots = plain_slots();
  std::vector<SlotHold> held;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < PositionSlots::count; ++i) {
    held.push_back(write(*slots));
    ASSERT_TRUE(held.back());
    EXPECT_GT(held.back().value(), before) << "a timeline only grows";
    before = held.back().value();
    for (std::size_t k = 0; k < i; ++k) EXPECT_NE(held[k].index(), held[i].index());
  }
  EXPECT_FALSE(write(*slots)) << "all are held";
  const SlotHold copy = held[2];
  held[2] = {};
  EXPECT_FALSE(write(*slots)) << "a copy holds it still";
  const std::size_t free = held[4].index();
  held[4] = {};
  const SlotHold next = write(*slots);
  ASSERT_TRUE(next);
  EXPECT_EQ(next.index(), free);
}

TEST(PositionSlots, AFailedWriteLeavesItsSlotFree) {
  const auto slots = plain_slots();
  for (std::size_t i = 0; i < 2 * PositionSlots::count; ++i)
    EXPECT_THROW(
        slots->write([](std::size_t, std::uint64_t) -> PublishedBox { throw std::runtime_error("lost"); }),
        std::runtime_error);
  std::vector<SlotHold> held;
  for (std::size_t i = 0; i < PositionSlots::count; ++i) held.push_back(write(*slots));
  EXPECT_TRUE(held.back());
}

TEST(PositionSlots, ClosedMeansNeitherWrittenNorRead) {
  int reads = 0, writes = 0;
  const std::vector<Vec3f> nodes(3);
  const auto slots = std::make_shared<PositionSlots>([&](const SlotHold&) {
    ++reads;
    return std::span<const Vec3f>(nodes);
  });
  const SlotHold held = write(*slots);
  EXPECT_EQ(held.positions().size(), 3u);
  slots->close();
  EXPECT_TRUE(held.positions().empty());
  EXPECT_FALSE(slots->write([&](std::size_t, std::uint64_t) {
    ++writes;
    return PublishedBox::empty();
  }));
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(writes, 0);
}

TEST(PositionSlots, ClosingWaitsForTheWriter) {
  const auto slots = plain_slots();
  test::Gate gate;
  std::atomic<bool> written = false, closed = false;
  std::thread writer([&] {
    slots->write([&](std::size_t, std::uint64_t) {
      gate.pass();
      EXPECT_FALSE(closed) << "its memory would be gone";
      written = true;
      return PublishedBox::empty();
    });
  });
  gate.wait_for_arrival();
  std::thread closer([&] {
    slots->close();
    EXPECT_TRUE(written);
    closed = true;
  });
  gate.open();
  writer.join();
  closer.join();
  EXPECT_TRUE(closed);
}

/// A writer as fast as it can, a reader with two pictures in flight: what a picture holds stays as it was,
/// and the writer never lacks a slot.
TEST(PositionSlots, NothingIsOverwrittenWhileItIsRead) {
  const auto slots = plain_slots();
  std::array<std::array<std::uint64_t, 64>, PositionSlots::count> memory{};  // plain: a race is a fault
  TripleBuffer<SlotHold> frames;
  std::atomic<bool> over = false;
  std::atomic<long> lacking = 0;
  std::thread writer([&] {
    while (!over) {
      frames.back() = {};
      frames.back() = slots->write([&](std::size_t slot, std::uint64_t value) {
        memory[slot].fill(value);
        return PublishedBox::empty();
      });
      if (!frames.back()) ++lacking;
      frames.publish();
      std::this_thread::yield();
    }
  });
  struct InFlight {
    SlotHold held;
    bool intact(const decltype(memory)& all) const {
      return std::ranges::all_of(all[held.index()], [&](std::uint64_t word) { return word == held.value(); });
    }
  };
  std::array<InFlight, 2> pictures;
  SlotHold shown;
  std::uint64_t newest = 0;
  long torn = 0, back_in_time = 0;
  for (int picture = 0; picture < 300;) {
    if (!frames.update()) {
      std::this_thread::yield();
      continue;
    }
    shown = frames.front();
    if (!shown) continue;
    back_in_time += shown.value() <= newest;
    newest = shown.value();
    InFlight& slot = pictures[static_cast<std::size_t>(picture++ % 2)];
    if (slot.held) torn += !slot.intact(memory);  // the device was drawing it until now
    slot.held = shown;
  }
  over = true;
  writer.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(back_in_time, 0);
  EXPECT_EQ(lacking, 0);
}

/// The cube where an engine may start: it touches nothing.
Model free_cube() {
  Model model = cube_on_ground();
  model.half_spaces.clear();
  return model;
}

// ---- Pictures ----

class InteropTest : public RenderTest {
 protected:
  /// Positions that no two steps share, and whose box moves too.
  static std::vector<Vec3f> nodes_at(const Model& model, int step) {
    std::vector<Vec3f> nodes = moved_nodes(model, {0.03f * static_cast<float>(step), 0, 0});
    for (std::size_t i = 0; i < nodes.size(); ++i)
      nodes[i][1] += 0.02f * std::sin(static_cast<float>(step + i));
    return nodes;
  }
  Image draw_staged(int step) {
    renderer->set_positions(nodes_at(model, step));
    return draw();
  }
  static PublishedBox box_of(const PositionOffer& offer, const std::vector<Vec3f>& nodes) {
    PublishedBox box = PublishedBox::empty();
    for (const std::int32_t i : offer.target.framed) box = merge(box, nodes[static_cast<std::size_t>(i)]);
    return box;
  }
  /// Publishes as an engine of the host does.
  SlotHold publish(const PositionOffer& offer, const std::vector<Vec3f>& nodes) {
    return offer.slots->write([&](std::size_t slot, std::uint64_t) {
      std::ranges::copy(nodes, reinterpret_cast<Vec3f*>(offer.target.host + slot * offer.target.stride));
      return box_of(offer, nodes);
    });
  }
};

TEST_F(InteropTest, LavapipeSaysWhatItLacks) {
  const std::optional<DeviceUuid> elsewhere = kOneDevice;
  EXPECT_EQ(renderer->negotiate(std::nullopt).kind, ShareKind::mapped);
  const Sharing foreign = renderer->negotiate(elsewhere);
  EXPECT_EQ(foreign.kind, ShareKind::mapped);
  EXPECT_NE(foreign.note.find(renderer->device_name()), std::string::npos) << foreign.note;
}

TEST_F(InteropTest, MappedPicturesAreTheStagedOnesToTheBit) {
  const PositionOffer offer = renderer->offer_positions(renderer->negotiate(std::nullopt));
  ASSERT_TRUE(offer.slots);
  ASSERT_EQ(offer.target.nodes, model.node_count());
  ASSERT_EQ(offer.target.slots, PositionSlots::count);
  ASSERT_TRUE(offer.target.host);
  std::vector<Image> mapped;
  const PositionTraffic before = renderer->position_traffic();
  for (int step = 0; step < 9; ++step) {
    const std::vector<Vec3f> nodes = nodes_at(model, step);
    const SlotHold published = publish(offer, nodes);
    ASSERT_TRUE(published);
    renderer->set_positions(published);
    mapped.push_back(draw());
    EXPECT_TRUE(std::ranges::equal(published.positions(), nodes)) << "the host finds them too";
  }
  EXPECT_EQ(renderer->position_traffic().copied, before.copied) << "and nobody copied them";
  EXPECT_EQ(renderer->position_traffic().read, before.read);
  for (int step = 0; step < 9; ++step)
    EXPECT_EQ(draw_staged(step).rgba, mapped[static_cast<std::size_t>(step)].rgba) << step;
  const std::uint64_t bytes = model.node_count() * sizeof(Vec3f);
  EXPECT_EQ(renderer->position_traffic().copied - before.copied, 9 * 2 * bytes)
      << "staged: into the scene, and into the picture's buffer";
  EXPECT_NE(mapped[0].rgba, mapped[8].rgba);
}

TEST_F(InteropTest, WiresFollowSharedPositions) {
  Model rods;
  rods.materials.push_back({});
  rods.material_names.push_back("any");
  const std::vector<Vec<double, 3>> nodes{{-0.6, 0.2, 0}, {0.6, 0.9, 0}, {0, 0.5, 0.4}};
  const std::vector<Vec2i> segments{{0, 1}};
  add_point_collider(rods, "rod", nodes, segments, 0, Motion{});
  finalize(rods);
  renderer->set_scene(rods);
  const auto at = [&](float lift) { return moved_nodes(rods, {0, lift, 0}); };
  const Image start = draw();
  renderer->set_positions(at(0.3f));
  const Image staged = draw();
  EXPECT_GT(pixels_that_differ(start, staged), 100u);
  const PositionOffer offer = renderer->offer_positions({ShareKind::mapped, ""});
  renderer->set_positions(publish(offer, at(0.3f)));
  EXPECT_EQ(draw().rgba, staged.rgba);
}

TEST_F(InteropTest, APictureHoldsWhatItReads) {
  const PositionOffer offer = renderer->offer_positions({ShareKind::mapped, ""});
  SlotHold published = publish(offer, nodes_at(model, 1));
  const std::size_t shown = published.index();
  renderer->set_positions(published);
  published = {};
  std::vector<SlotHold> others;
  for (std::size_t i = 0; i + 1 < PositionSlots::count; ++i)
    others.push_back(publish(offer, nodes_at(model, 2)));
  for (const SlotHold& other : others) EXPECT_NE(other.index(), shown);
  EXPECT_FALSE(publish(offer, nodes_at(model, 3))) << "the renderer holds the last one";
  const Image picture = draw();
  renderer->set_positions(others.front());
  const SlotHold next = publish(offer, nodes_at(model, 3));
  ASSERT_TRUE(next) << "a finished picture lets go";
  EXPECT_EQ(next.index(), shown);
  EXPECT_EQ(draw_staged(1).rgba, picture.rgba);
}

TEST_F(InteropTest, ANewSceneOrOfferClosesTheSlots) {
  const PositionOffer first = renderer->offer_positions({ShareKind::mapped, ""});
  const SlotHold published = publish(first, nodes_at(model, 1));
  renderer->set_positions(published);
  const PositionOffer second = renderer->offer_positions({ShareKind::mapped, ""});
  EXPECT_FALSE(publish(first, nodes_at(model, 2)));
  EXPECT_TRUE(published.positions().empty());
  EXPECT_THROW(renderer->set_positions(published), std::invalid_argument);
  ASSERT_TRUE(publish(second, nodes_at(model, 2)));
  const Model finer = cube_on_ground(0.125);
  renderer->set_scene(finer);
  EXPECT_FALSE(publish(second, nodes_at(model, 3)));
  const PositionOffer third = renderer->offer_positions({ShareKind::mapped, ""});
  EXPECT_EQ(third.target.nodes, finer.node_count());
  renderer->set_positions(publish(third, nodes_at(finer, 4)));
  const Image mapped = draw();
  renderer->set_positions(nodes_at(finer, 4));
  EXPECT_EQ(draw().rgba, mapped.rgba);
}

TEST_F(InteropTest, NothingIsOfferedForStagingOrWithoutNodes) {
  const PositionOffer staged = renderer->offer_positions({ShareKind::staged, "switched off"});
  EXPECT_FALSE(staged.slots);
  EXPECT_EQ(staged.how.note, "switched off");
  renderer->set_scene(Model{});
  EXPECT_FALSE(renderer->offer_positions({ShareKind::mapped, ""}).slots);
}

TEST_F(InteropTest, SizesAndQualitiesChangeUnderSharedPositions) {
  const PositionOffer offer = renderer->offer_positions({ShareKind::mapped, ""});
  renderer->set_positions(publish(offer, nodes_at(model, 3)));
  const Image light = draw(), wide = renderer->render_offscreen(view, 400, 200);
  renderer->set_quality(Quality::medium);
  const Image medium = draw();
  renderer->set_positions(nodes_at(model, 3));
  EXPECT_EQ(draw().rgba, medium.rgba);
  renderer->set_quality(Quality::light);
  EXPECT_EQ(draw().rgba, light.rgba);
  EXPECT_EQ(renderer->render_offscreen(view, 400, 200).rgba, wide.rgba);
}

// ---- Device memory and its semaphore, with the test as the other driver ----

/// Writes slots as the driver of an engine would: the memory first, then the timeline's value.
class OtherDriver {
 public:
  explicit OtherDriver(SharedPositions& shared) : shared_(shared) {
    // On this device all memory is the host's too.
    const VkResult mapped =
        vkMapMemory(shared.device().handle(), shared.buffer().memory(), 0, VK_WHOLE_SIZE, 0, &memory_);
    EXPECT_EQ(mapped, VK_SUCCESS);
  }
  void fill(const SlotHold& slot, const std::vector<Vec3f>& nodes) {
    std::ranges::copy(
        nodes, reinterpret_cast<Vec3f*>(static_cast<std::byte*>(memory_) + shared_.binding(slot).offset));
  }
  void signal(const SlotHold& slot) {
    VkSemaphoreSignalInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO;
    info.semaphore = shared_.semaphore();
    info.value = slot.value();
    EXPECT_EQ(vkSignalSemaphore(shared_.device().handle(), &info), VK_SUCCESS);
  }

 private:
  SharedPositions& shared_;
  void* memory_ = nullptr;
};

TEST_F(InteropTest, PicturesWaitForTheSemaphoreOfADevice) {
  if (!renderer->software_device()) GTEST_SKIP() << "needs device memory that the host sees";
  const PositionOffer offer = renderer->offer_positions({ShareKind::cuda, ""});
  ASSERT_TRUE(offer.slots);
  EXPECT_EQ(offer.target.host, nullptr);
  OtherDriver driver(*renderer->shared_positions());
  const auto reserve = [&] {
    return offer.slots->write([&](std::size_t, std::uint64_t) { return box_of(offer, nodes_at(model, 5)); });
  };
  // The same slot holds an old instant when the picture is submitted.
  const std::array<SlotHold, 2> published{reserve(), reserve()};
  driver.fill(published[0], nodes_at(model, 0));
  renderer->set_positions(published[0]);
  std::atomic<bool> signalled = false;
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    driver.fill(published[0], nodes_at(model, 5));
    signalled = true;
    driver.signal(published[0]);
  });
  const Image device = draw();
  EXPECT_TRUE(signalled);
  late.join();
  EXPECT_EQ(draw().rgba, device.rgba) << "a second picture of the same publication";

  // The host asks where nodes are: one copy, however often.
  const PositionTraffic before = renderer->position_traffic();
  EXPECT_TRUE(std::ranges::equal(published[0].positions(), nodes_at(model, 5)));
  EXPECT_TRUE(std::ranges::equal(published[0].positions(), nodes_at(model, 5)));
  const PositionTraffic after = renderer->position_traffic();
  EXPECT_EQ(after.read - before.read, model.node_count() * sizeof(Vec3f));
  EXPECT_EQ(after.copied, before.copied);
  driver.fill(published[1], nodes_at(model, 7));
  driver.signal(published[1]);
  EXPECT_TRUE(std::ranges::equal(published[1].positions(), nodes_at(model, 7)));
  EXPECT_EQ(draw_staged(5).rgba, device.rgba);
}

TEST_F(InteropTest, MemoryIsExportedAndARefusalClosesIt) {
  PositionOffer offer = renderer->offer_positions({ShareKind::cuda, ""});
  ASSERT_TRUE(offer.target.exported);
  const ExportSupport& can = renderer->shared_positions()->device().exports();
  EXPECT_EQ(static_cast<bool>(offer.target.exported->memory), can.memory);
  EXPECT_EQ(static_cast<bool>(offer.target.exported->timeline), can.timelines);
  EXPECT_GE(offer.target.exported->bytes, PositionSlots::count * offer.target.stride);
  if (!can.memory) GTEST_SKIP() << "the driver exports no memory";
  const int fd = offer.target.exported->memory.get();
  EXPECT_NE(fcntl(fd, F_GETFD), -1);
  const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 1);
  engine->load(free_cube());
  const Sharing answer = engine->share(std::move(offer.target));
  EXPECT_EQ(describe(answer), "staged: the cpu backend imports no memory of devices");
  EXPECT_EQ(fcntl(fd, F_GETFD), -1) << "nobody else would close it";
  EXPECT_THROW(engine->publish(0, 1), std::logic_error);
}

// ---- The engine of the CPU ----

class InteropSceneTest : public InteropTest, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kinds, InteropSceneTest, ::testing::Values("drop", "box-stack"));

TEST_P(InteropSceneTest, TheCpuEngineDrawsWithoutACopy) {
  constexpr std::size_t steps = 5;
  const Scene scene = load_scene(GetParam());
  std::array<std::vector<Image>, 2> pictures;
  std::array<std::uint64_t, 2> copied{};
  for (const bool shares : {true, false}) {
    const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 1);
    engine->set_params(scene.params);
    engine->load(scene.model);
    Renderer own({.quality = Quality::light,
                  .validation = true,
                  .interop = shares ? Interop::automatic : Interop::off});
    own.set_scene(scene.model);
    PositionFeed feed(own, *engine);
    EXPECT_EQ(describe(feed.sharing()), shares ? "mapped (no copy)" : "staged: switched off");
    view.camera = Camera::look_at(scene.camera.position.cast<float>(), scene.camera.target.cast<float>(),
                                  static_cast<float>(scene.camera.fov));
    for (std::size_t frame = 0; frame < steps; ++frame) {
      engine->step();
      feed.update();
      pictures[shares].push_back(own.render_offscreen(view, kWidth, kHeight));
    }
    copied[shares] = feed.bytes_copied();
    EXPECT_EQ(own.validation_messages().size(), 0u) << own.validation_messages().front();
  }
  for (std::size_t i = 0; i < steps; ++i) EXPECT_EQ(pictures[0][i].rgba, pictures[1][i].rgba) << i;
  EXPECT_NE(pictures[0][0].rgba, pictures[0][steps - 1].rgba);
  EXPECT_EQ(copied[true], 0u);
  EXPECT_EQ(copied[false], steps * 3 * scene.model.node_count() * sizeof(Vec3f));
}

TEST(InteropEngine, RefusesTargetsThatAreNotItsOwn) {
  const Model model = free_cube();
  const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 1);
  engine->load(model);
  EXPECT_FALSE(engine->device_uuid());
  EXPECT_THROW(engine->publish(0, 1), std::logic_error);
  std::vector<Vec3f> memory(2 * model.node_count());
  const auto target = [&] {
    PositionTarget t;
    t.nodes = model.node_count();
    t.slots = 2;
    t.stride = t.nodes * sizeof(Vec3f);
    t.framed = {0, 1};
    t.host = reinterpret_cast<std::byte*>(memory.data());
    return t;
  };
  PositionTarget small = target(), nowhere = target();
  small.nodes -= 1;
  nowhere.host = nullptr;
  EXPECT_THROW(engine->share(std::move(small)), std::invalid_argument);
  EXPECT_EQ(describe(engine->share(std::move(nowhere))), "staged: there is no memory to share");
  EXPECT_THROW(engine->publish(0, 1), std::logic_error);

  EXPECT_EQ(engine->share(target()).kind, ShareKind::mapped);
  const PublishedBox box = engine->publish(1, 1);
  Snapshot snapshot;
  engine->snapshot(snapshot);
  for (std::size_t i = 0; i < model.node_count(); ++i) {
    EXPECT_EQ(memory[model.node_count() + i], snapshot.positions[i]);
    EXPECT_EQ(memory[i], (Vec3f{0, 0, 0})) << "the other slot";
  }
  EXPECT_EQ(box.lo, min(snapshot.positions[0], snapshot.positions[1]));
  EXPECT_EQ(box.hi, max(snapshot.positions[0], snapshot.positions[1]));
  EXPECT_THROW(engine->publish(2, 2), std::invalid_argument);

  snapshot.wants_positions = snapshot.wants_contacts = false;
  snapshot.contacts.resize(1);
  engine->snapshot(snapshot);
  EXPECT_TRUE(snapshot.positions.empty());
  EXPECT_TRUE(snapshot.contacts.empty());
  engine->load(model);
  EXPECT_THROW(engine->publish(0, 3), std::logic_error) << "a load ends it";
}

TEST(InteropEngine, TheBoxLeavesOutWhatIsNotFinite) {
  const Model model = free_cube();
  const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 1);
  engine->load(model);
  State state = engine->state();
  state.positions[0] = {NAN, 0, 0};
  state.positions[1] = {0, INFINITY, 0};
  engine->set_state(state);
  std::vector<Vec3f> memory(model.node_count());
  PositionTarget target;
  target.nodes = model.node_count();
  target.slots = 1;
  target.framed = {0, 1, 2};
  target.host = reinterpret_cast<std::byte*>(memory.data());
  engine->share(std::move(target));
  const PublishedBox box = engine->publish(0, 1);
  EXPECT_EQ(box.lo, memory[2]);
  EXPECT_EQ(box.hi, memory[2]);
}

// ---- The simulation's thread ----

/// Slots in the memory of the test.
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

/// A picture of each of the first steps, as the window gets them.
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
  // Software Vulkan's memory is read where it stands; elsewhere it is copied back once.
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

TEST(InteropSimulation, WhoPicksFindsSharedPositions) {
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

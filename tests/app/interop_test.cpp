// Positions that an engine writes into the renderer's memory: the negotiation, and unchanged pictures.
#include <fcntl.h>

#include <array>
#include <atomic>
#include <thread>

#include "app/cli/position_feed.h"
#include "app/io/scene/scene.h"
#include "app/render/shared_positions.h"
#include "interop_fixture.h"

namespace stickslip {
namespace {

constexpr DeviceUuid kOneDevice{1, 2, 3}, kAnotherDevice{4, 5, 6};

ExportSupport capable() { return {"a GPU", kOneDevice, true, true, false}; }

// ---- Negotiation ----

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

// ---- Pictures ----

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

/// Writes slots as an engine's driver would: the memory first, then the timeline's value.
class OtherDriver {
 public:
  explicit OtherDriver(SharedPositions& shared) : shared_(shared) {
    // On this device all memory is host-visible.
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
  // The slot holds older positions when the picture is submitted.
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

  // The host reads positions: one copy, however often.
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

// ---- Engines ----

/// Every scene on every available backend.
class InteropSceneTest : public InteropTest, public ::testing::WithParamInterface<const char*> {
 protected:
  static constexpr std::size_t kSteps = 5;
  struct Shown {
    Sharing sharing;
    std::vector<Image> pictures = {};
    std::uint64_t copied = 0;
  };
  Shown show(Backend backend, const Scene& scene, Interop interop) {
    const std::unique_ptr<Engine> engine = make_engine(backend, 1);
    engine->set_params(scene.params);
    engine->load(scene.model);
    Renderer own({.quality = Quality::light, .validation = true, .interop = interop});
    own.set_scene(scene.model);
    PositionFeed feed(own, *engine);
    view.camera = Camera::look_at(scene.camera.position.cast<float>(), scene.camera.target.cast<float>(),
                                  static_cast<float>(scene.camera.fov));
    Shown shown{feed.sharing()};
    for (std::size_t step = 0; step < kSteps; ++step) {
      engine->step();
      feed.update();
      shown.pictures.push_back(own.render_offscreen(view, kWidth, kHeight));
    }
    shown.copied = feed.bytes_copied();
    EXPECT_EQ(own.validation_messages().size(), 0u) << own.validation_messages().front();
    return shown;
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, InteropSceneTest, ::testing::Values("drop", "bowling"));

TEST_P(InteropSceneTest, EnginesDrawWithoutACopyWhatCopiesShow) {
  const Scene scene = load_scene(GetParam());
  for (const BackendInfo& info : list_backends()) {
    if (!info.available) continue;
    SCOPED_TRACE(info.name);
    const Shown shared = show(info.backend, scene, Interop::automatic);
    const Shown copied = show(info.backend, scene, Interop::off);
    if (info.backend == Backend::cpu) {
      EXPECT_EQ(describe(shared.sharing), "mapped (no copy)");
    }
    EXPECT_NE(shared.sharing.kind, ShareKind::staged) << shared.sharing.note;
    EXPECT_EQ(describe(copied.sharing), "staged: switched off");
    for (std::size_t i = 0; i < kSteps; ++i) EXPECT_EQ(shared.pictures[i].rgba, copied.pictures[i].rgba) << i;
    EXPECT_TRUE(shared.pictures.front().rgba != shared.pictures.back().rgba) << "something moves";
    EXPECT_EQ(shared.copied, 0u);
    EXPECT_EQ(copied.copied, kSteps * 3 * scene.model.node_count() * sizeof(Vec3f));
  }
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

}  // namespace
}  // namespace stickslip

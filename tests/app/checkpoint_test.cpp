// Checkpoint files, and that a restored state leads to the same steps wherever it is restored.
#include "app/io/checkpoint/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <limits>

#include "app/io/file/output_file.h"
#include "app/io/scene/scene_variant.h"
#include "gpu/engine.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Engine> loaded(const Scene& scene) {
  std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 2);
  engine->set_params(scene.params);
  engine->set_contact_params(scene.contact_params);
  engine->load(scene.model);
  return engine;
}

State after(Engine& engine, int steps) {
  for (int i = 0; i < steps; ++i) engine.step();
  return engine.state();
}

class CheckpointTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  std::string refusal(const fs::path& path) const {
    try {
      read_checkpoint(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  const fs::path folder = fs::temp_directory_path() / ("stickslip-checkpoint-" + std::to_string(getpid()));
  const fs::path file = folder / "run.hdf5";
};

TEST_F(CheckpointTest, KeepsTheSettingsAndEveryBitOfTheState) {
  for (const char* name : {"box-stack", "drop", "everything", "cloth-sphere", "sewn-skirt"}) {
    Scene scene = load_scene(name);
    scene.params.dt = 1.0 / 97;
    scene.contact_params.omega = 0.1 + 0.2;
    scene.model.materials[0].mu = 1.0 / 3;
    for (HalfSpace& plane : scene.model.half_spaces) plane.mu = 2.0 / 3;
    const std::unique_ptr<Engine> engine = loaded(scene);
    const State state = after(*engine, 3);
    write_checkpoint(file, make_checkpoint(scene, state));
    const Scene again = load_checkpoint(file);
    EXPECT_EQ(again.name, scene.name);
    ASSERT_TRUE(again.resumed);
    EXPECT_EQ(again.resumed->frame, 3);
    EXPECT_EQ(state_hash(*again.resumed), state_hash(state)) << name;
    for (const ParamInfo& info : param_table())
      EXPECT_EQ(get_param(&again.params, info), get_param(&scene.params, info)) << name << " " << info.name;
    for (const ParamInfo& info : lab_param_table())
      EXPECT_EQ(get_param(&again.contact_params, info), get_param(&scene.contact_params, info)) << info.name;
    ASSERT_EQ(again.model.materials.size(), scene.model.materials.size());
    for (std::size_t m = 0; m < scene.model.materials.size(); ++m)
      for (const ParamInfo& info : material_table())
        EXPECT_EQ(get_param(&again.model.materials[m], info), get_param(&scene.model.materials[m], info));
    for (const HalfSpace& plane : again.model.half_spaces) EXPECT_EQ(plane.mu, 2.0 / 3);
    EXPECT_TRUE(again.expect.empty()) << "expectations are of runs from the start";
  }
}

TEST_F(CheckpointTest, KeepsVariantAndScale) {
  Scene scene = load_scene("pyramid", 1.5);
  scene.variant = load_scene("pyramid").variants.empty() ? "" : load_scene("pyramid").variants[0].name;
  const std::unique_ptr<Engine> engine = loaded(scene);
  write_checkpoint(file, make_checkpoint(scene, engine->state()));
  const Scene again = load_scene(file.string());
  EXPECT_EQ(again.scale, 1.5);
  EXPECT_EQ(again.variant, scene.variant);
  EXPECT_EQ(again.model.bodies.size(), scene.model.bodies.size());
  EXPECT_THROW(load_scene(file.string(), 2.0), InputError);
}

TEST_F(CheckpointTest, KeepsTheDensityOfHair) {
  const Scene scene = load_scene("hairy-ball", {}, 0.1);
  EXPECT_EQ(scene.density, 0.1);
  EXPECT_LT(scene.model.segments.size(), load_scene("hairy-ball").model.segments.size() / 9);
  write_checkpoint(file, make_checkpoint(scene, loaded(scene)->state()));
  const Scene again = load_scene(file.string());
  EXPECT_EQ(again.density, 0.1);
  EXPECT_EQ(again.model.node_count(), scene.model.node_count());
  EXPECT_THROW(load_scene(file.string(), {}, 2.0), InputError);
}

TEST_F(CheckpointTest, KeepsTheKindOfTwist) {
  const fs::path at = folder / "curl.toml";
  std::ofstream(at) << "[[material]]\nname = 'wire'\n[[object]]\nname = 'rod'\nbody = 'rods'\n"
                       "diameter = 0.01\nshape = 'strand'\nlength = 1\nsegments = 8\nhold = 'root'\n"
                       "twist = 'quasistatic'\n";
  const Scene scene = load_scene(at.string());
  const std::unique_ptr<Engine> engine = loaded(scene);
  write_checkpoint(file, make_checkpoint(scene, after(*engine, 3)));
  const Scene again = load_scene(file.string());
  EXPECT_TRUE(again.model.objects[0].quasistatic_twist);
  const std::unique_ptr<Engine> resumed = loaded(again);
  ASSERT_TRUE(again.resumed);
  resumed->set_state(*again.resumed);
  EXPECT_EQ(state_hash(after(*resumed, 3)), state_hash(after(*engine, 3)));
}

/// How such a state goes on: BarrierMemoryTest.
TEST_F(CheckpointTest, KeepsWhatBarrierStepsKeep) {
  Scene scene = load_scene("box-stack");
  scene.params.solver = SolverKind::ipc;
  scene.params.drop_unsupported = true;
  const State state = after(*loaded(scene), 1);
  EXPECT_EQ(state.barrier.bodies.size(), scene.model.bodies.size());
  write_checkpoint(file, make_checkpoint(scene, state));
  const Scene again = load_checkpoint(file);
  EXPECT_EQ(state_hash(*again.resumed), state_hash(state));
  const std::unique_ptr<Engine> resumed = loaded(again);
  resumed->set_state(*again.resumed);
  EXPECT_EQ(state_hash(resumed->state()), state_hash(state));
}

TEST_F(CheckpointTest, RefusesAMemoryOfBarrierStepsThatIsNone) {
  Scene scene = load_scene("box-stack");
  scene.params.solver = SolverKind::ipc;
  scene.params.drop_unsupported = true;
  const Checkpoint good = make_checkpoint(scene, after(*loaded(scene), 1));
  Checkpoint bad = good;
  bad.state.barrier.bodies.pop_back();
  write_checkpoint(file, bad);
  EXPECT_NE(refusal(file).find("stand_ins"), std::string::npos) << refusal(file);
  bad = good;
  bad.state.barrier.stiffness = std::numeric_limits<double>::infinity();
  write_checkpoint(file, bad);
  EXPECT_NE(refusal(file).find("barrier"), std::string::npos) << refusal(file);
  // One of an earlier version.
  bad = good;
  bad.state.barrier = {};
  write_checkpoint(file, bad);
  const Scene again = load_checkpoint(file);
  const std::unique_ptr<Engine> resumed = loaded(again);
  resumed->set_state(*again.resumed);
  EXPECT_TRUE(resumed->step().converged);
}

TEST_F(CheckpointTest, RefusesTheTextOfAChangedSceneWhereItIsWrong) {
  Scene scene = load_scene("box-stack");
  scene.changed = true;
  Checkpoint checkpoint = make_checkpoint(scene, loaded(scene)->state());
  EXPECT_EQ(checkpoint.source, scene.source);
  write_checkpoint(file, checkpoint);
  EXPECT_EQ(load_checkpoint(file).model.bodies.size(), scene.model.bodies.size());
  checkpoint.source += "[[object]]\nshape = \"cube\"\n";
  write_checkpoint(file, checkpoint);
  EXPECT_THROW(load_checkpoint(file), InputError);
  checkpoint.source = "[[material]]\nname = \"wood\"\n[[object]]\nshape = \"sphere\"\n";
  write_checkpoint(file, checkpoint);
  EXPECT_THROW(load_checkpoint(file), InputError) << "another number of nodes";
  checkpoint.source.assign(std::size_t{1} << 20, ' ');
  EXPECT_THROW(write_checkpoint(folder / "long.hdf5", checkpoint), InputError);
  EXPECT_FALSE(fs::exists(folder / "long.hdf5"));
}

TEST_F(CheckpointTest, AHashChangesWithEveryNumber) {
  State state;
  state.positions = {{1, 2, 3}};
  state.velocities = {{0, 0, 0}};
  state.bodies.resize(1);
  const std::uint64_t first = state_hash(state);
  const auto differs = [&](const std::function<void(State&)>& change) {
    State other = state;
    change(other);
    EXPECT_NE(state_hash(other), first);
  };
  differs([](State& s) { s.frame = 1; });
  differs([](State& s) { s.time = 1e-300; });
  differs([](State& s) { s.positions[0][1] = std::nextafter(2.0, 3.0); });
  differs([](State& s) { s.velocities[0][2] = -0.0; });
  differs([](State& s) { s.bodies[0].pose.q.v[0] = 1e-17; });
  differs([](State& s) { s.bodies[0].spin[2] = 1; });
  differs([](State& s) { s.thickness = {1}; });
  differs([](State& s) { s.anchors = {{0, -1, 3, {1e-6, 0, 0, 0}}}; });
  differs([](State& s) { s.barrier.stiffness = 1; });
  differs([](State& s) { s.barrier.stiffening = 2; });
  differs([](State& s) { s.barrier.bodies.resize(1); });
  differs([](State& s) { s.barrier.multipliers = {{0, 0, 0}}; });
  differs([](State& s) { s.positions.push_back({0, 0, 0}); });
  EXPECT_EQ(hash_text(0xabc), "0000000000000abc");
}

TEST_F(CheckpointTest, NoDamageGoesUnseen) {
  const Scene scene = load_scene("box-stack");
  const std::unique_ptr<Engine> engine = loaded(scene);
  const State state = engine->state();
  write_checkpoint(file, make_checkpoint(scene, state));
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const fs::path bad = folder / "bad.hdf5";
  int refused = 0, read = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 211) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    std::ofstream(bad, std::ios::binary) << damaged;
    try {
      const Checkpoint seen = read_checkpoint(bad);
      ++read;  // a byte that says nothing
      EXPECT_EQ(state_hash(seen.state), state_hash(state)) << "byte " << at;
      EXPECT_EQ(seen.scene, "box-stack");
      EXPECT_EQ(seen.materials.size(), scene.model.materials.size());
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, read / 4);
  for (const double share : {0.1, 0.5, 0.9, 0.999}) {
    std::ofstream(bad, std::ios::binary)
        << bytes.substr(0, static_cast<std::size_t>(share * static_cast<double>(bytes.size())));
    EXPECT_NE(refusal(bad), "accepted") << share;
  }
}

TEST_F(CheckpointTest, RefusesWhatItCannotHold) {
  EXPECT_NE(refusal(folder / "none.hdf5").find("no such file"), std::string::npos);
  std::ofstream(file) << "text";
  EXPECT_NE(refusal(file).find("is no HDF5 file"), std::string::npos);
  const Scene scene = load_scene("box-stack");
  Checkpoint checkpoint = make_checkpoint(scene, loaded(scene)->state());
  checkpoint.state.positions[0][0] = std::numeric_limits<double>::quiet_NaN();
  write_checkpoint(file, checkpoint);
  EXPECT_NE(refusal(file).find("is not a number"), std::string::npos) << refusal(file);
  checkpoint = make_checkpoint(scene, loaded(scene)->state());
  checkpoint.state.bodies.pop_back();
  write_checkpoint(file, checkpoint);
  EXPECT_THROW(load_checkpoint(file), InputError) << "the scene has another number of bodies";
  checkpoint.scene = "no-such-scene";
  write_checkpoint(file, checkpoint);
  EXPECT_THROW(load_checkpoint(file), InputError);
  checkpoint.scene = file.string();
  write_checkpoint(file, checkpoint);
  EXPECT_THROW(load_checkpoint(file), InputError) << "a checkpoint of itself";
  EXPECT_THROW(write_checkpoint(folder / "none" / "a.hdf5", checkpoint), InputError);
}

/// The hash two steps after `state`, on an engine that did something else before.
std::uint64_t two_steps_from(Engine& engine, const State& state) {
  engine.set_state(state);
  return state_hash(after(engine, 2));
}

void expect_no_memory(const Scene& scene) {
  SCOPED_TRACE(scene.name);
  const std::unique_ptr<Engine> one = loaded(scene), two = loaded(scene);
  const State state = after(*one, 4);
  after(*one, 2);
  const std::uint64_t later = two_steps_from(*one, state);
  EXPECT_EQ(two_steps_from(*two, state), later) << "a fresh engine";
  EXPECT_EQ(two_steps_from(*one, state), later) << "a second time";
}

TEST(RestoredState, LeadsToTheSameBitsWhateverWasDoneBefore) {
  for (const char* name : {"drop", "box-stack", "card-house", "cloth-sphere", "sewn-skirt", "mixed", "knot",
                           "hair-band", "pyramid", "soft-bodies", "everything"})
    expect_no_memory(load_scene(name));
}

TEST(RestoredState, LeadsToTheSameBitsWithQuasistaticTwist) {
  for (const char* solver : {"ipc", "velocity"})
    expect_no_memory(parse_scene("[params]\nsolver = '" + std::string(solver) +
                                     "'\n[[material]]\nname = 'wire'\nyoung = 1e7\n"
                                     "[[object]]\nname = 'rod'\nbody = 'rods'\ndiameter = 0.01\n"
                                     "shape = 'strand'\nlength = 1\nsegments = 8\nhold = 'root'\n"
                                     "curl_radius = 0.1\ncurl_pitch = 0.2\ntwist = 'quasistatic'\n",
                                 "curl.toml"));
}

TEST(LongRestoredState, LeadsToTheSameBitsInEveryScene) {
  for (const SceneInfo& info : list_scenes()) expect_no_memory(load_scene(info.name));
}

}  // namespace
}  // namespace stickslip

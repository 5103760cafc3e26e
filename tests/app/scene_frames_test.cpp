// Bodies of frames in scenes: `body = "frames"`, their paths, and pins.
#include <gtest/gtest.h>

#include "app/io/scene/scene.h"
#include "app/io/scene/scene_shape.h"
#include "gpu/model/element_group.h"
#include "gpu/model/lattice.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

const std::string kFrameBar =
    "[[material]]\nname = \"wood\"\n"
    "[[object]]\nname = \"bar\"\nbody = \"frames\"\nshape = \"box\"\nsize = [1, 0.1, 0.1]\nedge = 0.05\n";
const std::string kThreeFrames = "frames = [[-0.5, 0, 0], [0, 0, 0], [0.5, 0, 0]]\n";

std::string frames_error(const std::string& text) {
  try {
    parse_scene(text, "folder/test.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}
void expect_frames_parts(const std::string& error, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(error.find(part), std::string::npos) << part << " in: " << error;
}

TEST(SceneFrames, PlacesFramesWithTheirMesh) {
  const Scene scene = parse_scene(
      kFrameBar + kThreeFrames +
          "position = [0, 2, 0]\nrotation = [0, 0, 90]\nvelocity = [1, 0, 0]\n"
          "count = [2, 1, 1]\nspacing = [3, 0, 0]\n"
          "[[pin]]\nobject = \"bar.1\"\nbox = { min = [2.9, 1.4, -0.1], max = [3.1, 1.6, 0.1] }\n",
      "folder/test.toml");
  const Model& model = scene.model;
  ASSERT_EQ(model.objects.size(), 2u);
  for (const Object& bar : model.objects) {
    EXPECT_TRUE(bar.has_frames);
    EXPECT_EQ(bar.collides_from - bar.node_begin, 12);
    EXPECT_NEAR(solid_volume(model, bar), 0.01, 1e-12);
    const double x = &bar == &model.objects[0] ? 0 : 3;
    EXPECT_LT(norm(lattice_of(model, bar).frames[2] - Vec3d{x, 2.5, 0}), 1e-12);
    for (std::int32_t i = bar.node_begin; i < bar.node_end; ++i)
      EXPECT_LT(norm(model.velocities[i] - Vec3d{1, 0, 0}), 1e-12);
  }
  ASSERT_EQ(model.scripted.size(), 1u);
  const std::int32_t first = model.objects[1].node_begin;
  EXPECT_EQ(model.scripted[0].nodes, (std::vector<std::int32_t>{first, first + 1, first + 2, first + 3}));
  EXPECT_EQ(count_tets(model).all(), 0u);
}

TEST(SceneFrames, ReadsPathsFromAFileOfLines) {
  const PointMesh lines{{{0, 0, 0}, {0, 1, 0}, {0, 2, 0}, {1, 2, 0}, {2, 2, 0}},
                        {{0, 1}, {1, 2}, {2, 3}, {2, 4}}};
  const FramePaths paths = frame_paths(lines);
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_EQ(paths[0].size(), 4u);  // it goes on where a segment begins at the end of the last one
  EXPECT_EQ(paths[1], (std::vector<Vec3d>{{0, 2, 0}, {2, 2, 0}}));
  const Scene palm = load_scene("palm-frames");
  const Lattice& lattice = palm.model.lattices.at(0);
  EXPECT_EQ(lattice.frames.size(), 63u);  // the fronds share the top of the trunk
  EXPECT_EQ(lattice.bones.size(), 62u);
}

TEST(SceneFrames, SaysWhatIsWrong) {
  expect_frames_parts(frames_error(kFrameBar), {"needs frames"});
  expect_frames_parts(frames_error(kFrameBar + "frames = []\n"),
                      {"'bar'", "frames: must be a list of [3 numbers], not an empty one"});
  expect_frames_parts(frames_error(kFrameBar + "frames = 3\n"),
                      {"frames: must be a list of [3 numbers], not a whole number"});
  expect_frames_parts(frames_error(kFrameBar + "frames = [[0, 0, 0]]\n"), {"'bar'", "needs two at least"});
  expect_frames_parts(frames_error(kFrameBar + "frames = [[0, 0, 0], [0, 0, 0]]\n"), {"coincide"});
  expect_frames_parts(frames_error(kFrameBar + "frames = \"nowhere.obj\"\n"), {"frames", "nowhere.obj"});
  expect_frames_parts(frames_error(kFrameBar + kThreeFrames + "element = \"tet10\"\n"),
                      {"element", "of frames"});
  expect_frames_parts(frames_error(kFrameBar + kThreeFrames + "lattice = 0.1\n"), {"lattice"});
  expect_frames_parts(frames_error(kFrameBar + kThreeFrames + "[[pin]]\nobject = \"bar\"\nnodes = [0]\n"),
                      {"'bar' has frames, which have no numbers", "give a box"});
  expect_frames_parts(
      frames_error(kFrameBar + kThreeFrames +
                   "[[pin]]\nobject = \"bar\"\nbox = { min = [0.1, 0, 0], max = [0.2, 1, 1] }\n"),
      {"holds no node of 'bar'"});
}

}  // namespace
}  // namespace stickslip

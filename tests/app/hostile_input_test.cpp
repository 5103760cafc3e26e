// Input that appears valid but is not: byte order marks, empty or negative values, two shapes for one body,
// empty files, and overlong words.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/capture/recorder.h"
#include "app/cli/cli.h"
#include "app/io/ipc/ipc_script.h"
#include "app/io/mesh/msh.h"
#include "app/io/mesh/point_mesh.h"
#include "app/io/mesh/surface_parse.h"
#include "app/process/child_process.h"
#include "tests/app/call_cli.h"
#include "tests/app/ipc_fixture.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

const std::string mark = "\xEF\xBB\xBF";
const std::string tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

const char* const rigid_scene_text = R"(
frames = 1
[[material]]
name = "stone"
[[object]]
name = "ball"
body = "rigid"
shape = "sphere"
radius = 0.1
material = "stone"
position = [0, 1, 0]
[[half_space]]
)";

class HostileInput : public ::testing::Test {
 protected:
  struct Result {
    int code;
    std::string out, err;
  };

  testing::IpcFolder folder;

  Result call(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "stickslip");
    std::vector<const char*> argv;
    for (const std::string& a : arguments) argv.push_back(a.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = call_cli(static_cast<int>(argv.size()), argv.data());
    const std::string out = ::testing::internal::GetCapturedStdout();
    return {code, out, ::testing::internal::GetCapturedStderr()};
  }
  void expect_bad(const std::vector<std::string>& arguments, std::initializer_list<const char*> parts) {
    const Result result = call(arguments);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    for (const char* part : parts)
      EXPECT_NE(result.err.find(part), std::string::npos) << part << " in: " << result.err;
  }
  std::string path(const char* name) const { return (folder.root / name).string(); }
};

TEST_F(HostileInput, AByteOrderMarkBeforeATextIsSkipped) {
  EXPECT_EQ(parse_obj(mark + tetrahedron, "a.obj").nodes.size(), 4u);
  EXPECT_EQ(parse_ply(mark + "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                             "property float z\nelement face 1\nproperty list uchar int vertex_indices\n"
                             "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
                      "a.ply")
                .triangles.size(),
            1u);
  EXPECT_EQ(parse_stl(mark + "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
                             "vertex 0 1 0\nendloop\nendfacet\nendsolid a\n",
                      "a.stl")
                .triangles.size(),
            1u);
  EXPECT_EQ(parse_msh(mark + "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n"
                             "4 0 0 1\n$EndNodes\n$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n",
                      "a.msh")
                .tets.size(),
            1u);
  const fs::path points = folder.write("marked.pt", mark + "v 0 0 0\nv 1 0 0\n");
  EXPECT_EQ(load_point_mesh(points, PointKind::points).nodes.size(), 2u);
  const Scene script = load_ipc_script(
      folder.script(mark + "density 7\nshapes input 1\ninput/tetMeshes/grid.msh 0 0 0  0 0 0  1 1 1\n"));
  EXPECT_EQ(script.model.materials[0].density, 7);
  const Scene scene = load_scene(folder.write("marked.toml", mark + rigid_scene_text).string());
  EXPECT_EQ(scene.model.bodies.size(), 1u);
}

TEST_F(HostileInput, ARigidBodyHasEitherAShapeOrAFile) {
  folder.write("tetrahedron.obj", tetrahedron);
  const std::string body =
      "[[material]]\nname = \"stone\"\n[[object]]\nname = \"ball\"\nbody = \"rigid\"\nmaterial = \"stone\"\n"
      "file = \"tetrahedron.obj\"\n";
  EXPECT_NO_THROW(load_scene(folder.write("one.toml", body).string()));
  for (const char* shape : {"shape = \"sphere\"\nradius = 0.1\n", "shape = \"box\"\nsize = [1, 1, 1]\n"}) {
    folder.write("both.toml", body + shape);
    expect_bad({"run", path("both.toml")}, {"both.toml:7: ", "file: ", "either shape or file"});
  }
}

TEST_F(HostileInput, AStateWithoutSolidsIsNoMsh) {
  folder.write("ball.toml", rigid_scene_text);
  expect_bad({"run", path("ball.toml"), "--state", path("x.msh")},
             {"x.msh: a .msh holds the tetrahedra of solids", ".obj"});
  EXPECT_FALSE(fs::exists(path("x.msh")));
  EXPECT_EQ(call({"run", path("ball.toml"), "--quiet", "--state", path("x.obj")}).code, 0);
  EXPECT_GT(fs::file_size(path("x.obj")), 100u);
}

TEST_F(HostileInput, EmptyAndNegativeValuesAreRefused) {
  folder.write("ball.toml", rigid_scene_text);
  for (const char* option : {"--report", "--trace", "--image", "--images", "--video", "--state", "--variant"})
    expect_bad({"run", path("ball.toml"), option, ""}, {option, "must not be empty"});
  for (const char* seed : {"-1", "1.5", "x"})
    expect_bad({"soak", path("ball.toml"), "--steps", "1", "--seed", seed}, {"--seed", seed});
  expect_bad({"solve", "--generate", "random_stacks", "--seed", "-1"}, {"--seed", "-1"});
  const std::string shape = "shapes input 1\ninput/tetMeshes/grid.msh 0 0 0  0 0 0  1 1 1\n";
  expect_bad({"run", folder.script("selfFric -1000\n" + shape).string()},
             {"scene.txt:1: selfFric", "-1000", "[0, 10]"});
}

TEST_F(HostileInput, AVideoHasAKnownEndingAndItsNameIsNoOption) {
  folder.write("ball.toml", rigid_scene_text);
  for (const char* name : {"x", "x.txt", "x.avi.gif"})
    expect_bad({"run", path("ball.toml"), "--video", path(name)}, {"--video", "must end in .mp4"});
  if (!find_program("ffmpeg")) GTEST_SKIP() << "ffmpeg is not installed";
  const fs::path before = fs::current_path();
  fs::current_path(folder.root);
  for (const char* name : {"-loglevel.mp4", "pipe:1.mkv"}) {
    const auto recorder = record_video(name, 30);
    Image picture;
    picture.width = picture.height = 16;
    picture.rgba.assign(16 * 16 * 4, 100);
    EXPECT_NO_THROW(recorder->add(picture)) << name;
    EXPECT_NO_THROW(recorder->finish()) << name;
    EXPECT_TRUE(fs::exists(folder.root / name)) << name;
  }
  fs::current_path(before);
}

TEST_F(HostileInput, RowsOfBenchCcdDistinguishFilesOfOneName) {
  std::string query;
  for (const char* y : {"1,1,0,1", "1,1,1,1", "1,1,2,1", "2,1,0,1"})
    query += std::string("0,1,") + y + ",0\n";
  query += query;
  for (const char* name : {"a/edge-edge", "b/edge-edge", "a/vertex-face"}) {
    fs::create_directories(folder.root / name);
    folder.write(std::string(name) + "/0.csv", query);
  }
  folder.write("a/edge-edge/1.csv", query);
  const Result result = call({"bench", "ccd", path("a/edge-edge/0.csv"), path("b/edge-edge/0.csv"),
                              path("a/vertex-face/0.csv"), path("a/edge-edge/1.csv")});
  EXPECT_EQ(result.code, 0) << result.err;
  for (const char* label : {" a/edge-edge/0.csv ", " b/edge-edge/0.csv ", " vertex-face/0.csv ", " 1.csv "})
    EXPECT_NE(result.out.find(label), std::string::npos) << label << " in: " << result.out;
}

TEST_F(HostileInput, LinesOfAnObjMayNameTheirTextures) {
  const auto segments = [&](const std::string& line) {
    const fs::path file = folder.write("wires.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n" + line);
    return load_point_mesh(file, PointKind::segments).segments.size();
  };
  EXPECT_EQ(segments("l 1/1 2/2 3/1\n"), 2u);
  EXPECT_EQ(segments("l 1 2 3 # a comment\n"), 2u);
  for (const char* line : {"l 1 2x 3\n", "l 1 2 /3\n", "l 1 -2\n", "l 1 99999999999\n"})
    EXPECT_THROW(segments(line), InputError) << line;
}

TEST_F(HostileInput, HugeMessagesAreCutOnceAndBetweenCharacters) {
  std::string word = "k";  // from here on two bytes per character
  for (int i = 0; i < 1000; ++i) word += "\xC3\xA4";
  const std::string both = shortened("a " + word + " b " + word.substr(1));
  EXPECT_LT(both.size(), 650u);
  EXPECT_EQ(shortened(both), both);
  for (std::size_t i = 0; i + 1 < both.size(); ++i)
    ASSERT_EQ(both[i] == '\xC3', both[i + 1] == '\xA4') << "byte " << i << " of " << both;
  std::string pages;
  for (int i = 0; i < 5000; ++i) pages += "word ";
  EXPECT_LE(shortened(pages).size(), 6000u);
  EXPECT_EQ(shortened(shortened(pages)), shortened(pages));
}

}  // namespace
}  // namespace stickslip

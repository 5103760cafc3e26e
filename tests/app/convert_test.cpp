// The command `convert` and the option `run --state`: input and output files.
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/msh.h"
#include "app/io/mesh/solidify.h"
#include "app/io/mesh/surface_parse.h"
#include "mesh_fixture.h"
#include "scripted_engine.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

class Convert : public MeshFiles {
 protected:
  Convert() { setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1); }
  ~Convert() override { unsetenv("XDG_CACHE_HOME"); }

  int call(std::vector<std::string> arguments, const ScriptedEngine::Script& script = {}) {
    arguments.insert(arguments.begin(), "stickslip");
    std::vector<const char*> argv;
    for (const std::string& a : arguments) argv.push_back(a.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = run_cli(static_cast<int>(argv.size()), argv.data(),
                             [&](Backend, int) { return std::make_unique<ScriptedEngine>(script); });
    out_ = ::testing::internal::GetCapturedStdout();
    err_ = ::testing::internal::GetCapturedStderr();
    return code;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write_mesh(const TetMesh& mesh, const MshFormat& format = {}) const {
    std::ostringstream bytes;
    write_msh(bytes, {{"mesh", mesh}}, format);
    return write("mesh.msh", bytes.str()).string();
  }

  std::string out_, err_;
};

TEST_F(Convert, BetweenTheKindsOfMsh) {
  const TetMesh mesh = make_sphere(0.1, 0.05);
  const std::string in = write_mesh(mesh);
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {}, {"--binary"}, {"--msh-version", "2.2"}, {"--msh-version", "2.2", "--binary"}}) {
    std::vector<std::string> arguments{"convert", in, path("out.msh")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    ASSERT_EQ(call(arguments), 0) << err_;
    const std::string bytes = read(path("out.msh"));
    EXPECT_EQ(parse_msh(bytes, "out").binary, !options.empty() && options.back() == "--binary");
    EXPECT_EQ(bytes.find("2.2") == 12, !options.empty() && options[0] == "--msh-version");
    EXPECT_EQ(load_solid(path("out.msh")).nodes, mesh.nodes);
    EXPECT_EQ(load_solid(path("out.msh")).tets, mesh.tets);
  }
}

TEST_F(Convert, SolidToSurfaceAndBack) {
  const TetMesh mesh = make_box({1, 2, 3}, 0.5);
  ASSERT_EQ(call({"convert", write_mesh(mesh), path("skin.obj")}), 0) << err_;
  const SurfaceMesh skin = load_surface(path("skin.obj"));
  EXPECT_EQ(skin.triangles.size(), boundary_surface(mesh).triangles.size());
  EXPECT_NEAR(enclosed_volume(skin), 6, 1e-12);
  ASSERT_EQ(call({"convert", path("skin.obj"), path("filled.msh"), "--mesher", "lattice", "--edge", "0.2"}),
            0)
      << err_;
  double volume = 0;
  const TetMesh filled = load_solid(path("filled.msh"));
  for (const Vec4i& t : filled.tets) volume += signed_volume(filled.nodes, t);
  EXPECT_NEAR(volume, 6, 0.2);
}

TEST_F(Convert, BadInputLeavesNothingBehind) {
  const std::string good = write_mesh(make_box({1, 1, 1}, 1)),
                    bad = write("bad.msh", "$MeshFormat\n9 0 8\n").string();
  write("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  write("scene.txt", "stiffness 1e5 0.499\nshape input mesh.msh\n");
  const std::size_t before = file_count();
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"convert", bad, path("out.msh")}, "bad.msh:2: "},
      {{"convert", path("none.msh"), path("out.msh")}, "no such file"},
      {{"convert", good, path("out.xyz")}, ".msh for tetrahedra or .obj"},
      {{"convert", good, path("no/folder/out.msh")}, "no folder"},
      {{"convert", good, path("out.msh"), "--msh-version", "3"}, "must be 4.1 or 2.2"},
      {{"convert", good, path("out.msh"), "--mesher", "magic"}, "magic"},
      {{"convert", good, path("out.msh"), "--edge", "-1"}, "--edge"},
      {{"convert", good, path("out.msh"), "--edge", "nan"}, "finite"},
      {{"convert", good, path("out.msh"), "--edge", "inf"}, "finite"},
      {{"convert", path("scene.txt"), path("out.toml")}, "poisson"},
      {{"convert", path("open.obj"), path("out.msh")}, "belongs to 1 triangle"},
      {{"convert", good}, "output"}};
  for (const auto& [arguments, part] : cases) {
    SCOPED_TRACE(part);
    EXPECT_EQ(call(arguments), 2);
    EXPECT_EQ(out_, "");
    EXPECT_EQ(err_.rfind("stickslip: ", 0), 0u);
    expect_parts(err_.substr(0, err_.size() - 1), {part});
    EXPECT_EQ(file_count(), before);
  }
}

const std::string scene =
    "frames = 10\n[params]\ndt = 0.1\n[[material]]\nname = 'm'\n"
    "[[object]]\nname = 'left'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 1\n"
    "[[object]]\nname = 'right'\nshape = 'sphere'\nradius = 1\nedge = 1\nposition = [5, 0, 0]\n"
    "[[collider]]\nname = 'floor'\nshape = 'plane'\nsize = [9, 9]\nposition = [0, -3, 0]\n";

TEST_F(Convert, TheStateAfterTheLastFrame) {
  const std::string toml = write("scene.toml", scene).string();
  const ScriptedEngine::Script slides{.acceleration = {1, 0, 0}};
  ASSERT_EQ(call({"run", toml, "--quiet", "--state", path("end.msh")}, slides), 0) << err_;
  const std::string bytes = read(path("end.msh"));
  expect_parts(bytes.substr(bytes.find("3 1 \""), 10), {"\"left\""});
  EXPECT_EQ(bytes.find("floor"), std::string::npos);
  const MshContent end = parse_msh(bytes, "end.msh");
  EXPECT_EQ(end.tets.size(), make_box({1, 1, 1}, 1).tets.size() + make_sphere(1, 1).tets.size());
  EXPECT_NEAR(end.nodes[0][0], -0.5 + 0.01 * 55, 1e-12);  // 10 steps of 0.1 s, symplectic Euler

  ASSERT_EQ(call({"run", toml, "--quiet", "--frames", "1", "--state", path("end.obj")}), 0) << err_;
  const std::string obj = read(path("end.obj"));
  for (const char* name : {"o left\n", "o right\n", "o floor\n"})
    EXPECT_NE(obj.find(name), std::string::npos);
  EXPECT_EQ(parse_obj(obj, "end.obj").triangles.size(), 12u + 20u + 2u);
}

TEST_F(Convert, AStateThatCannotBeWrittenIsRefusedBeforeTheRun) {
  const std::string toml = write("scene.toml", scene).string();
  for (const std::string& state : {path("end.stl"), path("no/end.msh")}) {
    EXPECT_EQ(call({"run", toml, "--quiet", "--state", state}), 2);
    EXPECT_EQ(out_, "");
    expect_parts(err_.substr(0, err_.size() - 1), {state});
  }
  EXPECT_EQ(file_count(), 1u);
}

}  // namespace
}  // namespace stickslip

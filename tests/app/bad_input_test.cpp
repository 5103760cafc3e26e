// Scenes with bad meshes, through the command line with the real engine. Expected: one message, exit code 2,
// no file.
#include <cmath>

#include "app/cli/cli.h"
#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/msh.h"
#include "app/io/scene/scene.h"
#include "mesh_fixture.h"

namespace stickslip {
namespace {

const std::string material = "frames = 1\n[[material]]\nname = 'm'\n";
const std::string object = "[[object]]\nname = 'body'\nfile = 'mesh.msh'\n";

std::string object_box(const std::string& name, const std::string& position) {
  return "[[object]]\nname = '" + name +
         "'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 1\nposition = " + position + "\n";
}

class BadInput : public MeshFiles {
 protected:
  BadInput() {
    std::ostringstream bytes;
    write_msh(bytes, {{"box", make_box({1, 1, 1}, 1)}}, {});
    good_ = bytes.str();
  }

  /// Runs a scene with every kind of output file; returns the exit code and the messages.
  int run(const std::string& text, const std::vector<std::string>& more = {}) {
    const std::string scene = write("scene.toml", text).string();
    std::vector<std::string> arguments{"stickslip",     "run",     scene,         "--quiet",   "--report",
                                       file("a.jsonl"), "--state", file("a.msh"), "--threads", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<const char*> argv;
    for (const std::string& a : arguments) argv.push_back(a.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = run_cli(static_cast<int>(argv.size()), argv.data());
    out_ = ::testing::internal::GetCapturedStdout();
    err_ = ::testing::internal::GetCapturedStderr();
    return code;
  }

  void expect_bad(const std::string& text, std::initializer_list<std::string> parts,
                  const std::vector<std::string>& more = {}) {
    SCOPED_TRACE(text);
    write("scene.toml", text);
    const std::size_t before = file_count();
    EXPECT_EQ(run(text, more), 2);
    EXPECT_EQ(out_, "");
    ASSERT_FALSE(err_.empty());
    EXPECT_EQ(err_.rfind("stickslip: ", 0), 0u) << err_;
    expect_parts(err_.substr(0, err_.size() - 1), parts);
    EXPECT_EQ(file_count(), before);
  }
  /// The same for a mesh.
  void expect_bad_mesh(const std::string& bytes, std::initializer_list<std::string> parts) {
    write("mesh.msh", bytes);
    expect_bad(material + object, {"scene.toml:6: [[object]] file: "});
    expect_bad(material + object, parts);
  }
  std::string replaced(const std::string& from, const std::string& to) const {
    std::string text = good_;
    return text.replace(text.find(from), from.size(), to);
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  std::string good_, out_, err_;
};

TEST_F(BadInput, AGoodMeshRuns) {
  write("mesh.msh", good_);
  EXPECT_EQ(run(material + object), 0) << err_;
  EXPECT_EQ(err_, "");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "a.msh"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "a.jsonl"));
}

TEST_F(BadInput, MeshFilesThatAreNone) {
  expect_bad(material + object, {"mesh.msh", "no such file"});
  expect_bad_mesh("", {"mesh.msh", "empty"});
  expect_bad_mesh(std::string("\x7f"
                              "ELF\x02\x01\x00\xff\xfe",
                              9),
                  {"mesh.msh:1: ", "$MeshFormat"});
  expect_bad_mesh(good_.substr(0, good_.size() / 2), {"mesh.msh:", "truncated"});
  std::filesystem::remove(folder_ / "mesh.msh");
  std::filesystem::create_directory(folder_ / "mesh.msh");
  expect_bad(material + object, {"mesh.msh", "is a folder"});
}

TEST_F(BadInput, MeshesThatAreNoSolids) {
  const std::string tail = good_.substr(good_.find("$Elements"));
  const auto with_tail = [&](const std::string& elements) {
    return good_.substr(0, good_.size() - tail.size()) + elements;
  };
  expect_bad_mesh(with_tail("$Elements\n1 1 1 1\n3 1 5 1\n1 1 2 3 4 5 6 7 8\n$EndElements\n"),
                  {"hexahedron", "4 nodes"});
  expect_bad_mesh(with_tail("$Elements\n1 1 1 1\n2 1 2 1\n1 1 2 3\n$EndElements\n"), {"no tetrahedra"});
  expect_bad_mesh(with_tail("$Elements\n1 2 1 2\n3 1 4 2\n1 1 2 3 5\n2 1 3 2 8\n$EndElements\n"),
                  {"inverted"});
  expect_bad_mesh(with_tail("$Elements\n1 2 1 2\n3 1 4 2\n1 1 2 3 5\n2 1 2 3 5\n$EndElements\n"),
                  {"element 2 has the same nodes as element 1"});
  expect_bad_mesh(with_tail("$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n"),
                  {"element 1 has no volume"});
  expect_bad_mesh(with_tail("$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 999\n$EndElements\n"),
                  {"element 1", "node 999"});
  expect_bad_mesh(replaced("\n-0.5 ", "\nnan "), {"mesh.msh:", "finite"});
  expect_bad_mesh(replaced("$Nodes\n1 8 1 8", "$Nodes\n1 800000000000 1 8"), {"mesh.msh:", "800000000000"});
}

TEST_F(BadInput, BodiesThatIntersectAtTheStart) {
  expect_bad(material + object_box("left", "[0, 0, 0]") + object_box("right", "[0.5, 0.3, 0.2]"),
             {"scene.toml", "objects 'left' and 'right' intersect at the start", "the edge between nodes",
              "passes through triangle"});
  expect_bad(material + object_box("left", "[0, 0, 0]") + object_box("right", "[1, 0, 0]"),
             {"'left'", "'right'", "start"});
  expect_bad(material + object_box("low", "[0, 0.4, 0]") + "[[half_space]]\npoint = [0, 0, 0]\n",
             {"object 'low'", "half-space 0", "node"});
  // One mesh with two boxes that intersect.
  std::vector<NamedTets> parts{{"a", make_box({1, 1, 1}, 1)}, {"b", make_box({1, 1, 1}, 1)}};
  for (auto& p : parts[1].mesh.nodes) p += Vec<double, 3>{0.5, 0.3, 0.2};
  std::ostringstream bytes;
  write_msh(bytes, parts, {});
  write("mesh.msh", bytes.str());
  expect_bad(material + object, {"object 'body' intersects itself at the start", "triangle"});
}

TEST_F(BadInput, ScenesOutOfBounds) {
  const std::string ball = "[[object]]\nname = 'ball'\nshape = 'sphere'\nradius = 1\nedge = ";
  expect_bad(material + ball + "1e-9\n", {"scene.toml:4: ", "edge is too short"});
  expect_bad(material + ball + "0\n", {"scene.toml:8: ", "edge"});
  expect_bad(material + ball + "inf\n", {"scene.toml:8: ", "edge"});
  expect_bad(material + ball + "0.1\ncount = [1000, 1000, 1000]\nspacing = [3, 3, 3]\n",
             {"scene.toml:9: ", "count", "GiB of memory"});
  expect_bad(material + object + "mesher = 'gmsh'\n", {"scene.toml:7: ", "mesher", "tetgen"});
  expect_bad(material + object + "edge = -1\n", {"scene.toml:7: ", "edge"});
  write("mesh.msh", good_);
  expect_bad(material + object + "edge = 1\n", {"mesh.msh", "edge and mesher are for surfaces"});
  expect_bad(material + object + "shape = 'box'\n", {"either shape or file"});
  expect_bad("[params]\ndt = -1\n" + material + object_box("a", "[0, 0, 0]"), {"scene.toml:2: ", "dt"});
  expect_bad("[params]\ndtt = 1\n" + material + object_box("a", "[0, 0, 0]"), {"scene.toml:2: ", "'dt'"});
  expect_bad(material + "poisson = 0.5\n" + object_box("a", "[0, 0, 0]"), {"scene.toml:4: ", "poisson"});
  expect_bad(std::string("\x00\x01\xff\xfe garbage", 12), {"scene.toml:1"});
  expect_bad("", {"scene.toml"});
  expect_bad(material + object_box("a", "[0, 0, 0]"), {"--set young=-1"}, {"--set", "young=-1"});
  expect_bad(material + object_box("a", "[0, 0, 0]"), {"--set", "unknown key 'yung'", "'young'"},
             {"--set", "yung=1"});
}

/// The error message for `text`; empty when it is accepted.
std::string complaint_about(const std::string& text) {
  try {
    parse_scene(text, "scene.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// Beyond 2^53 a double cannot represent every integer. The second value wraps to 1 in 32 bits.
const std::vector<std::string> huge_integers{"9007199254740993",  "4294967297",  "9223372036854775807",
                                             "-9007199254740993", "-4294967297", "-9223372036854775808"};

TEST_F(BadInput, HugeIntegersOfEverySetting) {
  const std::string soft = "[[material]]\nname = 'm'\n", body = object_box("a", "[0, 0, 0]");
  const auto check = [&](const std::string& before, const std::string& after,
                         std::span<const ParamInfo> rows) {
    for (const ParamInfo& info : rows) {
      const bool number = info.type == ParamType::integer || info.type == ParamType::real;
      for (const std::string& value : huge_integers) {
        const double nearest = std::stod(value);
        const std::string key(info.name);
        const std::string error = complaint_about(before + key + " = " + value + "\n" + after);
        if (number && nearest >= info.low && nearest <= info.high) {
          EXPECT_EQ(error, "") << key << " = " << value;
        } else {
          EXPECT_NE(error.find(key), std::string::npos) << key << " = " << value << ": " << error;
          EXPECT_NE(error.find(number ? "must be" : ", not a whole number"), std::string::npos) << error;
          const std::size_t equals = error.find(" = ");
          EXPECT_TRUE(!number || (equals < error.size() && std::stod(error.substr(equals + 3)) == nearest))
              << error;
        }
      }
    }
  };
  check("[params]\n", soft + body, param_table());
  check("[contact]\n", soft + body, lab_param_table());
  check(soft, body, material_table());
}

TEST_F(BadInput, HugeIntegersOfEveryOtherKey) {
  const std::string soft = "[[material]]\nname = 'm'\n", body = object_box("a", "[0, 0, 0]"),
                    rigid = "body = 'rigid'\n";
  const std::string wall = "[[collider]]\nname = 'c'\n", shape = "[[object]]\nname = 'b'\nshape = ";
  struct Key {
    std::string text, key;  // '@' is replaced by the value
    bool whole = true;      // else a number of any size
  };
  const std::vector<Key> keys{
      {"frames = @\n" + soft + body, "frames"},
      {"picture = @\n" + soft + body, "picture"},
      {"scale = @\n" + soft + body, "scale"},
      {"[camera]\nfov = @\n" + soft + body, "fov"},
      {soft + body + "count = [2, @, 2]\nspacing = [2, 2, 2]\n", "count"},
      {soft + body + "count = [2, 2, 2]\nspacing = [2, 2, 2]\nseed = @\n", "seed"},
      {soft + body + "count = [2, 2, 2]\nspacing = [2, 2, 2]\ntumble = @\n", "tumble"},
      {soft + body + "ring = { count = @, turn = [0, 9, 0] }\n", "count"},
      {soft + body + "ring = { count = 2, turn = [0, 9, 0], layers = @ }\n", "layers"},
      {soft + body + "color = [0, @, 0]\n", "color"},
      {soft + shape + "'net'\nsize = [1, 1]\nwidth = 0.1\nedge = 0.1\nbars = @\n", "bars"},
      {soft + wall + "shape = 'stairs'\ntread = 1\nrise = 1\nwidth = 1\nsteps = @\n", "steps"},
      {soft + shape + "'stairs'\ntread = 1\nrise = 1\nwidth = 1\nsteps = @\n" + rigid, "steps"},
      {soft + shape + "'torus'\nradius = 1\ntube_radius = 0.3\ncells = @\n" + rigid, "cells"},
      {soft + body + "[[pin]]\nobject = 'a'\nnodes = [0, @]\n", "nodes"},
      {soft + body + "[expect]\nintersections = @\n", "intersections"},
      {soft + body + "[expect]\nconverged = @\n", "converged"},
      {soft + body + "[[variant]]\nname = 'v'\nset = ['mu=1']\nframes = @\n", "frames"},
      {soft + body + "[[half_space]]\nmu = @\n", "mu"},
      {soft + body + "rotation = [0, @, 0]\n", "rotation", false},
      {soft + body + "velocity = [0, @, 0]\n", "velocity", false},
      {soft + body + "[[force]]\nobject = 'a'\nnodes = [0]\nacceleration = [@, 0, 0]\n", "", false},
  };
  for (const Key& key : keys)
    for (const std::string& value : huge_integers) {
      std::string text = key.text;
      text.replace(text.find('@'), 1, value);
      SCOPED_TRACE(text);
      const std::string error = complaint_about(text);
      if (key.whole) {
        EXPECT_NE(error.find(key.key + ": "), std::string::npos) << error;
        EXPECT_NE(error.find("must be"), std::string::npos) << error;
      } else if (value[0] != '-') {
        EXPECT_EQ(error, "");
      }
    }
  const Scene far = parse_scene(soft + body + "velocity = [0, 9007199254740993, 1]\n", "scene.toml");
  EXPECT_EQ(far.model.velocities[0][1], 9007199254740992.0) << "the nearest double";
  expect_bad("frames = 9223372036854775807\n" + soft + body,
             {"scene.toml:1: frames: 9223372036854775807 must be a whole number in [1, 1000000]"});
  expect_bad("[contact]\nmax_iterations = 9223372036854775807\n" + soft + body,
             {"scene.toml:2: [contact] max_iterations", "must be a whole number in [1, 2e+09]"});
  expect_bad("[params]\ndt = 100000000000000000000\n" + soft + body, {"scene.toml:2: "});
}

TEST_F(BadInput, ScenesTruncatedAnywhereNeverCrash) {
  const std::string text = material + object_box("a", "[0, 0, 0]") + object_box("b", "[0, 3, 0]") +
                           "[[half_space]]\npoint = [0, -5, 0]\n";
  int refused = 0;
  for (std::size_t length = 0; length < text.size(); ++length) {
    try {
      parse_scene(text.substr(0, length), "scene.toml");
    } catch (const InputError& error) {
      ++refused;
      EXPECT_EQ(std::string(error.what()).rfind("scene.toml", 0), 0u) << error.what();
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace stickslip

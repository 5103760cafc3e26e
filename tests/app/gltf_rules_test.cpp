// Exported runs keep the rules of glTF 2.0, which are checked without the exporter's code.
#include "tests/app/gltf_rules.h"

#include <gtest/gtest.h>

#include <functional>

#include "app/io/animation/animation.h"
#include "app/io/scene/scene.h"

namespace stickslip {
namespace {

using nlohmann::json;
using test::GltfRules;

std::string exported(const std::string& name, int steps = 6) {
  const Scene scene = load_scene(name);
  const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 2);
  engine->set_params(scene.params);
  engine->set_contact_params(scene.contact_params);
  engine->load(scene.model);
  MotionRecording recording(1e5);
  for (int i = 0; i <= steps; ++i) {
    if (i > 0) engine->step();
    Snapshot snapshot;
    engine->snapshot(snapshot);
    recording.add(snapshot);
  }
  return gltf_bytes(moving_meshes(scene.model, recording.frames()), recording.frames());
}

std::string all_of(const std::vector<std::string>& faults) {
  std::string text;
  for (const std::string& fault : faults) text += fault + "\n";
  return text;
}

/// The JSON and the binary data of a file changed, with lengths that fit.
std::string changed(const std::string& file, const std::function<void(json&, std::string&)>& change) {
  std::uint32_t text = 0;
  std::memcpy(&text, file.data() + 12, 4);
  json root = json::parse(file.substr(20, text));
  std::string bytes = file.substr(28 + text);
  change(root, bytes);
  std::string dumped = root.dump();
  while (dumped.size() % 4 != 0) dumped += ' ';
  const auto word = [](std::size_t value) {
    const auto bits = static_cast<std::uint32_t>(value);
    return std::string(reinterpret_cast<const char*>(&bits), 4);
  };
  return "glTF" + word(2) + word(28 + dumped.size() + bytes.size()) + word(dumped.size()) + "JSON" + dumped +
         word(bytes.size()) + std::string("BIN\0", 4) + bytes;
}

class GltfRulesOf : public ::testing::TestWithParam<const char*> {};

TEST_P(GltfRulesOf, AreKeptByItsExport) {
  const std::string file = exported(GetParam());
  EXPECT_EQ(all_of(GltfRules(file).faults()), "");
}

// Elastic, rigid, both, cloth, and rods.
INSTANTIATE_TEST_SUITE_P(Scenes, GltfRulesOf,
                         ::testing::Values("drop", "card-house", "mixed", "cloth-sphere", "rods-twist"));

/// Writes a float into the data of an accessor.
void put(const json& root, std::string& bytes, std::size_t accessor, std::size_t number, float value) {
  const json& view = root["bufferViews"][root["accessors"][accessor]["bufferView"].get<std::size_t>()];
  std::memcpy(bytes.data() + view["byteOffset"].get<std::size_t>() + 4 * number, &value, 4);
}

TEST(GltfRulesThemselves, FindWhatIsWrong) {
  const std::string file = exported("card-house", 3), deforming = exported("drop", 3);
  ASSERT_EQ(all_of(GltfRules(file).faults()) + all_of(GltfRules(deforming).faults()), "");
  const auto expect_fault = [&](const std::string& part,
                                const std::function<void(json&, std::string&)>& change,
                                bool deforms = false) {
    const std::string faults = all_of(GltfRules(changed(deforms ? deforming : file, change)).faults());
    EXPECT_NE(faults.find(part), std::string::npos) << part << " was not found in\n" << faults;
  };
  const auto sampler = [](const json& root, const char* path, const char* end) {
    for (const json& channel : root["animations"][0]["channels"])
      if (channel["target"]["path"] == path)
        return root["animations"][0]["samplers"][channel["sampler"].get<std::size_t>()][end]
            .get<std::size_t>();
    ADD_FAILURE() << "no channel of " << path;
    return std::size_t{0};
  };
  const auto attribute = [](const json& root, const char* name) {
    return root["meshes"][0]["primitives"][0]["attributes"][name].get<std::size_t>();
  };
  EXPECT_NE(all_of(GltfRules(file + "more").faults()).find("the length is that of the file"),
            std::string::npos);
  expect_fault("at most three bytes of padding",
               [](json&, std::string& bytes) { bytes += std::string(8, '\0'); });
  expect_fault("bufferView: within its buffer", [](json& root, std::string&) {
    root["bufferViews"].back()["byteLength"] =
        root["bufferViews"].back()["byteLength"].get<std::size_t>() + 4;
  });
  expect_fault("within its bufferView", [](json& root, std::string&) {
    root["accessors"][0]["count"] = root["accessors"][0]["count"].get<std::size_t>() + 1;
  });
  expect_fault("aligned", [](json& root, std::string&) {
    root["accessors"][0]["byteOffset"] = 2;
    root["accessors"][0]["count"] = root["accessors"][0]["count"].get<std::size_t>() - 1;
  });
  expect_fault("that of the data", [&](json& root, std::string&) {
    root["accessors"][attribute(root, "POSITION")]["max"][1] = 1e6;
  });
  expect_fault("POSITION has min and max", [&](json& root, std::string&) {
    root["accessors"][attribute(root, "POSITION")].erase("min");
  });
  expect_fault("finite", [&](json& root, std::string& bytes) {
    put(root, bytes, attribute(root, "NORMAL"), 0, std::numeric_limits<float>::quiet_NaN());
  });
  expect_fault("unit normals",
               [&](json& root, std::string& bytes) { put(root, bytes, attribute(root, "NORMAL"), 0, 2); });
  expect_fault("indices of points that exist", [&](json& root, std::string& bytes) {
    put(root, bytes, root["meshes"][0]["primitives"][0]["indices"], 0, 1e9f);
  });
  expect_fault("times rise strictly", [&](json& root, std::string& bytes) {
    const std::size_t times = sampler(root, "rotation", "input");
    put(root, bytes, times, 2, root["accessors"][times]["min"][0].get<float>());
  });
  expect_fault("an output for each time", [&](json& root, std::string&) {
    json& count = root["accessors"][sampler(root, "translation", "output")]["count"];
    count = count.get<std::size_t>() - 1;
  });
  expect_fault("unit quaternions", [&](json& root, std::string& bytes) {
    put(root, bytes, sampler(root, "rotation", "output"), 3, 3);
  });
  const auto one_weight_more = [](json& root, std::string&) {
    for (json& mesh : root["meshes"])
      if (mesh.contains("weights")) mesh["weights"].push_back(0);
  };
  expect_fault("a weight for each target", one_weight_more, true);
  expect_fault("its mesh exists", [](json& root, std::string&) { root["nodes"][0]["mesh"] = 1000; });
}

}  // namespace
}  // namespace stickslip

// Bundles: what is in them, and what is refused.
#include "app/io/bundle/bundle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/io/file/output_file.h"
#include "tests/app/full_disk.h"
#include "tests/app/mesh_fixture.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

const BundleOrigin bundle_origin_here{"stickslip 1\nreal: double", "cpu", "a processor", "a card"};

class BundleFiles : public MeshFiles {
 protected:
  BundleFiles() {
    for (const char* name : {"scenes", "scenes/frames", "meshes", "far"})
      fs::create_directories(folder_ / name);
    for (const char* name :
         {"scenes/map.pgm", "scenes/frames/0.obj", "scenes/frames/12.msh", "scenes/frames/notes.txt",
          "scenes/spine.obj", "meshes/cube.obj", "far/scalp.obj"})
      write(name, std::string("bytes of ") + name);
  }

  std::string scene_text() const {
    return "# with comments\n[[material]]\ntexture = { file = \"map.pgm\", kind = \"height\" "
           "}\n[[object]]\nfile = "
           "\"../meshes/cube.obj\"  # a cube\nframes = \"spine.obj\"\n[[object]]\nscalp = \"" +
           (folder_ / "far" / "scalp.obj").string() +
           "\"\n[[collider]]\nfile = \"../meshes/cube.obj\"\nsequence = { folder = \"frames/\", dt = 0.1 }\n";
  }
  std::vector<SceneLoad> opened(const std::vector<std::string>& texts) const {
    OpenedScenes scenes;
    for (const std::string& text : texts) {
      Scene scene;
      scene.file = folder_ / "scenes" / "yard.toml";
      scene.source = text;
      scene.variant = "wet";
      scenes.add(scene);
    }
    return scenes.loads();
  }
  /// A bundle of one scene.
  fs::path bundle(const std::string& journal = "a journal\n") const {
    const fs::path file = folder_ / "a.stickslip";
    EXPECT_TRUE(write_bundle(file, bundle_origin_here, journal, opened({scene_text()}), "a picture").empty());
    return file;
  }
  /// The bundle with other members.
  fs::path changed(const std::function<void(std::vector<TarMember>&)>& change) const {
    Bundle content = read_bundle(bundle());
    change(content.members);
    std::ostringstream out;
    write_tar(out, content.members);
    return write("changed.stickslip", out.str());
  }
};

std::string with_replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST_F(BundleFiles, HoldTheSceneAndItsFilesAsTheyLie) {
  const Bundle seen = read_bundle(bundle());
  std::vector<std::string> names;
  for (const TarMember& member : seen.members) names.push_back(member.name);
  EXPECT_EQ(names.front(), "bundle.json");
  std::ranges::sort(names);
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "bundle.json", "journal.jsonl", "picture.png", "scenes/0/_absolute/0/scalp.obj",
                "scenes/0/meshes/cube.obj", "scenes/0/scenes/frames/0.obj", "scenes/0/scenes/frames/12.msh",
                "scenes/0/scenes/map.pgm", "scenes/0/scenes/spine.obj", "scenes/0/scenes/yard.toml"}));
  EXPECT_EQ(*seen.find("scenes/0/scenes/frames/0.obj"), "bytes of scenes/frames/0.obj");
  EXPECT_EQ(*seen.find("picture.png"), "a picture");
  EXPECT_EQ(*seen.find("scenes/0/scenes/yard.toml"),
            with_replaced(scene_text(), (folder_ / "far").string(), "../_absolute/0"))
      << "all but absolute paths stays";
  EXPECT_EQ(seen.origin.program, bundle_origin_here.program);
  EXPECT_EQ(seen.origin.device, "a processor");
  EXPECT_EQ(seen.origin.renderer, "a card");
  ASSERT_EQ(seen.scenes.size(), 1u);
  EXPECT_EQ(seen.scenes[0].opened_from, (folder_ / "scenes" / "yard.toml").string());
  ASSERT_EQ(seen.loads.size(), 1u);
  EXPECT_EQ(seen.loads[0].variant, "wet");
}

TEST_F(BundleFiles, HoldEachTextOfASceneThatWasEdited) {
  const std::string other = "title = \"other\"\n" + scene_text();
  const fs::path file = folder_ / "a.stickslip";
  write_bundle(file, bundle_origin_here, "", opened({scene_text(), other, scene_text()}), "");
  const Bundle seen = read_bundle(file);
  EXPECT_EQ(seen.find("picture.png"), nullptr);
  ASSERT_EQ(seen.scenes.size(), 2u);
  std::vector<std::size_t> loads;
  for (const BundledLoad& load : seen.loads) loads.push_back(load.scene);
  EXPECT_EQ(loads, (std::vector<std::size_t>{0, 1, 0}));
  EXPECT_EQ(seen.find(seen.scenes[1].file)->substr(0, 15), "title = \"other\"");
}

TEST_F(BundleFiles, CopiesOfObjectsNameTheFilesOfTheBundle) {
  const auto line = [](const std::string& event, const std::string& toml) {
    return nlohmann::json{{"event", event}, {"toml", toml}}.dump() + "\n";
  };
  const std::string path = (folder_ / "far" / "scalp.obj").string();
  const std::string copy = "scalp = \"" + path + "\"\n";
  const Bundle seen = read_bundle(bundle(line("load", "") + line("add_object", copy) + line("step", copy)));
  EXPECT_EQ(
      *seen.find("journal.jsonl"),
      line("load", "") + line("add_object", "scalp = \"../_absolute/0/scalp.obj\"\n") + line("step", copy));
}

TEST_F(BundleFiles, SayWhatWasChangedSinceItWasOpened) {
  const std::vector<SceneLoad> loads = opened({scene_text()});
  fs::last_write_time(folder_ / "meshes" / "cube.obj",
                      fs::file_time_type::clock::now() + std::chrono::seconds(5));
  EXPECT_EQ(write_bundle(folder_ / "a.stickslip", bundle_origin_here, "", loads, ""),
            std::vector<std::string>{(folder_ / "scenes" / "../meshes/cube.obj").string()});
  fs::remove(folder_ / "scenes" / "map.pgm");
  expect_parts(refusal_of([&] { write_bundle(folder_ / "b.stickslip", bundle_origin_here, "", loads, ""); }),
               {"map.pgm", "no such file"});
  EXPECT_FALSE(fs::exists(folder_ / "b.stickslip"));
  expect_parts(
      refusal_of([&] { write_bundle(folder_ / "b.stickslip", bundle_origin_here, "", opened({""}), ""); }),
      {"yard.toml", "no text"});
  OpenedScenes nameless;
  nameless.add({});
  EXPECT_EQ(nameless.loads().size(), 1u) << "scenes of tests have no file";
}

TEST_F(BundleFiles, AreUnpackedIntoEmptyFoldersOnly) {
  const Bundle content = read_bundle(bundle());
  const fs::path to = folder_ / "new" / "folder";
  extract_bundle(content, to);
  EXPECT_EQ(read(to / "scenes" / "0" / "meshes" / "cube.obj"), "bytes of meshes/cube.obj");
  expect_parts(refusal_of([&] { extract_bundle(content, to); }), {"empty folder"});
  EXPECT_THROW(extract_bundle(content, folder_ / "meshes" / "cube.obj"), OutputError);
  fs::path inside;
  {
    UnpackedBundle unpacked(bundle());
    inside = unpacked.next_load().file;
    EXPECT_EQ(inside.filename(), "yard.toml");
    EXPECT_TRUE(fs::exists(inside));
    EXPECT_EQ(read(unpacked.journal()), "a journal\n");
    EXPECT_THROW(unpacked.next_load(), InputError);
  }
  EXPECT_FALSE(fs::exists(inside));
}

TEST_F(BundleFiles, AreRefusedWhenSomethingIsDamagedOrMissing) {
  const auto refused = [&](const fs::path& file, std::initializer_list<std::string> parts) {
    const std::string seen = refusal_of([&] { read_bundle(file); });
    expect_parts(seen, {file.filename().string()});
    expect_parts(seen, parts);
  };
  refused(folder_ / "none.stickslip", {"no such file"});
  refused(write("text.stickslip", std::string(2000, 'x')), {"no header of a tar archive"});
  refused(write("words.stickslip", "not a bundle\n"), {"no header of a tar archive"});
  const std::string bytes = read(bundle());
  refused(write("cut.stickslip", bytes.substr(0, bytes.size() / 2)), {"byte"});
  refused(write("bit.stickslip", with_replaced(bytes, "bytes of meshes", "bytes ov meshes")),
          {"hash", "damaged"});
  refused(changed([](auto& members) { members.erase(members.begin()); }), {"is no bundle", "bundle.json"});
  refused(changed([](auto& members) { members.erase(members.begin() + 1); }), {"journal.jsonl", "missing"});
  refused(changed([](auto& members) { members.push_back({"extra", "x"}); }), {"'extra'", "not listed"});
  const auto manifest = [&](const std::string& from, const std::string& to) {
    return changed([&](auto& members) { members[0].bytes = with_replaced(members[0].bytes, from, to); });
  };
  refused(manifest("bundle 1", "bundle 2"), {"this version reads 'stickslip bundle 1'"});
  refused(manifest("\"scene\": 0", "\"scene\": 7"), {"there is no scene 7"});
  refused(manifest("\"scene\": 0", "\"scene\": \"0\""), {"bundle.json", "type"});
  refused(manifest("{", "["), {"bundle.json", "parse"});
  refused(manifest("\"device\"", "\"devise\""), {"bundle.json", "device"});
  refused(manifest("\"file\": \"scenes/0", "\"file\": \"../scenes/0"), {"missing"});
}

TEST_F(BundleFiles, ThatDoNotFitOnTheDiskLeaveNothing) {
  const std::vector<SceneLoad> loads = opened({scene_text()});
  EXPECT_TRUE(fails_beyond(2000, [&] {
    write_bundle(folder_ / "a.stickslip", bundle_origin_here, "", loads, std::string(100000, 'p'));
  }));
  EXPECT_FALSE(fs::exists(folder_ / "a.stickslip"));
  EXPECT_EQ(file_count(), 3u) << "no part of it either";
  const Bundle content = read_bundle(bundle());
  EXPECT_TRUE(fails_beyond(5, [&] { extract_bundle(content, folder_ / "to"); }));
}

}  // namespace
}  // namespace stickslip

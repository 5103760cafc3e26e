#include "app/viewer/window_files.h"

#include <spdlog/spdlog.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "app/capture/camera_path.h"
#include "app/capture/png.h"
#include "app/io/file/output_file.h"
#include "app/io/report/report.h"
#include "app/io/scene/scene_edit.h"
#include "app/process/child_process.h"
#include "app/viewer/panels/plot_columns.h"
#include "app/viewer/video.h"

namespace stickslip {

namespace fs = std::filesystem;

void WindowFiles::save_report(const Simulation& simulation, const std::string& scene) const {
  const auto &past = simulation.history(), &future = simulation.future();
  if (past.empty() && future.empty()) return;
  const fs::path file = free_name(folder_, "stickslip-" + scene, ".jsonl");
  try {
    make_output_folder(folder_);
    OutputFile out(file);
    for (const auto* steps : {&past, &future})
      for (const StepReport& step : *steps) out.stream() << to_json(step).dump() << "\n";
    out.commit();
    spdlog::info("wrote {}: {} steps", file.string(), past.size() + future.size());
  } catch (const std::exception& error) {
    spdlog::error("the report was not written: {}", error.what());
  }
}

void WindowFiles::save_plots(const Simulation& simulation, const TrackedProbes& tracked,
                             const TrackedProbes& expected, const Forks& forks,
                             const std::string& scene) const {
  std::vector<const StepReport*> steps = steps_of(simulation.history());
  for (const StepReport& step : simulation.future()) steps.push_back(&step);
  if (steps.empty()) return;
  const fs::path file = free_name(folder_, "stickslip-" + scene + "-plots", ".csv");
  try {
    make_output_folder(folder_);
    OutputFile out(file);
    out.stream() << history_csv(steps, tracked, plot_columns(forks, *simulation.frame().scene, expected));
    out.commit();
    spdlog::info("wrote {}: {} steps", file.string(), steps.size());
  } catch (const std::exception& error) {
    spdlog::error("the plots were not written: {}", error.what());
  }
}

void WindowFiles::save_scene(const Scene& scene, const Settings& settings) const {
  const fs::path file = free_name(folder_, "stickslip-" + scene.name, ".toml");
  try {
    const std::string text = edited_scene(
        scene, {settings.params, settings.contact_params, settings.materials, settings.half_space_mu});
    make_output_folder(folder_);
    OutputFile out(file);
    out.stream() << text;
    out.commit();
    spdlog::info("wrote {}; stickslip view {}", file.string(), file.string());
    if (scene.changed) spdlog::info("in it, balls begin where they were thrown, at the start of the run");
  } catch (const std::exception& error) {
    spdlog::error("the scene was not saved: {}", error.what());
  }
}

void WindowFiles::add_camera_key(const Camera& camera, double time, const std::string& scene) {
  if (camera_file_.empty() || !(time > last_camera_key_))
    camera_file_ = free_name(folder_, "stickslip-" + scene + "-camera", ".txt");
  try {
    make_output_folder(folder_);
    append_camera_key(camera_file_, {time, camera.eye(), camera.target, camera.fov});
    last_camera_key_ = time;
    spdlog::info("{}: a key at {:.3f} s", camera_file_.string(), time);
  } catch (const std::exception& error) {
    spdlog::error("the camera's key was not written: {}", error.what());
  }
}

void WindowFiles::write_kept(const Checkpoint& kept) const {
  const fs::path file = folder_ / ("stickslip-" + fs::path(kept.scene).stem().string() + "-kept.hdf5");
  try {
    make_output_folder(folder_);
    write_checkpoint(file, kept);
    spdlog::info("frame {} kept; stickslip view {}", kept.state.frame, file.string());
  } catch (const std::exception& error) {
    spdlog::error("frame {} is kept while the window is open, but not as a file: {}", kept.state.frame,
                  error.what());
  }
}

void WindowFiles::save_bundle(const std::string& scene, const BundleOrigin& origin,
                              const SessionJournal& journal, const std::vector<SceneLoad>& loads,
                              const Image& picture) const {
  const fs::path file = free_name(folder_, "stickslip-" + scene, ".stickslip");
  try {
    make_output_folder(folder_);
    for (const std::string& changed : write_bundle(file, origin, journal.text(), loads, png_bytes(picture)))
      spdlog::warn("{} was changed after its scene was opened: the bundle has it as it is now", changed);
    spdlog::info("wrote {}; stickslip replay {}", file.string(), file.string());
  } catch (const std::exception& error) {
    spdlog::error("no bundle was written: {}", error.what());
  }
}

void WindowFiles::open_folder() {
  std::error_code error;
  const fs::path folder = fs::absolute(folder_, error);
  if (!fs::is_directory(folder, error)) return spdlog::info("nothing was written to {} yet", folder.string());
  const std::optional<fs::path> program = find_program("xdg-open");
  if (!program)
    return spdlog::warn("xdg-open, which opens folders, is not installed: the outputs are in {}",
                        folder.string());
  try {
    opener_ = std::make_unique<DetachedProcess>(*program, std::vector<std::string>{folder.string()});
    spdlog::info("opening {}", folder.string());
  } catch (const std::exception& failure) {
    spdlog::warn("{}: the outputs are in {}", failure.what(), folder.string());
  }
}

void WindowFiles::watch_folder() {
  if (!opener_) return;
  const std::optional<int> code = opener_->exit_code();
  if (!code) return;
  if (*code != 0)
    spdlog::warn("xdg-open has failed with {}: the outputs are in {}", *code, fs::absolute(folder_).string());
  opener_.reset();
}

namespace {

/// Gives each scene the name by which the journal loads it: other loads are the user's.
void name_loads(UnpackedSession& session) {
  std::ifstream journal(session.journal);
  std::size_t next = 0;
  for (std::string line; next < session.loads.size() && std::getline(journal, line);) {
    const auto event = nlohmann::json::parse(line, nullptr, false);
    if (event.is_object() && event.value("event", "") == "load")
      session.loads[next++].name = event.value("scene", "");
  }
}

}  // namespace

UnpackedSession WindowFiles::unpack_bundle(const fs::path& file) const {
  const Bundle bundle = read_bundle(file);
  if (bundle.loads.empty()) throw InputError(file.string() + ": there is no scene in it");
  make_output_folder(folder_);
  const fs::path folder = free_name(folder_, file.stem().string(), "");
  extract_bundle(bundle, folder);
  spdlog::info("the files of {} are in {}", file.string(), folder.string());
  UnpackedSession session{folder / bundle_journal_name, unpacked_loads(bundle, folder)};
  name_loads(session);
  return session;
}

}  // namespace stickslip

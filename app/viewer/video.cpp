#include "app/viewer/video.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "app/capture/png.h"
#include "app/io/file/output_file.h"

namespace stickslip {
namespace {
/// Limits the copies of one picture: a step of many seconds must not fill the disk.
constexpr int copies_at_most = 30;
}  // namespace

std::filesystem::path free_name(const std::filesystem::path& folder, const std::string& stem,
                                const std::string& extension) {
  const std::filesystem::path place = std::filesystem::absolute(folder);
  for (int i = 1;; ++i) {
    const std::string name = stem + "-" + std::to_string(i);
    if (!std::filesystem::exists(place / (name + extension)) &&
        !std::filesystem::exists(place / (name + "_frames")))
      return place / (name + extension);
  }
}

void make_output_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder))
    throw OutputError("cannot make the folder " + folder.string() +
                      (error ? ": " + error.message() : ": there is a file of this name"));
}

void SimulationVideo::add(const Image& picture, double time) {
  if (!due(time)) return;
  if (time < last_) next_ = time;  // the first picture, or the scene was reset
  for (int copies = 0; next_ <= time && copies < copies_at_most; ++copies) {
    recorder_->add(picture);
    empty_ = false;
    next_ += 1 / rate_;
  }
  next_ = std::max(next_, time);
  last_ = time;
}

void SimulationVideo::finish() {
  if (empty_) throw std::runtime_error("no video was written: it has no picture");
  recorder_->finish();
}

void WindowPictures::toggle_video(const std::string& name, double rate, const std::string& simulation_error) {
  if (video_) return stop_video(simulation_error);
  try {
    make_output_folder(folder_);
    video_ = std::make_unique<SimulationVideo>(free_name(folder_, "stickslip-" + name, ".mp4"), rate);
    spdlog::info("recording {}", video_->output().string());
  } catch (const std::runtime_error& error) {
    spdlog::error("{}", error.what());
  }
}

void WindowPictures::stop_video(const std::string& simulation_error) {
  if (!video_) return;
  try {
    if (video_->empty() && !simulation_error.empty())
      throw std::runtime_error("no video was written, since the simulation failed: " + simulation_error);
    video_->finish();
    if (!video_->note().empty()) spdlog::warn("{}", video_->note());
    spdlog::info("wrote {}", video_->output().string());
  } catch (const std::runtime_error& error) {
    spdlog::error("{}", error.what());
  }
  video_.reset();
}

std::filesystem::path WindowPictures::take(const Image& shown, const Snapshot& snapshot,
                                           const std::string& name) {
  std::filesystem::path file = take_screenshot(shown, name);
  try {
    if (video_) video_->add(shown, snapshot.time);
  } catch (const OutputError& error) {
    spdlog::error("{}", error.what());
    video_.reset();
  } catch (const std::runtime_error& error) {
    // The pictures up to this one are kept.
    spdlog::error("{}", error.what());
    stop_video();
  }
  return file;
}

std::filesystem::path WindowPictures::take_screenshot(const Image& shown, const std::string& name) {
  if (!std::exchange(screenshot_, false)) return {};
  try {
    make_output_folder(folder_);
    std::filesystem::path file = free_name(folder_, "stickslip-" + name, ".png");
    write_png(file, shown);
    spdlog::info("wrote {}", file.string());
    return file;
  } catch (const std::runtime_error& error) {
    spdlog::error("{}", error.what());
    return {};
  }
}

}  // namespace stickslip

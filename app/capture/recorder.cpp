#include "app/capture/recorder.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "app/capture/png.h"
#include "app/io/file/input_error.h"
#include "app/io/file/output_file.h"
#include "app/process/child_process.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// The path in a form that the encoder reads neither as an option ("-x.mp4") nor as a protocol
/// ("pipe:1.mp4").
std::string option_free(const fs::path& name) { return (name.is_absolute() ? name : "." / name).string(); }

// Time limits of the encoder: to read a part of a picture, and to exit after the last picture.
constexpr ChildProcess::Limit kWriteLimit = 120s, kFinishLimit = 600s;

bool is_png(const fs::path& file) {
  std::array<char, 8> head{};
  std::ifstream(file, std::ios::binary).read(head.data(), head.size());
  return std::string_view(head.data(), head.size()) == "\x89PNG\r\n\x1a\n";
}

class ImageRecorder : public Recorder {
 public:
  ImageRecorder(fs::path folder, std::string note) : folder_(std::move(folder)), note_(std::move(note)) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error || !fs::is_directory(folder_))
      throw OutputError("cannot make the folder '" + folder_.string() + "'" +
                        (error ? ": " + error.message() : std::string()));
  }
  void add(const Image& frame) override {
    if (count_ == 0) remove_earlier();
    try {
      write_png(path_of(count_++), frame);
    } catch (const InputError& error) {  // the folder was removed or is no longer writable
      throw OutputError(error.what());
    }
  }
  void finish() override {}
  fs::path output() const override { return folder_; }
  std::string note() const override { return note_; }

 private:
  fs::path path_of(int number) const {
    char name[32];
    std::snprintf(name, sizeof(name), "frame_%05d.png", number);
    return folder_ / name;
  }

  /// A shorter recording would leave the last pictures of a longer one behind its own.
  void remove_earlier() {
    int removed = 0;
    std::error_code error;
    while (fs::is_regular_file(fs::symlink_status(path_of(removed), error)) && is_png(path_of(removed)) &&
           fs::remove(path_of(removed), error))
      ++removed;
    if (removed > 0)
      note_ += (note_.empty() ? "" : "; ") + std::to_string(removed) +
               " pictures of an earlier recording in '" + folder_.string() + "' were removed";
  }

  fs::path folder_;
  std::string note_;
  int count_ = 0;
};

class VideoRecorder : public Recorder {
 public:
  VideoRecorder(fs::path file, fs::path ffmpeg, double rate)
      : file_(std::move(file)),
        pending_(file_, PendingFile::Mark::before_extension),
        ffmpeg_(std::move(ffmpeg)),
        rate_(rate) {}

  void add(const Image& frame) override {
    if (finished_) throw std::runtime_error("the video '" + file_.string() + "' is finished already");
    if (!process_) start(frame);
    if (frame.width != width_ || frame.height != height_)
      throw std::runtime_error("the video '" + file_.string() + "' has frames of " + std::to_string(width_) +
                               "x" + std::to_string(height_) + "; one of " + std::to_string(frame.width) +
                               "x" + std::to_string(frame.height) + " cannot follow");
    if (process_->write(frame.rgba, kWriteLimit)) return;
    if (!process_->timed_out()) process_->finish(kFinishLimit);
    fail();
  }

  void finish() override {
    if (failed_) throw OutputError("the video '" + file_.string() + "' was not written");
    if (finished_) return;
    if (!process_) throw std::runtime_error("the video '" + file_.string() + "' has no frames");
    // ffmpeg exits with 0 after some failed writes, for example of the trailer; only the level of its
    // messages shows the error. Lines without a level come from the system's loader or from a driver.
    if (!process_->finish(kFinishLimit)) fail();
    for (const char* level : {"[error]", "[fatal]", "[panic]"})
      if (process_->errors().find(level) != std::string::npos) fail();
    process_.reset();
    finished_ = true;
    pending_.commit();
  }
  fs::path output() const override { return file_; }

 private:
  void start(const Image& frame) {
    width_ = frame.width;
    height_ = frame.height;
    if (width_ < 2 || height_ < 2) throw std::runtime_error("a video needs frames of at least 2x2 pixels");
    const std::string size = std::to_string(width_) + "x" + std::to_string(height_);
    process_ = std::make_unique<ChildProcess>(
        ffmpeg_,
        std::vector<std::string>{"-hide_banner",
                                 "-loglevel",
                                 "level+error",
                                 "-xerror",
                                 "-y",
                                 "-f",
                                 "rawvideo",
                                 "-pixel_format",
                                 "rgba",
                                 "-video_size",
                                 size,
                                 "-framerate",
                                 std::to_string(rate_),
                                 "-i",
                                 "pipe:0",
                                 "-vf",
                                 "crop=trunc(iw/2)*2:trunc(ih/2)*2:0:0,scale=out_color_matrix=bt709",
                                 "-c:v",
                                 "libx264",
                                 "-preset",
                                 "fast",
                                 "-crf",
                                 "18",
                                 "-pix_fmt",
                                 "yuv420p",
                                 "-colorspace",
                                 "bt709",
                                 "-color_primaries",
                                 "bt709",
                                 "-color_trc",
                                 "bt709",
                                 "-movflags",
                                 "+faststart",
                                 option_free(pending_.temporary())},
        ChildProcess::Group::own);
  }
  [[noreturn]] void fail() {
    std::string said = process_->errors();
    while (!said.empty() && said.back() == '\n') said.pop_back();
    const bool hangs = process_->timed_out();
    process_.reset();
    finished_ = failed_ = true;
    std::error_code ignored;
    fs::remove(pending_.temporary(), ignored);
    throw OutputError("cannot write the video '" + file_.string() + "': ffmpeg " +
                      (hangs          ? "hangs and was stopped"
                       : said.empty() ? "ended early"
                                      : "says: " + said));
  }

  fs::path file_;
  PendingFile pending_;
  fs::path ffmpeg_;
  double rate_;
  int width_ = 0, height_ = 0;
  bool finished_ = false, failed_ = false;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace

std::unique_ptr<Recorder> record_images(const fs::path& folder) {
  return std::make_unique<ImageRecorder>(folder, std::string());
}

std::unique_ptr<Recorder> record_video(const fs::path& file, double frames_per_second,
                                       const std::string& ffmpeg) {
  if (const auto program = find_program(ffmpeg))
    return std::make_unique<VideoRecorder>(file, *program, frames_per_second);
  fs::path folder = file;
  folder.replace_extension();
  folder += "_frames";
  return std::make_unique<ImageRecorder>(folder, "the program '" + ffmpeg +
                                                     "' is not there to make a video: PNG pictures are in '" +
                                                     folder.string() + "'");
}

}  // namespace stickslip

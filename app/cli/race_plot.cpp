#include "app/cli/race_plot.h"

#include <cstdio>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <vector>

#include "app/io/file/input_error.h"
#include "app/io/file/number_text.h"
#include "app/io/file/output_file.h"
#include "app/io/scene/scene.h"
#include "app/process/child_process.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScript = "tools/bench/race_plot.py";

/// Python interpreters to try: the first one on the path may lack matplotlib.
std::vector<fs::path> pythons() {
  std::vector<fs::path> found;
  for (const char* name : {"python3", "/usr/bin/python3"})
    if (const std::optional<fs::path> python = find_program(name)) found.push_back(*python);
  return found;
}

/// The first interpreter that can draw; otherwise what is missing.
std::optional<fs::path> drawing_python(std::string& missing) {
  const fs::path script = assets_folder().parent_path() / kScript;
  missing = fs::exists(script) ? "there is no python3" : "there is no " + script.string();
  if (!fs::exists(script)) return std::nullopt;
  for (const fs::path& python : pythons()) {
    ChildProcess probe(python, {"-c", "import matplotlib"});
    if (probe.finish()) return python;
    missing = python.string() + " has no matplotlib";
  }
  return std::nullopt;
}

}  // namespace

std::string race_csv(const std::string& csv, const std::string& plot) {
  if (!csv.empty() || plot.empty()) return csv;
  return fs::path(plot).replace_extension(".csv").string();
}

void check_race_plot(const std::string& plot) {
  if (fs::path(plot).extension() != ".png")
    throw InputError("--plot " + plot + ": a name that ends in .png is expected");
  check_writable(plot);
  std::string missing;
  if (!drawing_python(missing))
    throw InputError("--plot " + plot + ": a plot needs Python with matplotlib, and " + missing +
                     "; with --csv FILE instead, " + kScript + " FILE PICTURE draws it elsewhere");
}

void draw_race(const std::string& csv, const std::string& plot, const RaceTitle& title) {
  const fs::path script = assets_folder().parent_path() / kScript;
  // Drawn under a temporary name: an interrupted script leaves no partial picture.
  PendingFile picture(plot);
  std::string why;
  if (const std::optional<fs::path> python = drawing_python(why)) {
    ChildProcess drawing(*python, {script.string(), csv, picture.temporary().string(), "--title", title.text,
                                   "--tolerance", number_text(title.tolerance)});
    if (drawing.finish()) return picture.commit();
    why = python->string() + ": " + drawing.errors();
  }
  throw std::runtime_error(
      "no plot was drawn; the figures are in " + csv + ", and this draws them where there is " +
      "Python with matplotlib: " + std::string(kScript) + " " + csv + " " + plot + "\n" + why);
}

}  // namespace stickslip

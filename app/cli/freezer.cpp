#include "app/cli/freezer.h"

#include <algorithm>
#include <charconv>
#include <iostream>

#include "app/io/fclib/frozen_problem.h"
#include "gpu/model/steppers.h"

namespace stickslip {

namespace fs = std::filesystem;

Freezer::Freezer(const RunOptions& options, const Scene& scene, int frames) {
  for (const std::string& text : options.freezes) {
    const std::string prefix = "--freeze " + text + ": ";
    const auto refuse = [&](const std::string& why) { throw InputError(prefix + why); };
    if (stepper_family(scene.params.solver) != StepperFamily::velocity)
      refuse(
          "barrier steps have no contact problem at velocity level: choose solver velocity or one of its "
          "contact solvers");
    const std::size_t colon = text.find(':');
    int frame = 0;
    const char* end = text.data() + std::min(colon, text.size());
    const auto [stopped, error] = std::from_chars(text.data(), end, frame);
    if (colon == std::string::npos || error != std::errc() || stopped != end)
      refuse("must be FRAME:FILE.hdf5, as in 60:pile.hdf5");
    if (frame < 1 || frame > frames)
      refuse("the frame must be in [1, " + std::to_string(frames) + "], which is run");
    const fs::path file = text.substr(colon + 1);
    if (file.extension() != ".hdf5") refuse("the file's name must end in .hdf5");
    std::error_code unknown;
    if (fs::exists(file, unknown)) refuse("the file is there already");
    files_.emplace(frame, file);
  }
}

void Freezer::step(Engine& engine, const StepReport& report) {
  const auto [begin, end] = files_.equal_range(report.frame);
  for (auto entry = begin; entry != end; ++entry) {
    const ContactProblem problem = engine.freeze();
    if (problem.blocks() == 0) {
      std::cerr << "stickslip: frame " << report.frame << " has no contacts: nothing was frozen\n";
      continue;
    }
    write_frozen(entry->second, problem);
    std::cerr << "frozen: frame " << report.frame << ", " << problem.contacts()
              << " contacts; stickslip race " << entry->second.string() << "\n";
  }
}

}  // namespace stickslip

// The picture of a race, drawn by tools/bench/race_plot.py from the CSV.
#pragma once

#include <string>

namespace stickslip {

/// Path of the CSV file: `csv`, else beside the plot, else empty (no file).
std::string race_csv(const std::string& csv, const std::string& plot);

/// Throws InputError if the path is not writable or does not end in .png.
void check_race_plot(const std::string& plot);

struct RaceTitle {
  std::string text;
  double tolerance;
};
/// Throws std::runtime_error if no Python with matplotlib exists; the message has the command to run
/// elsewhere.
void draw_race(const std::string& csv, const std::string& plot, const RaceTitle& title);

}  // namespace stickslip

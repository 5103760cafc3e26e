// The picture of a race, drawn by tools/bench/race_plot.py from the CSV.
#pragma once

#include <string>

namespace stickslip {

/// Where the figures go: `csv`, else beside the plot, else nowhere (empty).
std::string race_csv(const std::string& csv, const std::string& plot);

/// Throws InputError when the picture could not be written there or has another ending than .png.
void check_race_plot(const std::string& plot);

struct RaceTitle {
  std::string text;
  double tolerance;
};
/// Throws std::runtime_error with the command to type elsewhere when there is no Python with matplotlib.
void draw_race(const std::string& csv, const std::string& plot, const RaceTitle& title);

}  // namespace stickslip

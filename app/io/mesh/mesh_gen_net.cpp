#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/mesh_gen_cells.h"

namespace stickslip {
namespace {

/// One direction of the net: bars and the openings between them, divided into cells.
struct Rows {
  std::vector<double> cuts;  // ascending, one more than cells
  std::vector<bool> in_bar;  // of each cell
};

Rows make_rows(double size, int bars, double width, double edge) {
  const double opening = (size - bars * width) / (bars - 1);
  Rows rows{{-size / 2}, {}};
  const auto add = [&](double length, bool in_bar) {
    const double start = rows.cuts.back();
    const int n = cells(length, edge);
    for (int i = 1; i <= n; ++i) {
      rows.cuts.push_back(start + length * i / n);
      rows.in_bar.push_back(in_bar);
    }
  };
  for (int bar = 0; bar < bars; ++bar) {
    if (bar > 0) add(opening, false);
    add(width, true);
  }
  return rows;
}

}  // namespace

TetMesh make_net(double size_x, double size_z, int bars, double width, double edge) {
  check_length("size", size_x);
  check_length("size", size_z);
  check_length("width", width);
  check_length("edge", edge);
  if (bars < 2 || bars * width >= std::min(size_x, size_z))
    throw std::invalid_argument("bars = " + std::to_string(bars) +
                                ": must be at least 2, and narrower together than the net");
  check_count(5 * bars * along(width, edge) * along(width, edge) *
              (along(size_x, edge) + along(size_z, edge) + 2.0 * bars));
  check_count(along(size_x, edge) * along(size_z, edge) * along(width, edge));  // of the grid
  const Rows x = make_rows(size_x, bars, width, edge), z = make_rows(size_z, bars, width, edge);
  const int layers = cells(width, edge);
  return box_cells({x.cuts, even_cuts(width, layers), z.cuts},
                   [&](int i, int, int k) { return x.in_bar[i] || z.in_bar[k]; });
}

}  // namespace stickslip

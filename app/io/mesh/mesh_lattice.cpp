#include "app/io/mesh/mesh_lattice.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "app/io/mesh/mesh_gen_cells.h"

namespace stickslip {
namespace {

// Of a cell: an extent that rounding makes a little longer than a multiple needs no further cell.
constexpr double kRounding = 1e-9;

}  // namespace

TetMesh cover_with_cells(const SurfaceMesh& surface, double cell) {
  check_length("lattice", cell);
  if (surface.nodes.empty()) throw std::invalid_argument("its surface has no nodes");
  Vec<double, 3> low = surface.nodes[0], high = low;
  for (const Vec<double, 3>& p : surface.nodes) {
    low = min(low, p);
    high = max(high, p);
  }
  std::array<std::vector<double>, 3> cuts;
  double n[3];
  for (int c = 0; c < 3; ++c) n[c] = std::max(1.0, std::ceil((high[c] - low[c]) / cell - kRounding));
  if (5 * n[0] * n[1] * n[2] > 1e7)
    throw std::invalid_argument("the cells of its lattice are too small: more than 10 million elements");
  check_count(5 * n[0] * n[1] * n[2]);
  for (int c = 0; c < 3; ++c) cuts[c] = even_cuts(n[c] * cell, static_cast<int>(n[c]));
  TetMesh mesh = box_cells(cuts, [](int, int, int) { return true; });
  const Vec<double, 3> middle = 0.5 * (low + high);
  for (Vec<double, 3>& p : mesh.nodes) p += middle;
  return mesh;
}

}  // namespace stickslip

#include "bench/cube_stacks.h"

#include "bench/lattice.h"

namespace stickslip {

Model cube_stacks(int columns, int touching, double d_hat) {
  constexpr std::int32_t kSide = 9;  // nodes along a cube's edge
  constexpr double kSize = 0.1, kPitch = 0.15, kApart = 10, kClose = 0.5;
  static_assert(kStackCubeNodes == kSide * kSide * kSide);
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("soft");
  const std::vector<Vec4i> tets = lattice_tets(kSide);
  const double cell = kSize / (kSide - 1);
  int rows = 1;  // of columns: thousands form a square
  while (rows * rows < columns) ++rows;
  for (int c = 0; c < 2 * columns; ++c) {
    const bool upper = c % 2 != 0;
    const int column = c / 2, row = column / rows;
    const double gap = (column < touching ? kClose : kApart) * d_hat;
    // Shifted by parts of a cell, so that the meshes do not match.
    const Vec<double, 3> corner{kPitch * (column % rows) + (upper ? 0.37 * cell : 0), upper ? kSize + gap : 0,
                                kPitch * row + (upper ? 0.29 * cell : 0)};
    std::vector<Vec<double, 3>> nodes;
    nodes.reserve(kStackCubeNodes);
    for (int z = 0; z < kSide; ++z)
      for (int y = 0; y < kSide; ++y)
        for (int x = 0; x < kSide; ++x)
          nodes.push_back(corner + Vec<double, 3>{double(x), double(y), double(z)} * cell);
    add_solid(model, "cube " + std::to_string(c), nodes, tets, 0);
  }
  finalize(model);
  return model;
}

}  // namespace stickslip

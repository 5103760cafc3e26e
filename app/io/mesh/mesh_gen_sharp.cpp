// Bodies with sharp tips, edges and notches, from a few coarse tets.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/mesh_gen_refine.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

double mean_edge(const TetMesh& mesh) {
  double sum = 0;
  for (const Vec4i& t : mesh.tets)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < i; ++j) sum += norm(mesh.nodes[t[i]] - mesh.nodes[t[j]]);
  return sum / (6 * static_cast<double>(mesh.tets.size()));
}

/// Refines every tet until the mean edge is about `edge`.
TetMesh refined_to(TetMesh coarse, double edge) {
  check_length("edge", edge);
  const double parts = along(mean_edge(coarse), edge);
  check_count(parts * parts * parts * static_cast<double>(coarse.tets.size()));
  for (Vec4i& t : coarse.tets) std::sort(&t[0], &t[0] + 4);
  const int n = cells(mean_edge(coarse), edge);
  return refined(coarse.tets, n, [&](const Vec4i& tet, const std::array<int, 4>& weights) {
    Vec3d p{0, 0, 0};
    for (int c = 0; c < 4; ++c) p += (double(weights[c]) / n) * coarse.nodes[tet[c]];
    return p;
  });
}

/// Prisms along z over the fan of triangles from the first point.
TetMesh extruded(const std::vector<Vec<double, 2>>& fan, double depth, double edge) {
  double outline = 0;
  for (std::size_t i = 2; i < fan.size(); ++i) outline += norm(fan[i] - fan[i - 1]);
  check_length("edge", edge);
  const double layer_depth = std::max(edge, outline / static_cast<double>(fan.size() - 2));
  check_count(3 * along(depth, layer_depth) * static_cast<double>(fan.size() - 2));
  const int layers = cells(depth, layer_depth), count = static_cast<int>(fan.size());
  TetMesh mesh;
  for (int layer = 0; layer <= layers; ++layer)
    for (const auto& p : fan) mesh.nodes.push_back({p[0], p[1], depth * (double(layer) / layers - 0.5)});
  for (int layer = 0; layer < layers; ++layer)
    for (int i = 1; i + 1 < count; ++i) {
      const int low = layer * count, high = low + count;
      mesh.tets.push_back({low, low + i, low + i + 1, high + i + 1});
      mesh.tets.push_back({low, low + i, high + i, high + i + 1});
      mesh.tets.push_back({low, high, high + i, high + i + 1});
    }
  return mesh;
}

void check_size(const Vec3d& size) {
  for (int c = 0; c < 3; ++c) check_length("size", size[c]);
}

void check_notch(const Vec3d& size, double opening, double depth, double narrowest) {
  check_size(size);
  check_length("opening", opening);
  check_length("depth", depth);
  if (opening >= narrowest || depth >= size[1])
    throw std::invalid_argument("opening and depth must be smaller than the box, which is " +
                                std::to_string(narrowest) + " m wide and " + std::to_string(size[1]) +
                                " m high");
}

}  // namespace

TetMesh make_spike(const Vec3d& size, double edge) {
  check_size(size);
  const Vec3d h = 0.5 * size;
  return refined_to({{{0, -h[1], 0},
                      {-h[0], -h[1], -h[2]},
                      {h[0], -h[1], -h[2]},
                      {h[0], -h[1], h[2]},
                      {-h[0], -h[1], h[2]},
                      {0, h[1], 0}},
                     {{0, 1, 2, 5}, {0, 2, 3, 5}, {0, 3, 4, 5}, {0, 1, 4, 5}}},
                    edge);
}

TetMesh make_wedge(const Vec3d& size, double edge) {
  check_size(size);
  const double x = size[0] / 2, y = size[1] / 2;
  return refined_to(extruded({{0, -y}, {x, -y}, {0, y}, {-x, -y}}, size[2], edge), edge);
}

TetMesh make_crack(const Vec3d& size, double opening, double depth, double edge) {
  check_notch(size, opening, depth, size[0]);
  const double x = size[0] / 2, y = size[1] / 2, mouth = opening / 2;
  return refined_to(
      extruded({{0, -y}, {x, -y}, {x, y}, {mouth, y}, {0, y - depth}, {-mouth, y}, {-x, y}, {-x, -y}},
               size[2], edge),
      edge);
}

TetMesh make_hole(const Vec3d& size, double opening, double depth, double edge) {
  check_notch(size, opening, depth, std::min(size[0], size[2]));
  const Vec3d h = 0.5 * size;
  TetMesh mesh{{{0, -h[1], 0}, {0, h[1] - depth, 0}}, {}};
  for (const auto& [x, z] : {std::pair(-1, -1), {1, -1}, {1, 1}, {-1, 1}}) {
    mesh.nodes.push_back({x * h[0], -h[1], z * h[2]});
    mesh.nodes.push_back({x * h[0], h[1], z * h[2]});
    mesh.nodes.push_back({x * opening / 2, h[1], z * opening / 2});
  }
  // A quarter of the box without its part of the funnel is convex: a fan from the middle of its base fills
  // it.
  for (int side = 0; side < 4; ++side) {
    const int a = 2 + 3 * side, b = 2 + 3 * ((side + 1) % 4);
    const int top_a = std::min(a, b) + 1, top_b = std::max(a, b) + 1, rim_a = top_a + 1, rim_b = top_b + 1;
    mesh.tets.push_back({0, a, b, top_b});
    mesh.tets.push_back({0, std::min(a, b), top_a, top_b});
    mesh.tets.push_back({0, top_a, top_b, rim_b});
    mesh.tets.push_back({0, top_a, rim_a, rim_b});
    mesh.tets.push_back({0, 1, rim_a, rim_b});
  }
  return refined_to(std::move(mesh), edge);
}

SurfaceMesh make_stairs(int steps, double tread, double rise, double width) {
  check_length("tread", tread);
  check_length("rise", rise);
  check_length("width", width);
  if (steps < 1) throw std::invalid_argument("steps = " + std::to_string(steps) + ": must be positive");
  const double back = -0.5 * steps * tread;
  std::vector<Vec<double, 2>> fan{{back, 0}};  // all steps are visible from the lower back corner
  for (int i = 0; i < steps; ++i) {
    fan.push_back({back + (steps - i) * tread, i * rise});
    fan.push_back({back + (steps - i) * tread, (i + 1) * rise});
  }
  fan.push_back({back, steps * rise});
  return boundary_surface(oriented(extruded(fan, width, width)));
}

}  // namespace stickslip

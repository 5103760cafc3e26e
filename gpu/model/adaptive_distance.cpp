#include "gpu/model/adaptive_distance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <unordered_map>

#include "gpu/model/exact_distance.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr double kFarShare = 0.1;  // of the distance that a value may be off, beside the tolerance

/// Divides the box of a mesh's grid into an octree.
class AdaptiveField {
 public:
  AdaptiveField(ShapeMesh& mesh, double tolerance) : mesh_(mesh), tolerance_(tolerance), exact_(mesh) {}

  void build() {
    divide();
    set_values();
  }

 private:
  /// In units of the smallest cells.
  struct Cell {
    Vec3i low;
    std::int32_t size;
  };
  static Vec3i corner(const Cell& cell, int c) {
    return cell.low + cell.size * Vec3i{c & 1, c >> 1 & 1, c >> 2 & 1};
  }
  static double interpolated(const std::array<double, 8>& v, const Vec3d& f) {
    double sum = 0;
    for (int c = 0; c < 8; ++c)
      sum += v[static_cast<std::size_t>(c)] * (c & 1 ? f[0] : 1 - f[0]) * (c & 2 ? f[1] : 1 - f[1]) *
             (c & 4 ? f[2] : 1 - f[2]);
    return sum;
  }
  std::size_t index(const Vec3i& node) const {
    const auto& n = mesh_.grid_nodes;
    return static_cast<std::size_t>(node[0]) +
           static_cast<std::size_t>(n[0]) *
               (static_cast<std::size_t>(node[1]) +
                static_cast<std::size_t>(n[1]) * static_cast<std::size_t>(node[2]));
  }

  double exact(const Vec3i& node) {
    const auto [at, is_new] = known_.try_emplace(index(node), 0.0);
    if (is_new) at->second = exact_.at(mesh_.grid_origin + mesh_.grid_spacing * node.cast<double>());
    return at->second;
  }

  bool needs_division(const Cell& cell) {
    if (cell.size == 1) return false;
    std::array<double, 8> corners{};
    for (int c = 0; c < 8; ++c) corners[static_cast<std::size_t>(c)] = exact(corner(cell, c));
    const std::int32_t parts = std::min(cell.size, 4), step = cell.size / parts;
    for (std::int32_t k = 0; k <= parts; ++k)
      for (std::int32_t j = 0; j <= parts; ++j)
        for (std::int32_t i = 0; i <= parts; ++i) {
          const double d = exact(cell.low + step * Vec3i{i, j, k});
          const Vec3d f = Vec3d{double(i), double(j), double(k)} / parts;
          if (std::abs(interpolated(corners, f) - d) > tolerance_ + kFarShare * std::abs(d)) return true;
        }
    return false;
  }

  /// The tree, in order of levels.
  void divide() {
    const std::int32_t root = 1 << mesh_.levels;
    std::vector<Cell> cells;
    for (std::int32_t k = 0; k + 1 < mesh_.grid_nodes[2]; k += root)
      for (std::int32_t j = 0; j + 1 < mesh_.grid_nodes[1]; j += root)
        for (std::int32_t i = 0; i + 1 < mesh_.grid_nodes[0]; i += root) cells.push_back({{i, j, k}, root});
    mesh_.tree.clear();
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const Cell cell = cells[c];
      if (!needs_division(cell)) {
        leaves_.push_back(cell);
        mesh_.tree.push_back(-static_cast<std::int32_t>(leaves_.size()));
        continue;
      }
      if (cells.size() > std::numeric_limits<std::int32_t>::max() / 8)
        throw std::invalid_argument("an adaptive distance field has too many cells");
      mesh_.tree.push_back(static_cast<std::int32_t>(cells.size()));
      for (int child = 0; child < 8; ++child)
        cells.push_back({corner({cell.low, cell.size / 2}, child), cell.size / 2});
    }
  }

  std::size_t leaf_of(const Vec3i& place) const {
    std::int32_t level = mesh_.levels;
    const std::int32_t n0 = (mesh_.grid_nodes[0] - 1) >> level, n1 = (mesh_.grid_nodes[1] - 1) >> level;
    std::int32_t at = (place[0] >> level) + n0 * ((place[1] >> level) + n1 * (place[2] >> level));
    for (at = mesh_.tree[static_cast<std::size_t>(at)]; at >= 0;) {
      --level;
      at = mesh_.tree[static_cast<std::size_t>(at + (place[0] >> level & 1) + 2 * (place[1] >> level & 1) +
                                               4 * (place[2] >> level & 1))];
    }
    return static_cast<std::size_t>(-1 - at);
  }

  /// The largest leaf that contains a node. Only of that one the node may fail to be a corner: sizes are
  /// powers of two, so a corner of the largest is a multiple of the size of each smaller one.
  std::size_t largest_around(const Vec3i& node) const {
    std::size_t largest = 0;
    std::int32_t size = 0;
    for (int c = 0; c < 8; ++c) {
      const Vec3i place = node - Vec3i{c & 1, c >> 1 & 1, c >> 2 & 1};
      bool inside = true;
      for (int a = 0; a < 3; ++a) inside = inside && place[a] >= 0 && place[a] + 1 < mesh_.grid_nodes[a];
      if (!inside) continue;
      const std::size_t leaf = leaf_of(place);
      if (leaves_[leaf].size > size) {
        largest = leaf;
        size = leaves_[leaf].size;
      }
    }
    return largest;
  }

  /// Leaves stand in the order of their sizes, so a larger one has its values before it is asked for them.
  void set_values() {
    mesh_.distance.clear();
    mesh_.distance.reserve(8 * leaves_.size());
    for (const Cell& leaf : leaves_)
      for (int c = 0; c < 8; ++c) {
        const Vec3i node = corner(leaf, c);
        const std::size_t large = largest_around(node);
        const Cell& other = leaves_[large];
        if (other.size == leaf.size) {
          mesh_.distance.push_back(static_cast<float>(exact(node)));
          continue;
        }
        std::array<double, 8> corners{};
        for (std::size_t k = 0; k < 8; ++k) corners[k] = static_cast<double>(mesh_.distance[8 * large + k]);
        mesh_.distance.push_back(
            static_cast<float>(interpolated(corners, (node - other.low).cast<double>() / other.size)));
      }
  }

  ShapeMesh& mesh_;
  const double tolerance_;
  const ExactDistance exact_;
  std::unordered_map<std::size_t, double> known_;  // by node
  std::vector<Cell> leaves_;
};

}  // namespace

void fill_adaptive(ShapeMesh& mesh, double tolerance) { AdaptiveField(mesh, tolerance).build(); }

}  // namespace stickslip

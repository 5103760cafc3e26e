#include "gpu/model/cloth_pattern.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gpu/model/element_group.h"

namespace stickslip {
namespace {

using Uv = Vec<double, 2>;

/// Twice the signed area [m^2].
double turn_of(const PatternTriangle& t) {
  const Uv a = t.corners[1] - t.corners[0], b = t.corners[2] - t.corners[0];
  return a[0] * b[1] - a[1] * b[0];
}

bool is_same(const Uv& a, const Uv& b) { return a[0] == b[0] && a[1] == b[1]; }

/// Sides of triangles, by the nodes from which and to which they run.
class PatternSides {
 public:
  struct Side {
    std::int32_t from, to;
    std::int32_t triangle;
    int opposite;  // corner; the side runs from the next one to the one after it
  };

  explicit PatternSides(std::span<const Vec3i> triangles) {
    sides_.reserve(3 * triangles.size());
    for (std::size_t t = 0; t < triangles.size(); ++t)
      for (int c = 0; c < 3; ++c)
        sides_.push_back(
            {triangles[t][(c + 1) % 3], triangles[t][(c + 2) % 3], static_cast<std::int32_t>(t), c});
    std::ranges::sort(sides_, is_before);
  }

  /// nullptr: there is none.
  const Side* find(std::int32_t from, std::int32_t to) const {
    const auto found = std::ranges::lower_bound(sides_, Side{from, to, 0, 0}, is_before);
    return found != sides_.end() && found->from == from && found->to == to ? &*found : nullptr;
  }

 private:
  static bool is_before(const Side& a, const Side& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  }
  std::vector<Side> sides_;
};

/// Whether the side of `t` opposite to corner c, and that of `u` opposite to corner d, which runs the other
/// way in space, are one edge of a panel.
bool is_in_panel(const PatternTriangle& t, int c, const PatternTriangle& u, int d) {
  return is_same(t.corners[(c + 1) % 3], u.corners[(d + 2) % 3]) &&
         is_same(t.corners[(c + 2) % 3], u.corners[(d + 1) % 3]);
}

/// Corners of a triangle in the plane z = 0; of a mirrored one, mirrored back.
class LaidTriangle {
 public:
  explicit LaidTriangle(const PatternTriangle& t) : t_(t), sign_(turn_of(t) < 0 ? -1 : 1) {}
  Vec<double, 3> operator()(int corner) const { return of(t_.corners[corner]); }
  /// A corner of another triangle of its panel.
  Vec<double, 3> of(const Uv& p) const { return {p[0], sign_ * p[1], 0}; }

 private:
  const PatternTriangle& t_;
  double sign_;
};

/// The triangle's corner opposite to a side, over the edge bc that the side lies along, on its right.
Vec<double, 3> laid_beside(const Vec<double, 3>& b, const Vec<double, 3>& c, const PatternTriangle& across,
                           int opposite) {
  const LaidTriangle at(across);
  // The side runs from c to b.
  const Vec<double, 3> own_b = at((opposite + 2) % 3), own = at((opposite + 1) % 3) - own_b;
  const Vec<double, 3> e = c - b, right{e[1], -e[0], 0};
  const double foot = dot(at(opposite) - own_b, own) / norm2(own);
  return b + foot * e + (2 * pattern_area(across) / norm2(e)) * right;
}

}  // namespace

double pattern_area(const PatternTriangle& triangle) { return std::abs(turn_of(triangle)) / 2; }

std::optional<PatternFault> pattern_fault(std::span<const Vec3i> triangles,
                                          std::span<const PatternTriangle> pattern) {
  for (std::size_t t = 0; t < pattern.size(); ++t) {
    double longest2 = 0;
    for (int c = 0; c < 3; ++c)
      longest2 = std::max(longest2, norm2(pattern[t].corners[(c + 1) % 3] - pattern[t].corners[c]));
    // Also of coordinates that are not finite.
    if (!(2 * pattern_area(pattern[t]) > 1e-10 * longest2 && std::isfinite(longest2)))
      return PatternFault{"a triangle has no area in the pattern", static_cast<std::int32_t>(t), -1};
  }
  const PatternSides sides(triangles);
  for (std::size_t t = 0; t < pattern.size(); ++t)
    for (int c = 0; c < 3; ++c) {
      const auto* other = sides.find(triangles[t][(c + 2) % 3], triangles[t][(c + 1) % 3]);
      if (other == nullptr || static_cast<std::size_t>(other->triangle) >= t) continue;
      const PatternTriangle& across = pattern[static_cast<std::size_t>(other->triangle)];
      if (is_in_panel(pattern[t], c, across, other->opposite) &&
          (turn_of(pattern[t]) > 0) != (turn_of(across) > 0))
        return PatternFault{
            "two neighbours lie on the same side of their edge in the pattern: turn the flipped one, "
            "or move mirrored panels apart",
            static_cast<std::int32_t>(t), other->triangle};
    }
  return std::nullopt;
}

void check_pattern(const Model& model, const Object& object) {
  const auto fault = [&](const std::string& what) {
    throw std::invalid_argument("object '" + object.name + "': " + what);
  };
  if (!object.is_cloth()) fault("only cloth has a pattern");
  if (static_cast<std::size_t>(object.cloth_pattern) >= model.cloth_patterns.size())
    fault("it has no pattern");
  const auto triangles = triangles_of(model, object);
  const ClothPattern& pattern = pattern_of(model, object);
  if (pattern.triangles.size() != triangles.size())
    fault("its pattern has " + std::to_string(pattern.triangles.size()) + " triangles, and it has " +
          std::to_string(triangles.size()));
  if (const auto found = pattern_fault(triangles, pattern.triangles))
    fault("triangle " + std::to_string(found->triangle) +
          (found->neighbour < 0 ? "" : " and triangle " + std::to_string(found->neighbour)) + ": " +
          found->what);
}

std::vector<std::int32_t> panels_of(const Model& model, const Object& object) {
  const auto triangles = triangles_of(model, object);
  const std::vector<PatternTriangle>& pattern = pattern_of(model, object).triangles;
  const PatternSides sides(triangles);
  std::vector<std::int32_t> panel(triangles.size(), -1), open;
  std::int32_t count = 0;
  for (std::size_t first = 0; first < panel.size(); ++first) {
    if (panel[first] >= 0) continue;
    panel[first] = count;
    open.push_back(static_cast<std::int32_t>(first));
    while (!open.empty()) {
      const auto t = static_cast<std::size_t>(open.back());
      open.pop_back();
      for (int c = 0; c < 3; ++c) {
        const auto* other = sides.find(triangles[t][(c + 2) % 3], triangles[t][(c + 1) % 3]);
        if (other == nullptr) continue;
        const auto u = static_cast<std::size_t>(other->triangle);
        if (panel[u] >= 0 || !is_in_panel(pattern[t], c, pattern[u], other->opposite)) continue;
        panel[u] = count;
        open.push_back(other->triangle);
      }
    }
    ++count;
  }
  return panel;
}

std::vector<FlatStencil> flat_triangles(const Model& model, const Object& object) {
  std::vector<FlatStencil> flat;
  for (const PatternTriangle& t : pattern_of(model, object).triangles) {
    FlatStencil& stencil = flat.emplace_back();
    stencil.is_given = true;
    const LaidTriangle at(t);
    for (int c = 0; c < 3; ++c) stencil.corners[c] = at(c);
  }
  return flat;
}

std::vector<FlatStencil> flat_hinges(const Model& model, const Object& object,
                                     std::span<const BendPatch> patches) {
  const ClothPattern& pattern = pattern_of(model, object);
  const PatternSides sides(triangles_of(model, object));
  std::vector<FlatStencil> flat;
  for (const BendPatch& patch : patches) {
    for (int i = 0; i < patch.count; ++i) {
      const Vec4i& nodes = patch.hinges[i];
      const auto &own = *sides.find(nodes[1], nodes[2]), &other = *sides.find(nodes[2], nodes[1]);
      const PatternTriangle &triangle = pattern.triangles[static_cast<std::size_t>(own.triangle)],
                            &across = pattern.triangles[static_cast<std::size_t>(other.triangle)];
      const LaidTriangle at(triangle);
      FlatStencil& stencil = flat.emplace_back();
      stencil.is_given = true;
      for (int k = 0; k < 3; ++k) stencil.corners[k] = at((own.opposite + k) % 3);
      const bool in_panel = is_in_panel(triangle, own.opposite, across, other.opposite);
      stencil.corners[3] = in_panel
                               ? at.of(across.corners[other.opposite])
                               : laid_beside(stencil.corners[1], stencil.corners[2], across, other.opposite);
      stencil.keeps_angle = !in_panel && pattern.seams_as_positioned;
    }
    flat.resize(flat.size() + bend_stencils(patch).size() - static_cast<std::size_t>(patch.count));
  }
  return flat;
}

}  // namespace stickslip

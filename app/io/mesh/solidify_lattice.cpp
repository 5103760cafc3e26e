#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "app/io/file/memory.h"
#include "app/io/file/number_text.h"
#include "app/io/mesh/bcc_lattice.h"
#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/solidify.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

// A point moves onto the surface if a cut of one of its edges lies within this part of the edge. These values
// give the best bounds on the angles of all tets [Labelle07 Table 1].
constexpr double kMoveLong = 0.24999, kMoveShort = 0.41189;
// Tolerance that makes the tests inclusive: an edge through the seam of two triangles cannot pass between
// them.
constexpr double kSeam = 1e-9;

/// Crossings of the surface with an edge, as parts of its length from its lower-numbered end: the first and
/// the last.
struct Crossings {
  double first = 2, last = -1;
};

class Stuffing {
 public:
  Stuffing(const SurfaceMesh& surface, double edge, const std::string& name) : surface_(surface) {
    Vec3d low = surface.nodes[0], high = low;
    for (const Vec3d& p : surface.nodes) low = min(low, p), high = max(high, p);
    lattice_.spacing = edge;
    double cells = 1;
    for (int c = 0; c < 3; ++c) {
      const double along = std::ceil((high[c] - low[c]) / edge) + 3;
      cells *= along;
      lattice_.cells[c] = static_cast<std::int32_t>(std::min(along, 1e6));
      // An irregular offset: surfaces often have axis-aligned faces, which should not contain whole rows of
      // points.
      lattice_.origin[c] = 0.5 * (low[c] + high[c] - edge * along) + (0.1837 + 0.0711 * c) * edge;
    }
    check_tet_count(12 * cells, kBytesPerTet * cells, edge, name);
  }

  TetMesh run() {
    find_crossings();
    find_inside();
    move_points();
    lattice_.for_each_tet([&](const std::array<std::int32_t, 4>& tet) { cut(tet); });
    return std::move(mesh_);
  }

 private:
  enum Side : std::int8_t { outside = -1, on_surface = 0, inside = 1 };

  static std::uint64_t key(std::int32_t a, std::int32_t b) {
    return static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint32_t>(std::max(a, b));
  }

  void find_crossings() {
    for (const Vec3i& t : surface_.triangles) {
      const Vec3d &a = surface_.nodes[t[0]], &b = surface_.nodes[t[1]], &c = surface_.nodes[t[2]];
      const Vec3d box_low = min(a, min(b, c)), box_high = max(a, max(b, c));
      Vec3i low{}, high{};
      for (int d = 0; d < 3; ++d) {
        const auto cell = [&](double x) {
          return static_cast<int>(std::floor((x - lattice_.origin[d]) / lattice_.spacing));
        };
        low[d] = std::max(cell(box_low[d]) - 1, 0);
        high[d] = std::min(cell(box_high[d]) + 1, lattice_.cells[d]);
      }
      lattice_.for_each_edge(low, high, [&](std::int32_t p, std::int32_t q) { cross_edge(p, q, a, b, c); });
    }
  }
  void cross_edge(std::int32_t i, std::int32_t j, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
    const Vec3d p = lattice_.position(std::min(i, j)), q = lattice_.position(std::max(i, j));
    const Vec3d normal = cross(b - a, c - a);
    const double p_side = dot(normal, p - a), q_side = dot(normal, q - a);
    const double t = p_side / (p_side - q_side);
    if (!(t >= -kSeam && t <= 1 + kSeam)) return;
    const Vec3d x = p + t * (q - p);
    const double least = -kSeam * norm2(normal);
    if (dot(normal, cross(b - a, x - a)) < least || dot(normal, cross(c - b, x - b)) < least ||
        dot(normal, cross(a - c, x - c)) < least)
      return;
    Crossings& found = crossings_[key(i, j)];
    found.first = std::min(found.first, std::clamp(t, 0.0, 1.0));
    found.last = std::max(found.last, std::clamp(t, 0.0, 1.0));
  }

  /// Points connected by edges that do not cross the surface lie on the same side of it.
  void find_inside() {
    std::vector<std::int32_t> parent(static_cast<std::size_t>(lattice_.point_count()));
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](std::int32_t p) {
      while (parent[p] != p) p = parent[p] = parent[parent[p]];
      return p;
    };
    const Vec3i zero{0, 0, 0};
    lattice_.for_each_edge(zero, lattice_.cells, [&](std::int32_t a, std::int32_t b) {
      if (crossings_.contains(key(a, b))) return;
      const std::int32_t ra = root(a), rb = root(b);
      parent[std::max(ra, rb)] = std::min(ra, rb);
    });
    side_.assign(parent.size(), outside);
    for (std::int32_t p = 0; p < static_cast<std::int32_t>(parent.size()); ++p)
      side_[p] = parent[p] != p ? side_[root(p)]
                                : (winding_number(surface_, lattice_.position(p)) > 0.5 ? inside : outside);
  }

  /// First crossing of the surface with the edge from `p` to `q`, as a part of its length from `p`.
  double cut_part(std::int32_t p, std::int32_t q) const {
    const Crossings& found = crossings_.at(key(p, q));
    return p < q ? found.first : 1 - found.last;
  }
  Vec3d cut_position(std::int32_t p, std::int32_t q) const {
    const Vec3d a = lattice_.position(p);
    return a + cut_part(p, q) * (lattice_.position(q) - a);
  }
  /// The cut of an edge is the crossing nearest to its inner end.
  Vec3d cut_of(std::int32_t a, std::int32_t b) const {
    return side_[a] == inside ? cut_position(a, b) : cut_position(b, a);
  }

  void move_points() {
    struct Cut {
      std::int32_t point;
      double distance;
      std::int32_t other;
    };
    std::vector<Cut> cuts;
    for (const auto& [edge, crossing] : crossings_) {
      const auto a = static_cast<std::int32_t>(edge >> 32), b = static_cast<std::int32_t>(edge & 0xffffffff);
      if (side_[a] == side_[b]) continue;
      const Vec3d x = cut_of(a, b);
      const double reach = (lattice_.is_long(a, b) ? kMoveLong : kMoveShort) *
                           norm(lattice_.position(b) - lattice_.position(a));
      for (const auto& [p, q] : {std::pair(a, b), std::pair(b, a)})
        if (const double d = norm(x - lattice_.position(p)); d < reach) cuts.push_back({p, d, q});
    }
    std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) {
      return std::tie(a.point, a.distance, a.other) < std::tie(b.point, b.distance, b.other);
    });
    // A moved point lies on the surface, so its edges have no cuts any more; its neighbours may then stay.
    for (const Cut& cut : cuts) {
      if (side_[cut.point] == on_surface || side_[cut.other] == on_surface) continue;
      moved_[cut.point] = cut_of(cut.point, cut.other);
      side_[cut.point] = on_surface;
    }
  }

  std::int32_t node_at(std::int32_t point) {
    const auto [entry, added] =
        nodes_.try_emplace(key(point, point), static_cast<std::int32_t>(mesh_.nodes.size()));
    if (added)
      mesh_.nodes.push_back(side_[point] == on_surface ? moved_.at(point) : lattice_.position(point));
    return entry->second;
  }
  std::int32_t node_between(std::int32_t in, std::int32_t out) {
    const auto [entry, added] =
        nodes_.try_emplace(key(in, out), static_cast<std::int32_t>(mesh_.nodes.size()));
    if (added) mesh_.nodes.push_back(cut_position(in, out));
    return entry->second;
  }

  void add(std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
    Vec4i tet{a, b, c, d};
    if (signed_volume(mesh_.nodes, tet) < 0) std::swap(tet[2], tet[3]);
    mesh_.tets.push_back(tet);
  }

  /// Adds the part of a lattice tet that lies inside. A face with two inner corners a < b and an outer corner
  /// m leaves a quadrangle, split from a to the cut of b-m. Both tets at the face split it the same way.
  void cut(const std::array<std::int32_t, 4>& tet) {
    std::array<std::int32_t, 4> in{}, out{}, on{};
    std::size_t ins = 0, outs = 0, ons = 0;
    for (const std::int32_t p : tet)
      (side_[p] == inside ? in[ins++] : side_[p] == outside ? out[outs++] : on[ons++]) = p;
    if (ins == 0) return;
    std::sort(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(ins));
    std::array<std::int32_t, 4> a{};
    if (outs == 0 || ins == 1) {
      std::size_t n = 0;
      for (std::size_t i = 0; i < ins; ++i) a[n++] = node_at(in[i]);
      for (std::size_t i = 0; i < ons; ++i) a[n++] = node_at(on[i]);
      for (std::size_t i = 0; i < outs; ++i) a[n++] = node_between(in[0], out[i]);
      add(a[0], a[1], a[2], a[3]);
      return;
    }
    for (std::size_t i = 0; i < ins; ++i) a[i] = node_at(in[i]);
    const std::int32_t am = node_between(in[0], out[0]), bm = node_between(in[1], out[0]);
    if (ins == 3) {
      const std::int32_t cm = node_between(in[2], out[0]);
      add(a[0], a[1], a[2], cm);
      add(a[0], a[1], bm, cm);
      add(a[0], am, bm, cm);
    } else if (outs == 1) {
      const std::int32_t z = node_at(on[0]);
      add(z, a[0], a[1], bm);
      add(z, a[0], bm, am);
    } else {
      const std::int32_t an = node_between(in[0], out[1]), bn = node_between(in[1], out[1]);
      add(a[0], a[1], bm, bn);
      const auto length2 = [&](std::int32_t i, std::int32_t j) {
        return norm2(mesh_.nodes[i] - mesh_.nodes[j]);
      };
      if (length2(am, bn) < length2(bm, an)) {
        add(a[0], am, bm, bn);
        add(a[0], am, bn, an);
      } else {
        add(a[0], bm, bn, an);
        add(a[0], am, bm, an);
      }
    }
  }

  const SurfaceMesh& surface_;
  BccLattice lattice_;
  std::unordered_map<std::uint64_t, Crossings> crossings_;  // of lattice edges
  std::vector<Side> side_;                                  // of lattice points
  std::unordered_map<std::int32_t, Vec3d> moved_;           // points on the surface
  std::unordered_map<std::uint64_t, std::int32_t> nodes_;   // key: (p, p) of a point, or a cut edge
  TetMesh mesh_;
};

}  // namespace

TetMesh fill_by_lattice(const SurfaceMesh& surface, double edge, const std::string& name) {
  TetMesh mesh = Stuffing(surface, edge, name).run();
  if (mesh.tets.empty())
    throw InputError(name + ": no point of a lattice with edge = " + number_text(edge) +
                     " m lies inside: choose a shorter edge");
  drop_unused(mesh);
  return mesh;
}

}  // namespace stickslip

#include "gpu/model/contact_area.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace stickslip {
namespace {

using Vec2d = Vec<double, 2>;
using Vec3d = Vec<double, 3>;
using Polygon = std::vector<Vec2d>;

constexpr double kSameWay = 0.7;              // cosine between normals of one surface
constexpr double kSlope = 0.5;                // of the line to another contact of the surface
constexpr double kEven = 1e-3, kSame = 1e-5;  // of the patch's size: heights and distances that count as none
constexpr double kLine = 2e-3;                // hulls of less area than this times size^2 are lines
constexpr double kNarrow = 0.02;              // of narrower ones more contacts are taken, if there are more
constexpr double kPooled = 0.9;               // of the mean spacing: what is nearer shares area by force
constexpr double kReach = 2.02;               // of the distance of the third nearest contact
constexpr std::size_t kManifold = 8;          // patches of so few contacts share nothing
constexpr std::size_t kMostNear = 48;         // contacts that shape a cell
constexpr std::size_t kSmall = 64;            // patches of fewer contacts need no grid
constexpr double kPerCell = 3;                // edge of the grid's cells over the mean spacing
constexpr std::size_t kFullCell = 100;        // a cell with more contacts needs a finer grid
constexpr std::size_t kMostGrids = 8;
constexpr double kFiner = 4;  // edge of a grid over that of the next

double cross2(const Vec2d& a, const Vec2d& b) { return a[0] * b[1] - a[1] * b[0]; }

/// Counterclockwise, by Andrew's monotone chain.
Polygon hull_of(Polygon points) {
  std::ranges::sort(points, {}, [](const Vec2d& p) { return std::pair(p[0], p[1]); });
  Polygon hull;
  const auto add = [&](const Vec2d& p, std::size_t first) {
    while (hull.size() >= first + 2 && cross2(hull.back() - hull[hull.size() - 2], p - hull.back()) <= 0)
      hull.pop_back();
    hull.push_back(p);
  };
  for (const Vec2d& p : points) add(p, 0);
  const std::size_t lower = hull.size() - 1;
  for (std::size_t i = points.size(); i-- > 0;) add(points[i], lower);
  if (hull.size() > 1) hull.pop_back();
  return hull;
}

double area_of(const Polygon& polygon) {
  double twice = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i)
    twice += cross2(polygon[i], polygon[(i + 1) % polygon.size()]);
  return twice / 2;
}

/// Keeps what is nearer to 0 than to `other`: x . other <= |other|^2 / 2.
void clip(Polygon& polygon, const Vec2d& other) {
  const double bound = norm2(other) / 2;
  Polygon kept;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec2d &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
    const double at_a = dot(a, other) - bound, at_b = dot(b, other) - bound;
    if (at_a <= 0) kept.push_back(a);
    if ((at_a < 0 && at_b > 0) || (at_a > 0 && at_b < 0))
      kept.push_back(a + (at_a / (at_a - at_b)) * (b - a));
  }
  polygon = std::move(kept);
}

/// A contact of the same surface, on the tangent plane.
struct Neighbour {
  Vec2d at;  // [m] relative to the contact
  const ContactRecord* contact;
};

/// The other contacts around one, the nearest first.
struct Around {
  std::vector<Neighbour> neighbours;
  double same_place = 1;  // contacts at its place, itself included
};

/// [m] up to which others shape a cell, unless they lie on a line.
double first_reach(const Around& around, double resolution) {
  const std::vector<Neighbour>& others = around.neighbours;
  if (others.empty()) return 0;
  std::size_t first = 0;  // outside of the cluster
  while (first < others.size() && norm(others[first].at) < resolution) ++first;
  return kReach * norm(others[std::min(first + 2, others.size() - 1)].at);
}

/// The cell of the point 0 among these points; see contact_area.h.
double cell_area(const Around& around, double size, double resolution) {
  const std::vector<Neighbour>& others = around.neighbours;
  if (others.size() < 2) return 0;
  Polygon near{{0, 0}}, cell;
  std::size_t next = 0;
  double reach = first_reach(around, resolution), diameter = 0;
  do {
    for (; next < others.size() && norm(others[next].at) <= reach; ++next) near.push_back(others[next].at);
    diameter = norm(near.back());
    cell = hull_of(near);
    reach *= 2;
  } while (next < others.size() && area_of(cell) < kNarrow * diameter * diameter);
  if (diameter < kSame * size || area_of(cell) < std::max(kLine * diameter, resolution) * diameter) return 0;
  for (std::size_t i = 1; i < near.size(); ++i) clip(cell, near[i]);
  return area_of(cell) / around.same_place;
}

/// The contacts between two objects.
class Patch {
 public:
  void add(ContactRecord& contact) { contacts_.push_back(&contact); }

  void set_areas(double resolution) {
    resolution_ = resolution;
    measure();
    for (ContactRecord* contact : contacts_)
      contact->area = static_cast<float>(cell_area(around(*contact), size_, resolution_));
    std::vector<double> areas;
    for (const ContactRecord* contact : contacts_) areas.push_back(pooled_area(*contact));
    for (std::size_t i = 0; i < areas.size(); ++i) contacts_[i]->area = static_cast<float>(areas[i]);
  }

 private:
  using Cell = std::array<std::int64_t, 3>;
  struct Grid {
    double edge = 0;  // [m] of a cell
    std::map<Cell, std::vector<const ContactRecord*>> cells;

    Cell cell_of(const ContactRecord& contact) const {
      Cell cell{};
      for (int k = 0; k < 3; ++k)
        cell[static_cast<std::size_t>(k)] =
            static_cast<std::int64_t>(std::floor(static_cast<double>(contact.point[k]) / edge));
      return cell;
    }
  };

  /// Takes the size of the patch, and sorts the contacts of a large one into grids.
  void measure() {
    Vec3d low = contacts_[0]->point.cast<double>(), high = low;
    for (const ContactRecord* contact : contacts_) {
      low = min(low, contact->point.cast<double>());
      high = max(high, contact->point.cast<double>());
    }
    size_ = norm(high - low);
    if (contacts_.size() <= kSmall || !(size_ > 0)) return;
    double edge = kPerCell * size_ / std::sqrt(static_cast<double>(contacts_.size()));
    std::size_t fullest = kFullCell + 1;
    while (fullest > kFullCell && grids_.size() < kMostGrids) {
      Grid& grid = grids_.emplace_back();
      grid.edge = edge;
      fullest = 0;
      for (const ContactRecord* contact : contacts_) {
        std::vector<const ContactRecord*>& cell = grid.cells[grid.cell_of(*contact)];
        cell.push_back(contact);
        fullest = std::max(fullest, cell.size());
      }
      edge /= kFiner;
    }
  }

  /// Calls look_at for the contacts around one: those in its cell and the 26 next to it, of the finest grid
  /// that has enough of them there.
  template <class F>
  void visit(const ContactRecord& of, const F& look_at) const {
    std::array<const std::vector<const ContactRecord*>*, 27> cells{};
    for (std::size_t g = grids_.size(); g-- > 0;) {
      const Grid& grid = grids_[g];
      const Cell at = grid.cell_of(of);
      std::size_t count = 0;
      for (std::size_t k = 0; k < cells.size(); ++k) {
        const auto shift = static_cast<std::int64_t>(k);
        const auto cell =
            grid.cells.find({at[0] + shift % 3 - 1, at[1] + shift / 3 % 3 - 1, at[2] + shift / 9 - 1});
        cells[k] = cell != grid.cells.end() ? &cell->second : nullptr;
        if (cells[k] != nullptr) count += cells[k]->size();
      }
      if (count > kMostNear || g == 0) break;
    }
    for (const auto* cell : cells)
      if (cell != nullptr)
        for (const ContactRecord* other : *cell) look_at(*other);
  }

  Around around(const ContactRecord& of) const {
    Around found;
    const Vec3d n = of.normal.cast<double>(), origin = of.point.cast<double>();
    const Vec3d t = normalized(cross(n, std::abs(n[0]) < 0.5 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0}));
    const Vec3d s = cross(n, t);
    const auto look_at = [&](const ContactRecord& other) {
      if (&other == &of || dot(oriented(other), oriented(of)) < kSameWay) return;
      const Vec3d away = other.point.cast<double>() - origin;
      const Vec2d at{dot(away, t), dot(away, s)};
      if (!(std::abs(dot(away, n)) <= kSlope * norm(at) + kEven * size_)) return;
      if (norm(at) < kSame * size_) ++found.same_place;
      else found.neighbours.push_back({at, &other});
    };
    if (grids_.empty())
      for (const ContactRecord* other : contacts_) look_at(*other);
    else visit(of, look_at);
    std::ranges::sort(found.neighbours, {}, [](const Neighbour& other) { return norm2(other.at); });
    if (found.neighbours.size() > kMostNear) found.neighbours.resize(kMostNear);
    return found;
  }

  /// The area at which the contact has the pressure of all that are nearer to it than the mean spacing: those
  /// of two meshes come in clusters, with cells of very different size.
  double pooled_area(const ContactRecord& of) const {
    const auto area_of = [](const ContactRecord& contact) { return static_cast<double>(contact.area); };
    const auto force_of = [](const ContactRecord& contact) {
      return static_cast<double>(contact.normal_force);
    };
    if (!(of.normal_force > 0) || contacts_.size() <= kManifold) return area_of(of);
    const Around all = around(of);
    double cells = area_of(of), count = 1, area = cells, force = force_of(of);
    for (const Neighbour& other : all.neighbours) {
      if (norm(other.at) > first_reach(all, resolution_)) break;
      cells += area_of(*other.contact);
      ++count;
    }
    for (const Neighbour& other : all.neighbours) {
      if (norm(other.at) > std::max(resolution_, kPooled * std::sqrt(cells / count))) break;
      area += area_of(*other.contact);
      force += force_of(*other.contact);
    }
    return force_of(of) / force * area;
  }

  /// Normals point to side a, which either object may be.
  static Vec<float, 3> oriented(const ContactRecord& contact) {
    return contact.object_a < contact.object_b ? -1.0f * contact.normal : contact.normal;
  }

  std::vector<ContactRecord*> contacts_;
  std::vector<Grid> grids_;           // the coarsest first; empty: there are few contacts
  double size_ = 0, resolution_ = 0;  // [m] of the patch
};

}  // namespace

void set_contact_areas(std::span<ContactRecord> contacts, double resolution) {
  std::map<std::pair<std::int32_t, std::int32_t>, Patch> patches;
  for (ContactRecord& contact : contacts)
    patches[std::minmax(contact.object_a, contact.object_b)].add(contact);
  for (auto& [objects, patch] : patches) patch.set_areas(resolution);
}

}  // namespace stickslip

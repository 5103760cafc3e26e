#include "gpu/model/lattice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "gpu/math/mat.h"
#include "gpu/model/distance_grid.h"
#include "gpu/model/element_group.h"
#include "gpu/model/exact_distance.h"
#include "gpu/model/finite.h"
#include "gpu/model/frames.h"
#include "gpu/model/mass_properties.h"
#include "gpu/model/tet10.h"
#include "gpu/model/tet_volume.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Vec4d = Vec<double, 4>;
using Mat3d = Mat<double, 3>;

// Subdivisions of a tet that the surface cuts: 8^3 parts.
constexpr int kDepth = 3;
// How far outside a tet, in barycentric coordinates, rounding may move a node on its face.
constexpr double kOutside = 1e-9;

Vec4d barycentric(const std::vector<Vec3d>& nodes, const Vec4i& tet, const Vec3d& p) {
  const Vec3d& a = nodes[tet[0]];
  const Vec3d w =
      inverse(Mat3d::from_columns({nodes[tet[1]] - a, nodes[tet[2]] - a, nodes[tet[3]] - a})) * (p - a);
  return {1 - w[0] - w[1] - w[2], w[0], w[1], w[2]};
}

double least(const Vec4d& w) { return std::min(std::min(w[0], w[1]), std::min(w[2], w[3])); }

Vec3d follow(const Vec3d* x, const Vec4i& controls, const Vec4d& w) {
  return w[0] * x[controls[0]] + w[1] * x[controls[1]] + w[2] * x[controls[2]] + w[3] * x[controls[3]];
}

Vec3d follow(const Vec3d* x, const Leaders& leaders, const LeaderWeights& w) {
  Vec3d sum = w[0] * x[leaders[0]];
  for (int k = 1; k < leader_count(leaders); ++k) sum += w[k] * x[leaders[k]];
  return sum;
}

/// The integrals over the solid of the four shape functions of a tet, in units of the tet's volume: parts of
/// a regular subdivision count as inside by their centres.
class Overlap {
 public:
  Overlap(const ExactDistance& distance, const std::vector<Vec3d>& nodes)
      : distance_(distance), nodes_(nodes) {}

  Vec4d of(const Vec4i& tet) const {
    const Corners whole{Vec4d{1, 0, 0, 0}, Vec4d{0, 1, 0, 0}, Vec4d{0, 0, 1, 0}, Vec4d{0, 0, 0, 1}};
    return visit(tet, whole, 0, 1, std::numeric_limits<double>::infinity());
  }

 private:
  using Corners = std::array<Vec4d, 4>;  // in barycentric coordinates

  /// `bound`: a length that the distance of the part's centre does not exceed.
  Vec4d visit(const Vec4i& tet, const Corners& part, int depth, double volume, double bound) const {
    const Vec4d middle = 0.25 * (part[0] + part[1] + part[2] + part[3]);
    const Vec3d center = follow(nodes_.data(), tet, middle);
    double radius = 0;
    for (const Vec4d& corner : part)
      radius = std::max(radius, norm(follow(nodes_.data(), tet, corner) - center));
    const double d = distance_.at(center, 1.000001 * bound);
    if (depth == kDepth || std::abs(d) >= radius) return (d < 0 ? volume : 0) * middle;
    std::array<Vec4d, kTet10Nodes> corners{};
    for (int node = 0; node < kTet10Nodes; ++node)
      corners[node] = 0.5 * (part[tet10_end(node, 0)] + part[tet10_end(node, 1)]);
    Vec4d sum{0, 0, 0, 0};
    for (int p = 0; p < kTet10Parts; ++p) {
      Corners child;
      for (int c = 0; c < 4; ++c) child[c] = corners[tet10_part(p, c)];
      sum += visit(tet, child, depth + 1, volume / kTet10Parts, std::abs(d) + radius);
    }
    return sum;
  }

  const ExactDistance& distance_;
  const std::vector<Vec3d>& nodes_;
};

struct TetPlace {
  std::int32_t tet = -1;
  Vec4d weights{0, 0, 0, 0};
};

/// Puts each point that has no place yet into the tet that contains it, among those with use[tet].
void place_points(const std::vector<Vec3d>& points, const std::vector<Vec3d>& nodes,
                  const std::vector<Vec4i>& tets, const std::vector<bool>& use,
                  std::vector<TetPlace>& places) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (places[i].tet < 0) order.push_back(i);
  const auto x_of = [&](std::size_t i) { return points[i][0]; };
  std::ranges::sort(order, {}, x_of);
  for (std::size_t t = 0; t < tets.size(); ++t) {
    if (!use[t]) continue;
    Vec3d low = nodes[tets[t][0]], high = low;
    for (int c = 1; c < 4; ++c) {
      low = min(low, nodes[tets[t][c]]);
      high = max(high, nodes[tets[t][c]]);
    }
    const Vec3d margin = Vec3d::filled(kOutside * norm(high - low));
    low = low - margin;
    high += margin;
    for (auto at = std::ranges::lower_bound(order, low[0], {}, x_of);
         at != order.end() && points[*at][0] <= high[0]; ++at) {
      const Vec3d& p = points[*at];
      if (min(p, low) != low || max(p, high) != high) continue;
      const Vec4d w = barycentric(nodes, tets[t], p);
      TetPlace& place = places[*at];
      if (least(w) >= -kOutside && (place.tet < 0 || least(w) > least(place.weights)))
        place = {static_cast<std::int32_t>(t), w};
    }
  }
}

/// Multiplies the volumes v_k by 1 + b . (x_k - c) and a common factor, so that their sum is `volume` and
/// their centre is c.
void balance(const MassProperties& solid, const std::vector<Vec3d>& nodes, std::vector<double>& volumes) {
  double sum = 0;
  Vec3d first{0, 0, 0};
  Mat3d second = Mat3d::zero();
  for (std::size_t k = 0; k < volumes.size(); ++k) {
    const Vec3d r = nodes[k] - solid.center;
    sum += volumes[k];
    first += volumes[k] * r;
    second += volumes[k] * outer(r, r);
  }
  // sum_k v_k (1 + b . r_k) r_k = 0
  const Vec3d b = -(inverse(second) * first);
  double total = 0;
  for (std::size_t k = 0; k < volumes.size(); ++k) {
    volumes[k] *= 1 + dot(b, nodes[k] - solid.center);
    total += volumes[k];
  }
  for (double& volume : volumes) volume *= solid.volume / total;
  if (!(sum > 0) || !std::ranges::all_of(volumes, [](double v) { return v > 0; }))
    throw std::invalid_argument("the cells of its lattice are too large for its shape: use smaller ones");
}

}  // namespace

EmbeddedSolid embed(const std::vector<Vec3d>& surface, const std::vector<Vec3i>& triangles,
                    const std::vector<Vec3d>& nodes, const std::vector<Vec4i>& all_tets) {
  std::vector<Vec4i> tets = all_tets;
  for (Vec4i& tet : tets)
    if (tet_volume(nodes, tet) < 0) std::swap(tet[2], tet[3]);
  if (const std::string fault = surface_fault(surface, triangles); !fault.empty())
    throw std::invalid_argument(fault + ": a solid in a lattice needs a closed surface");
  ShapeMesh mesh;
  mesh.vertices = surface;
  mesh.triangles = triangles;
  const ExactDistance distance(mesh);
  const Overlap overlap(distance, nodes);
  std::vector<Vec4d> integrals;
  std::vector<bool> overlaps, others;
  integrals.reserve(tets.size());
  for (const Vec4i& tet : tets) {
    const Vec4d& found = integrals.emplace_back(overlap.of(tet));
    overlaps.push_back(found[0] + found[1] + found[2] + found[3] > 0);
    others.push_back(!overlaps.back());
  }
  std::vector<TetPlace> places(surface.size());
  place_points(surface, nodes, tets, overlaps, places);
  place_points(surface, nodes, tets, others, places);
  std::vector<bool> kept = overlaps;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].tet < 0)
      throw std::invalid_argument("node " + std::to_string(i) +
                                  " of its surface is in no tet of its lattice");
    kept[static_cast<std::size_t>(places[i].tet)] = true;
  }

  EmbeddedSolid solid;
  solid.triangles = triangles;
  std::vector<std::int32_t> node_of(nodes.size(), -1);
  std::vector<Vec4i> tet_of(tets.size());  // with the new nodes
  for (std::size_t t = 0; t < tets.size(); ++t) {
    if (!kept[t]) continue;
    const double volume = tet_volume(nodes, tets[t]);
    Vec4d integral = integrals[t];
    const double share = integral[0] + integral[1] + integral[2] + integral[3];
    if (share < kLeastShare) integral += Vec4d::filled((kLeastShare - share) / 4);
    for (int c = 0; c < 4; ++c) {
      std::int32_t& node = node_of[static_cast<std::size_t>(tets[t][c])];
      if (node < 0) {
        node = static_cast<std::int32_t>(solid.nodes.size());
        solid.nodes.push_back(nodes[tets[t][c]]);
        solid.lattice.node_volumes.push_back(0);
      }
      tet_of[t][c] = node;
      solid.lattice.node_volumes[static_cast<std::size_t>(node)] += volume * integral[c];
    }
    solid.tets.push_back(tet_of[t]);
    solid.lattice.tet_shares.push_back(std::max(share, kLeastShare));
  }
  balance(mass_of_surface(surface, triangles), solid.nodes, solid.lattice.node_volumes);
  for (const TetPlace& place : places) {
    const Vec4d& w = place.weights;
    solid.lattice.controls.push_back(leaders_of(tet_of[static_cast<std::size_t>(place.tet)]));
    solid.lattice.weights.push_back({w[0], w[1], w[2], w[3], 0, 0, 0, 0});
  }
  const auto first = static_cast<std::int32_t>(solid.nodes.size());
  for (Vec3i& triangle : solid.triangles) triangle += Vec3i::filled(first);
  solid.nodes.insert(solid.nodes.end(), surface.begin(), surface.end());
  return solid;
}

Object& add_embedded(Model& model, std::string name, const EmbeddedSolid& solid,
                     const std::vector<Vec3d>& nodes, std::int32_t material) {
  const std::size_t count = solid.lattice.node_volumes.size();
  if (nodes.size() != solid.nodes.size())
    throw std::invalid_argument("object '" + name + "': its solid has " + std::to_string(solid.nodes.size()) +
                                " nodes, and " + std::to_string(nodes.size()) + " are given");
  const std::vector<Vec3d> lattice(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count));
  Object& object = add_solid(model, std::move(name), lattice, solid.tets, material);
  const std::int32_t owner = model.node_object[static_cast<std::size_t>(object.node_begin)];
  model.rest_positions.insert(model.rest_positions.end(), nodes.begin() + static_cast<std::ptrdiff_t>(count),
                              nodes.end());
  model.positions.insert(model.positions.end(), nodes.begin() + static_cast<std::ptrdiff_t>(count),
                         nodes.end());
  model.velocities.resize(model.positions.size(), Vec3d::zero());
  model.node_object.resize(model.positions.size(), owner);
  object.collides_from = object.node_end;
  object.node_end = static_cast<std::int32_t>(model.positions.size());
  // The surface of the solid in place of that of the lattice.
  model.triangles.resize(static_cast<std::size_t>(object.triangle_begin));
  double before = 0, after = 0;
  for (const Vec4i& tet : solid.tets) before += std::abs(tet_volume(solid.nodes, tet));
  for (const Vec4i& tet : tets_of(model, object)) after += tet_volume(model.rest_positions, tet);
  const bool mirrored = tet_volume(nodes, solid.tets[0]) < 0;
  for (Vec3i triangle : solid.triangles) {
    if (mirrored) std::swap(triangle[1], triangle[2]);
    model.triangles.push_back(triangle + Vec3i::filled(object.node_begin));
  }
  object.triangle_end = static_cast<std::int32_t>(model.triangles.size());
  object.lattice = static_cast<std::int32_t>(model.lattices.size());
  Lattice& own = model.lattices.emplace_back(solid.lattice);
  for (double& volume : own.node_volumes) volume *= after / before;
  return object;
}

std::vector<LatticeFollower> followers(const Model& model, const Object& object) {
  const Lattice& lattice = lattice_of(model, object);
  std::vector<LatticeFollower> all;
  all.reserve(lattice.controls.size());
  for (std::size_t s = 0; s < lattice.controls.size(); ++s) {
    LatticeFollower& f = all.emplace_back();
    f = {object.collides_from + static_cast<std::int32_t>(s), lattice.controls[s], lattice.weights[s]};
    for (int k = 0; k < leader_count(lattice.controls[s]); ++k) f.controls[k] += object.node_begin;
  }
  return all;
}

void check_lattices(const Model& model) {
  for (const Object& object : model.objects) {
    if (!object.is_embedded()) continue;
    const auto fault = [&](const std::string& what) {
      throw std::invalid_argument("object '" + object.name + "': " + what);
    };
    if (static_cast<std::size_t>(object.lattice) >= model.lattices.size()) fault("it has no lattice");
    if (!object.is_solid() || object.is_affine() || object.is_rigid() || object.ten_node)
      fault("a lattice has linear tets and makes a deformable solid");
    const Lattice& lattice = lattice_of(model, object);
    const std::int32_t count = object.collides_from - object.node_begin;
    if (lattice.node_volumes.size() != static_cast<std::size_t>(count) ||
        lattice.tet_shares.size() != tets_of(model, object).size() ||
        lattice.controls.size() != static_cast<std::size_t>(object.node_end - object.collides_from) ||
        lattice.weights.size() != lattice.controls.size())
      fault("its lattice does not have the sizes of the object");
    for (const double volume : lattice.node_volumes)
      if (!(volume > 0) || !std::isfinite(volume)) fault("a lattice node has no positive volume");
    for (const double share : lattice.tet_shares)
      if (!(share > 0 && (share <= 1 + kOutside || object.has_frames)))
        fault("a tet's elastic share must be in (0, 1]");
    for (const Vec4i& tet : tets_of(model, object))
      for (int c = 0; c < 4; ++c)
        if (tet[c] >= object.collides_from) fault("a tet of its lattice names a node of its surface");
    if (object.has_frames) check_frames(model, object);
    for (std::size_t s = 0; s < lattice.controls.size(); ++s) {
      const Leaders& leaders = lattice.controls[s];
      const int leads = leader_count(leaders);
      double sum = 0;
      for (int k = 0; k < leads; ++k) sum += lattice.weights[s][k];
      if (leads != 4 && !(object.has_frames && leads == kMostLeaders))
        fault("node " + std::to_string(s) + " of its surface follows no four lattice nodes");
      for (int k = 0; k < leads; ++k)
        if (leaders[k] >= count)
          fault("node " + std::to_string(s) + " of its surface follows a node of another object");
      if (!(std::abs(sum - 1) < 1e-6))
        fault("the weights of node " + std::to_string(s) + " of its surface do not sum to one");
    }
  }
}

void follow_lattices(Model& model) {
  for (const Object& object : model.objects) {
    if (!object.is_embedded()) continue;
    for (const LatticeFollower& f : followers(model, object))
      for (std::vector<Vec3d>* values : {&model.rest_positions, &model.positions, &model.velocities})
        (*values)[static_cast<std::size_t>(f.node)] = follow(values->data(), f.controls, f.weights);
  }
}

}  // namespace stickslip

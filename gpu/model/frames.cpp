#include "gpu/model/frames.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "gpu/math/mat.h"
#include "gpu/model/affine.h"
#include "gpu/model/frame_path.h"
#include "gpu/model/lattice.h"
#include "gpu/model/tet_volume.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Mat3d = Mat<double, 3>;
using Path = std::vector<Vec3d>;

// Barycentric coordinates of the four points of a tet that integrate quadratic polynomials with equal
// weights: at the corner of the same number, and at the others.
constexpr double kNear = 0.58541019662496845446, kFar = 0.13819660112501051518;
// Of the volume of the body: frames and bones with less move nothing.
constexpr double kNothing = 1e-9;
// Of the size^6 of a cloud: what its spread encloses if its points are in one plane.
constexpr double kThin = 1e-13;
// Of the length of its path: frames of two paths that are nearer are one.
constexpr double kSameFrame = 1e-6;

/// Points with weights, in the order in which they came.
struct Cloud {
  std::vector<Vec3d> points;
  std::vector<double> weights;

  void add(const Vec3d& point, double weight) {
    if (!(weight > 0)) return;
    points.push_back(point);
    weights.push_back(weight);
  }
  double weight() const { return std::accumulate(weights.begin(), weights.end(), 0.0); }
  /// Whether the points are in one plane but for rounding.
  bool is_flat() const {
    const double all = weight();
    Vec3d centre{0, 0, 0};
    for (std::size_t i = 0; i < points.size(); ++i) centre += (weights[i] / all) * points[i];
    Mat3d spread = Mat3d::zero();
    for (std::size_t i = 0; i < points.size(); ++i)
      spread += (weights[i] / all) * outer(points[i] - centre, points[i] - centre);
    const double size = trace(spread);
    return !(determinant(spread) > kThin * size * size * size);
  }
};

/// Barycentric coordinates in the tet of a frame's points.
class FrameCoordinates {
 public:
  FrameCoordinates() = default;
  explicit FrameCoordinates(const std::array<Vec3d, 4>& c)
      : origin_(c[0]), to_(inverse(Mat3d::from_columns({c[1] - c[0], c[2] - c[0], c[3] - c[0]}))) {}

  Vec<double, 4> at(const Vec3d& p) const {
    const Vec3d w = to_ * (p - origin_);
    return {1 - w[0] - w[1] - w[2], w[0], w[1], w[2]};
  }
  Vec3d gradient(int k) const { return k > 0 ? to_.row(k - 1) : -(to_.row(0) + to_.row(1) + to_.row(2)); }

 private:
  Vec3d origin_{0, 0, 0};
  Mat3d to_ = Mat3d::identity();
};

/// The frames of all paths, each once, and the bones of all paths.
struct Skeleton {
  std::vector<FramePath> paths;
  std::vector<Vec3d> frames;
  std::vector<std::size_t> first_bone;  // per path
  std::vector<Vec2i> bones;

  explicit Skeleton(const std::vector<Path>& places) {
    if (places.empty()) throw std::invalid_argument("it has no frames");
    for (const Path& path : places) {
      paths.emplace_back(path);
      first_bone.push_back(bones.size());
      const std::size_t known = frames.size();
      std::int32_t last = -1;
      for (const Vec3d& p : path) {
        const double apart = kSameFrame * norm(path.back() - path.front());
        const auto same = std::find_if(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(known),
                                       [&](const Vec3d& f) { return norm(f - p) <= apart; });
        const bool is_known = same != frames.begin() + static_cast<std::ptrdiff_t>(known);
        const auto frame = static_cast<std::int32_t>(is_known ? same - frames.begin()
                                                              : static_cast<std::ptrdiff_t>(frames.size()));
        if (!is_known) frames.push_back(p);
        if (last >= 0) bones.push_back({last, frame});
        last = frame;
      }
    }
  }
};

/// The path of each node of a mesh: the nearest in the mean to the connected part that the node is in.
std::vector<std::size_t> nearest_paths(const Skeleton& skeleton, const std::vector<Vec3d>& nodes,
                                       const std::vector<Vec4i>& tets) {
  std::vector<std::size_t> root(nodes.size());
  std::iota(root.begin(), root.end(), 0U);
  const auto find = [&](std::size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (const Vec4i& tet : tets)
    for (int c = 1; c < 4; ++c)
      root[find(static_cast<std::size_t>(tet[c]))] = find(static_cast<std::size_t>(tet[0]));
  const std::size_t count = skeleton.paths.size();
  if (count == 1) return std::vector<std::size_t>(nodes.size(), 0);
  std::vector<double> sum(count * nodes.size(), 0.0);  // of distances, per root
  std::vector<bool> used(nodes.size(), false);
  for (const Vec4i& tet : tets)
    for (int c = 0; c < 4; ++c) used[static_cast<std::size_t>(tet[c])] = true;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t p = 0; used[i] && p < count; ++p)
      sum[count * find(i) + p] += skeleton.paths[p].distance(nodes[i]);
  std::vector<std::size_t> out(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto of_root = sum.begin() + static_cast<std::ptrdiff_t>(count * find(i));
    out[i] = static_cast<std::size_t>(
        std::min_element(of_root, of_root + static_cast<std::ptrdiff_t>(count)) - of_root);
  }
  return out;
}

/// Finds the points, the samples and the weights of a body.
class FrameBuilder {
 public:
  FrameBuilder(const std::vector<Vec3d>& nodes, const std::vector<Vec4i>& tets,
               const std::vector<Path>& paths)
      : skeleton_(paths),
        path_of_(nearest_paths(skeleton_, nodes, tets)),
        of_frame_(skeleton_.frames.size()),
        of_bone_(skeleton_.bones.size()) {
    for (const Vec4i& tet : tets) {
      const double volume = std::abs(tet_volume(nodes, tet)) / 4;
      for (int point = 0; point < 4; ++point) {
        Vec3d at{0, 0, 0};
        for (int c = 0; c < 4; ++c)
          at += (c == point ? kNear : kFar) * nodes[static_cast<std::size_t>(tet[c])];
        add_sample(path_of_[static_cast<std::size_t>(tet[0])], at, volume);
      }
    }
    find_points();
  }

  std::vector<Vec3d> points() const {
    std::vector<Vec3d> all;
    for (const auto& of_frame : points_) all.insert(all.end(), of_frame.begin(), of_frame.end());
    return all;
  }

  Lattice lattice() const {
    Lattice out;
    out.frames = skeleton_.frames;
    out.bones = skeleton_.bones;
    for (std::size_t f = 0; f < points_.size(); ++f) {
      const double volume = of_frame_[f].weight();
      out.node_volumes.insert(out.node_volumes.end(), 4, volume / 4);
      out.tet_shares.push_back(volume / tet_volume({points_[f].begin(), points_[f].end()}, {0, 1, 2, 3}));
    }
    for (std::size_t path = 0; path < skeleton_.paths.size(); ++path)
      for (std::size_t bone = 0; bone < skeleton_.paths[path].bones(); ++bone) sample(path, bone, out.points);
    return out;
  }

  void follow(std::size_t node, const Vec3d& at, Lattice& out) const {
    const std::size_t path = path_of_[node];
    const FramePath::Place place = skeleton_.paths[path].at(at);
    const Vec2i& bone = skeleton_.bones[skeleton_.first_bone[path] + place.bone];
    Leaders leaders = Leaders::filled(-1);
    LeaderWeights weights{};
    int count = 0;
    for (int side = 0; side < 2; ++side) {
      const double w = side == 0 ? 1 - place.s : place.s;
      if (w == 0) continue;
      const Vec<double, 4> b = coordinates_[static_cast<std::size_t>(bone[side])].at(at);
      for (int k = 0; k < 4; ++k) {
        leaders[count] = 4 * bone[side] + k;
        weights[count++] = w * b[k];
      }
    }
    out.controls.push_back(leaders);
    out.weights.push_back(weights);
  }

 private:
  void add_sample(std::size_t path, const Vec3d& at, double volume) {
    const FramePath::Place place = skeleton_.paths[path].at(at);
    const std::size_t bone = skeleton_.first_bone[path] + place.bone;
    of_bone_[bone].add(at, volume);
    of_frame_[static_cast<std::size_t>(skeleton_.bones[bone][0])].add(at, (1 - place.s) * volume);
    of_frame_[static_cast<std::size_t>(skeleton_.bones[bone][1])].add(at, place.s * volume);
  }

  void find_points() {
    double volume = 0;
    for (const Cloud& cloud : of_bone_) volume += cloud.weight();
    for (std::size_t b = 0; b < of_bone_.size(); ++b) {
      const std::string frames = "between the frames " + std::to_string(skeleton_.bones[b][0]) + " and " +
                                 std::to_string(skeleton_.bones[b][1]);
      if (!(of_bone_[b].weight() > kNothing * volume))
        throw std::invalid_argument("no part of it, or too coarse a part of its mesh, is " + frames);
      if (of_bone_[b].is_flat()) throw std::invalid_argument("its mesh is too coarse " + frames);
    }
    for (std::size_t f = 0; f < of_frame_.size(); ++f) {
      if (!(of_frame_[f].weight() > kNothing * volume))
        throw std::invalid_argument("frame " + std::to_string(f) + " moves no part of it");
      points_.push_back(equimomental_points(of_frame_[f].points.data(), of_frame_[f].weights));
      coordinates_.emplace_back(points_.back());
    }
  }

  void sample(std::size_t path, std::size_t bone, std::vector<FramePoint>& out) const {
    const std::size_t index = skeleton_.first_bone[path] + bone;
    const Cloud& cloud = of_bone_[index];
    const std::array<Vec3d, 4> half = equimomental_points(cloud.points.data(), cloud.weights);
    const Vec3d centre = 0.25 * (half[0] + half[1] + half[2] + half[3]);
    for (int k = 0; k < kBonePoints; ++k) {
      const Vec3d at = k < 4 ? half[k] : 2.0 * centre - half[k - 4];  // the other corners of the cube
      const FramePath::Place place = skeleton_.paths[path].on(bone, at);
      FramePoint& point = out.emplace_back();
      point.bone = static_cast<std::int32_t>(index);
      point.volume = cloud.weight() / kBonePoints;
      for (int a = 0; a < kMostLeaders; ++a) {
        const FrameCoordinates& frame = coordinates_[static_cast<std::size_t>(skeleton_.bones[index][a / 4])];
        const double w = a < 4 ? 1 - place.s : place.s, sign = a < 4 ? -1 : 1;
        point.gradients[a] = (sign * frame.at(at)[a % 4]) * place.slope + w * frame.gradient(a % 4);
      }
    }
  }

  Skeleton skeleton_;
  std::vector<std::size_t> path_of_;          // per node
  std::vector<Cloud> of_frame_, of_bone_;     // samples
  std::vector<std::array<Vec3d, 4>> points_;  // per frame
  std::vector<FrameCoordinates> coordinates_;
};

/// Puts the name of the object before what `work` finds wrong with it.
template <class F>
auto named(const std::string& name, F&& work) {
  try {
    return work();
  } catch (const std::invalid_argument& fault) {
    throw std::invalid_argument("object '" + name + "': " + fault.what());
  }
}

}  // namespace

Object& add_frames(Model& model, std::string name, const std::vector<Vec3d>& nodes,
                   const std::vector<Vec4i>& tets, const std::vector<Path>& paths, std::int32_t material) {
  Model filled;  // its mesh, for checks and for the surface
  filled.materials.push_back({});
  add_solid(filled, name, nodes, tets, 0);
  const FrameBuilder builder = named(name, [&] { return FrameBuilder(nodes, tets, paths); });
  const std::vector<Vec3d> points = builder.points();
  std::vector<Vec4i> frames;
  for (std::int32_t f = 0; f < static_cast<std::int32_t>(points.size()); f += 4)
    frames.push_back({f, f + 1, f + 2, f + 3});
  Object& object = add_solid(model, std::move(name), points, frames, material);
  Lattice lattice = named(object.name, [&] { return builder.lattice(); });
  const std::int32_t owner = model.node_object[static_cast<std::size_t>(object.node_begin)];
  object.collides_from = object.node_end;
  model.triangles.resize(static_cast<std::size_t>(object.triangle_begin));
  std::vector<std::int32_t> place(nodes.size(), -1);
  for (Vec3i triangle : filled.triangles) {
    for (int c = 0; c < 3; ++c) {
      const auto node = static_cast<std::size_t>(triangle[c]);
      if (place[node] < 0) {
        place[node] = static_cast<std::int32_t>(model.positions.size());
        model.rest_positions.push_back(nodes[node]);
        model.positions.push_back(nodes[node]);
        named(object.name, [&] { builder.follow(node, nodes[node], lattice); });
      }
      triangle[c] = place[node];
    }
    model.triangles.push_back(triangle);
  }
  model.velocities.resize(model.positions.size(), Vec3d::zero());
  model.node_object.resize(model.positions.size(), owner);
  object.node_end = static_cast<std::int32_t>(model.positions.size());
  object.triangle_end = static_cast<std::int32_t>(model.triangles.size());
  object.has_frames = true;
  object.lattice = static_cast<std::int32_t>(model.lattices.size());
  model.lattices.push_back(std::move(lattice));
  return object;
}

std::vector<Vec4i> bone_stencils(const Model& model, const Object& object) {
  std::vector<Vec4i> stencils;
  for (const Vec2i& bone : lattice_of(model, object).bones)
    for (int s = 0; s < kBoneStencils; ++s) {
      Vec4i& stencil = stencils.emplace_back();
      for (int c = 0; c < 4; ++c) {
        const int a = bone_stencil(s, c);
        stencil[c] = object.node_begin + 4 * bone[a / 4] + a % 4;
      }
    }
  return stencils;
}

Leaders bone_of_stencils(std::span<const Vec4i, kBoneStencils> stencils) {
  Leaders bone{};
  for (int s = 0; s < 2; ++s)
    for (int c = 0; c < 4; ++c) bone[bone_stencil(s, c)] = stencils[static_cast<std::size_t>(s)][c];
  return bone;
}

void check_frames(const Model& model, const Object& object) {
  const auto fault = [&](const std::string& what) {
    throw std::invalid_argument("object '" + object.name + "': " + what);
  };
  const Lattice& lattice = lattice_of(model, object);
  const auto count = static_cast<std::int32_t>(lattice.frames.size());
  if (count != object.tet_end - object.tet_begin || 4 * count != object.collides_from - object.node_begin)
    fault("its frames do not have the sizes of the object");
  for (const Vec2i& bone : lattice.bones)
    if (std::min(bone[0], bone[1]) < 0 || std::max(bone[0], bone[1]) >= count || bone[0] == bone[1])
      fault("a bone needs two of its frames");
  if (lattice.bones.empty() || lattice.points.size() != kBonePoints * lattice.bones.size())
    fault("a bone needs " + std::to_string(kBonePoints) + " samples of the volume");
  for (std::size_t p = 0; p < lattice.points.size(); ++p) {
    const FramePoint& point = lattice.points[p];
    if (point.bone != static_cast<std::int32_t>(p / kBonePoints))
      fault("its samples are not in the order of its bones");
    if (!(point.volume > 0) || !std::isfinite(point.volume)) fault("a sample has no positive volume");
    Vec3d sum{0, 0, 0};
    double most = 0;
    for (const Vec3d& g : point.gradients) {
      sum += g;
      most = std::max(most, norm(g));
    }
    if (!(norm(sum) <= 1e-6 * most))
      fault("the shape functions of sample " + std::to_string(p) + " do not sum to one");
  }
}

}  // namespace stickslip

#include "app/io/animation/animation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <optional>

#include "app/io/file/input_error.h"
#include "app/io/file/output_file.h"
#include "gpu/model/element_group.h"

namespace stickslip {

namespace fs = std::filesystem;

namespace {

using Points = std::vector<Vec3f>;

constexpr double kLate = 1e-9;  // [s] rounding of times
constexpr int kTubeSides = 6;
constexpr float kCrease = 0.77f;  // cosine of the angle between faces with an edge between them
constexpr float kGroundSize = 3;  // half the side of a half-space's square, in radii of the scene

Vec3f face_normal(const Points& points, const Vec3i& t) {
  return cross(points[static_cast<std::size_t>(t[1])] - points[static_cast<std::size_t>(t[0])],
               points[static_cast<std::size_t>(t[2])] - points[static_cast<std::size_t>(t[0])]);
}

Vec3f unit_or(const Vec3f& v, const Vec3f& otherwise) {
  const float size = norm(v);
  return size > std::numeric_limits<float>::min() ? v / size : otherwise;
}

/// A unit vector across the unit vector `along`.
Vec3f side_of(const Vec3f& along) {
  const Vec3f axis = std::abs(along[0]) < 0.7f ? Vec3f{1, 0, 0} : Vec3f{0, 1, 0};
  return unit_or(cross(along, axis), {0, 0, 1});
}

/// Repeats points where faces meet in a crease. A corner's normal is the sum of those around its point that
/// are not beyond a crease.
void split_at_creases(MovingMesh& mesh) {
  const Points shared = mesh.points[0];
  std::vector<Vec3f> faces;
  faces.reserve(mesh.triangles.size());
  std::vector<std::vector<std::size_t>> around(shared.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    faces.push_back(face_normal(shared, mesh.triangles[t]));
    for (int c = 0; c < 3; ++c) around[static_cast<std::size_t>(mesh.triangles[t][c])].push_back(t);
  }
  Points points;
  mesh.normals.clear();
  std::vector<std::vector<std::int32_t>> copies(shared.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    for (int c = 0; c < 3; ++c) {
      const auto node = static_cast<std::size_t>(mesh.triangles[t][c]);
      const Vec3f own = unit_or(faces[t], {0, 1, 0});
      Vec3f sum{0, 0, 0};
      for (const std::size_t other : around[node])
        if (dot(unit_or(faces[other], own), own) > kCrease) sum += faces[other];
      const Vec3f normal = unit_or(sum, own);
      std::int32_t found = -1;
      for (const std::int32_t copy : copies[node])
        if (dot(mesh.normals[static_cast<std::size_t>(copy)], normal) > 0.9999f) found = copy;
      if (found < 0) {
        found = static_cast<std::int32_t>(points.size());
        points.push_back(shared[node]);
        mesh.normals.push_back(normal);
        copies[node].push_back(found);
      }
      mesh.triangles[t][c] = found;
    }
  mesh.points[0] = std::move(points);
}

/// The nodes of the triangles, in their order, and the triangles with indices into them.
std::vector<std::int32_t> use_nodes(std::span<const Vec3i> of_object, std::vector<Vec3i>& triangles,
                                    std::size_t node_count) {
  std::vector<std::int32_t> place(node_count, -1), nodes;
  for (Vec3i t : of_object) {
    for (int c = 0; c < 3; ++c) {
      std::int32_t& at = place[static_cast<std::size_t>(t[c])];
      if (at < 0) {
        at = static_cast<std::int32_t>(nodes.size());
        nodes.push_back(t[c]);
      }
      t[c] = at;
    }
    triangles.push_back(t);
  }
  return nodes;
}

Points chosen(const MotionFrame& frame, const std::vector<std::int32_t>& nodes) {
  Points points;
  points.reserve(nodes.size());
  for (const std::int32_t node : nodes) points.push_back(frame.positions[static_cast<std::size_t>(node)]);
  return points;
}

/// Nodes of the strands one after the other; `sizes` gets how many each has.
std::vector<std::int32_t> strand_nodes(const Model& model, const Object& rods, std::vector<int>& sizes) {
  std::vector<std::int32_t> nodes;
  for (const Vec2i& segment : segments_of(model, rods)) {
    if (sizes.empty() || nodes.back() != segment[0]) {
      sizes.push_back(1);
      nodes.push_back(segment[0]);
    }
    nodes.push_back(segment[1]);
    ++sizes.back();
  }
  return nodes;
}

/// Rings of points about each node of the strands, without twist from one to the next.
Points tube_points(const Points& nodes, const std::vector<int>& strands, float radius,
                   const std::vector<Vec3f>& sides) {
  Points points;
  points.reserve(kTubeSides * nodes.size());
  std::size_t first = 0;
  for (std::size_t s = 0; s < strands.size(); ++s) {
    Vec3f u = sides[s];
    const auto size = static_cast<std::size_t>(strands[s]);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t before = first + (i > 0 ? i - 1 : 0), after = first + std::min(i + 1, size - 1);
      const Vec3f tangent = unit_or(nodes[after] - nodes[before], {0, 1, 0});
      u = unit_or(u - dot(u, tangent) * tangent, side_of(tangent));
      const Vec3f v = cross(tangent, u);
      for (int k = 0; k < kTubeSides; ++k) {
        const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(k) / kTubeSides;
        points.push_back(nodes[first + i] + radius * (std::cos(angle) * u + std::sin(angle) * v));
      }
    }
    first += size;
  }
  return points;
}

std::vector<Vec3i> tube_triangles(const std::vector<int>& strands) {
  std::vector<Vec3i> triangles;
  std::int32_t first = 0;
  for (const int size : strands) {
    for (int i = 0; i + 1 < size; ++i)
      for (int k = 0; k < kTubeSides; ++k) {
        const std::int32_t a = first + i * kTubeSides + k, b = first + i * kTubeSides + (k + 1) % kTubeSides;
        triangles.push_back({a, b, b + kTubeSides});
        triangles.push_back({a, b + kTubeSides, a + kTubeSides});
      }
    for (const std::int32_t end : {first, first + (size - 1) * kTubeSides})
      for (int k = 1; k + 1 < kTubeSides; ++k)
        triangles.push_back(end == first ? Vec3i{end, end + k + 1, end + k}
                                         : Vec3i{end, end + k, end + k + 1});
    first += size * kTubeSides;
  }
  return triangles;
}

void add_rods(MovingMesh& mesh, const Model& model, const Object& rods,
              const std::vector<MotionFrame>& frames) {
  mesh.diameter = static_cast<float>(rods.thickness);
  const std::vector<std::int32_t> nodes = strand_nodes(model, rods, mesh.strands);
  mesh.triangles = tube_triangles(mesh.strands);
  // One direction per strand for all frames, so that tubes do not turn between them.
  std::vector<Vec3f> sides;
  sides.reserve(mesh.strands.size());
  const Points start = chosen(frames[0], nodes);
  std::size_t first = 0;
  for (const int size : mesh.strands) {
    sides.push_back(side_of(unit_or(start[first + 1] - start[first], {0, 1, 0})));
    first += static_cast<std::size_t>(size);
  }
  for (const MotionFrame& frame : frames) {
    mesh.strand_points.push_back(chosen(frame, nodes));
    mesh.points.push_back(tube_points(mesh.strand_points.back(), mesh.strands, mesh.diameter / 2, sides));
  }
  mesh.normals = smooth_normals(mesh.points[0], mesh.triangles);
  mesh.motion = MovingMesh::Motion::deforming;
}

MovingMesh mesh_of(const Model& model, const Object& object, const std::vector<MotionFrame>& frames) {
  MovingMesh mesh;
  mesh.name = object.name;
  mesh.color = object.color;
  mesh.two_sided = object.is_cloth() || object.is_collider();
  if (object.is_rods()) {
    add_rods(mesh, model, object, frames);
    return mesh;
  }
  const std::vector<std::int32_t> nodes =
      use_nodes(triangles_of(model, object), mesh.triangles, model.node_count());
  const auto body = static_cast<std::size_t>(std::max(object.body, 0));
  if (object.is_rigid() && body < frames[0].poses.size()) {
    mesh.motion = MovingMesh::Motion::rigid;
    const Pose& at = frames[0].poses[body];
    Points local;
    local.reserve(nodes.size());
    for (const Vec3f& x : chosen(frames[0], nodes))
      local.push_back(at.q.rotate_back(x.cast<double>() - at.x).cast<float>());
    mesh.points.push_back(std::move(local));
    for (const MotionFrame& frame : frames) {
      Pose pose = frame.poses[body];
      // q and -q are one rotation; the way between two frames is the short one.
      if (!mesh.poses.empty()) {
        const auto& last = mesh.poses.back().q;
        if (last.w * pose.q.w + dot(last.v, pose.q.v) < 0) pose.q = {-pose.q.w, -pose.q.v};
      }
      mesh.poses.push_back(pose);
    }
  } else {
    mesh.points.push_back(chosen(frames[0], nodes));
    bool moves = false;
    for (std::size_t f = 1; f < frames.size() && !moves; ++f)
      for (const std::int32_t node : nodes) {
        const auto i = static_cast<std::size_t>(node);
        moves |= norm2(frames[f].positions[i] - frames[0].positions[i]) > 0;
      }
    if (moves) {
      mesh.motion = MovingMesh::Motion::deforming;
      for (std::size_t f = 1; f < frames.size(); ++f) mesh.points.push_back(chosen(frames[f], nodes));
      mesh.normals = smooth_normals(mesh.points[0], mesh.triangles);
    }
  }
  if (mesh.motion != MovingMesh::Motion::deforming) split_at_creases(mesh);
  return mesh;
}

MovingMesh square_of(const HalfSpace& plane, std::size_t index, const MotionFrame& start) {
  Vec3f low{0, 0, 0}, high{0, 0, 0};
  for (std::size_t i = 0; i < start.positions.size(); ++i) {
    low = i == 0 ? start.positions[0] : min(low, start.positions[i]);
    high = i == 0 ? start.positions[0] : max(high, start.positions[i]);
  }
  const Vec3f normal = unit_or(plane.normal.cast<float>(), {0, 1, 0});
  const float half = kGroundSize * std::max(0.5f * norm(high - low), 1e-3f);
  Vec3f center = 0.5f * (low + high);
  center -= (dot(center, normal) - static_cast<float>(plane.offset)) * normal;
  const Vec3f u = side_of(normal), v = cross(normal, u);
  MovingMesh mesh;
  mesh.name = "half-space " + std::to_string(index);
  mesh.color = {0.82f, 0.82f, 0.80f};
  mesh.two_sided = true;
  mesh.points.push_back(
      {center - half * (u + v), center + half * (u - v), center + half * (u + v), center - half * (u - v)});
  mesh.normals.assign(4, normal);
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  return mesh;
}

}  // namespace

bool MotionRecording::wants(double time) const { return time >= next_ - kLate; }

void MotionRecording::add(const Snapshot& snapshot) {
  if (!frames_.empty() && snapshot.time <= frames_.back().time) return;
  if (frames_.empty()) next_ = snapshot.time;
  frames_.push_back({snapshot.time, snapshot.positions, snapshot.poses});
  while (next_ <= snapshot.time + kLate) next_ += 1 / rate_;
}

std::vector<Vec3f> smooth_normals(const Points& points, const std::vector<Vec3i>& triangles) {
  std::vector<Vec3f> normals(points.size(), Vec3f{0, 0, 0});
  for (const Vec3i& t : triangles) {
    const Vec3f face = face_normal(points, t);
    for (int c = 0; c < 3; ++c) normals[static_cast<std::size_t>(t[c])] += face;
  }
  for (Vec3f& normal : normals) normal = unit_or(normal, {0, 1, 0});
  return normals;
}

std::vector<MovingMesh> moving_meshes(const Model& model, const std::vector<MotionFrame>& frames) {
  std::vector<MovingMesh> meshes;
  for (const Object& object : model.objects) {
    const bool has_shape = object.triangle_begin < object.triangle_end ||
                           (object.is_rods() && object.segment_begin < object.segment_end);
    if (has_shape) meshes.push_back(mesh_of(model, object, frames));
  }
  for (std::size_t i = 0; i < model.half_spaces.size(); ++i)
    meshes.push_back(square_of(model.half_spaces[i], i, frames[0]));
  return meshes;
}

void check_animation_file(const fs::path& file) {
  static constexpr std::array kEndings{".glb", ".usda", ".obj", ".ply"};
  if (std::ranges::find(kEndings, file.extension().string()) == kEndings.end())
    throw InputError(file.string() + ": must end in .glb, .usda, .obj or .ply");
  check_writable(file);
}

std::vector<fs::path> write_animation(const fs::path& file, const Model& model,
                                      const std::vector<MotionFrame>& frames) {
  if (frames.empty()) throw InputError(file.string() + ": there are no frames to write");
  const std::vector<MovingMesh> meshes = moving_meshes(model, frames);
  const auto write = [](const fs::path& path, const std::string& bytes) {
    OutputFile out(path);
    out.stream().write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.commit();
  };
  const std::string ending = file.extension().string();
  if (ending == ".glb") write(file, gltf_bytes(meshes, frames));
  if (ending == ".usda") write(file, usda_text(meshes, frames));
  if (ending == ".glb" || ending == ".usda") return {file};
  std::vector<fs::path> files;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    char number[32];
    std::snprintf(number, sizeof number, "_%05zu", f);
    files.push_back(file.parent_path() / (file.stem().string() + number + ending));
    write(files.back(), ending == ".obj" ? obj_text(meshes, f) : ply_bytes(meshes, f));
  }
  return files;
}

}  // namespace stickslip

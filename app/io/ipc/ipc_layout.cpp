#include "app/io/ipc/ipc_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "app/io/file/memory.h"
#include "app/io/file/number_text.h"
#include "app/io/mesh/mesh.h"
#include "app/io/mesh/point_mesh.h"
#include "gpu/model/rotation.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using Vec3d = Vec<double, 3>;

struct Quaternion {
  double w = 1;
  Vec3d v{0, 0, 0};

  static Quaternion about(const Vec3d& axis, double degrees) {
    const double half = degrees * std::numbers::pi / 360;
    return {std::cos(half), std::sin(half) * normalized(axis)};
  }
  friend Quaternion operator*(const Quaternion& a, const Quaternion& b) {
    return {a.w * b.w - dot(a.v, b.v), a.w * b.v + b.w * a.v + cross(a.v, b.v)};
  }
  /// In degrees, corrected for rounding (180, not 179.99999999999997).
  Vec3d rotation_vector() const {
    const double length = norm(v);
    if (length < 1e-15) return {0, 0, 0};
    const double degrees = 2 * std::atan2(length, std::abs(w)) * 180 / std::numbers::pi;
    Vec3d vector = (w < 0 ? -degrees : degrees) / length * v;
    for (int c = 0; c < 3; ++c) vector[c] = std::round(vector[c] * 1e12) / 1e12 + 0.0;
    return vector;
  }
};

Quaternion quaternion_of_euler(const Vec3d& degrees) {
  return Quaternion::about({1, 0, 0}, degrees[0]) * Quaternion::about({0, 1, 0}, degrees[1]) *
         Quaternion::about({0, 0, 1}, degrees[2]);
}

Vec3d apply(const IpcPlacement& placement, const Vec3d& p) {
  const Vec3d scaled{placement.scale[0] * p[0], placement.scale[1] * p[1], placement.scale[2] * p[2]};
  return placement.position + rotation_matrix_degrees(placement.rotation) * scaled;
}

/// The path that `is_it` accepts in the script's folder or the nearest folder above; empty when there is
/// none.
template <class F>
fs::path find_above(const fs::path& script, const fs::path& name, F&& is_it) {
  for (fs::path folder = fs::absolute(script).parent_path();; folder = folder.parent_path()) {
    if (is_it(folder / name)) return (folder / name).lexically_normal();
    if (folder == folder.parent_path()) return {};
  }
}

fs::path find_file(const fs::path& script, const fs::path& name) {
  return find_above(script, name, [](const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error);
  });
}

fs::path sequence_folder(const IpcScript& script, const std::string& name, int line) {
  fs::path folder = find_above(script.file, name, [](const fs::path& path) {
    std::error_code error;
    return fs::is_directory(path, error);
  });
  if (folder.empty())
    script.fail(line, "there is no folder '" + name + "' in the script's folder or in one above it");
  return folder;
}

IpcKind kind_of(const IpcScript& script, const IpcShape& shape) {
  const std::string extension = fs::path(shape.file).extension().string();
  if (extension == ".msh") return IpcKind::solid;
  if (extension == ".obj") return IpcKind::surface;
  if (extension == ".seg") return IpcKind::segments;
  if (extension == ".pt") return IpcKind::points;
  script.fail(shape.line, "shape: '" + shape.file + "' must end in .msh, .obj, .seg or .pt");
}

fs::path mesh_file(const IpcScript& script, const std::string& name, int line) {
  fs::path file = find_file(script.file, name);
  const std::string extension = fs::path(name).extension().string();
  if (file.empty() && (extension == ".seg" || extension == ".pt"))
    file = find_file(script.file, fs::path(name).replace_extension(".obj"));
  if (file.empty())
    script.fail(line, "there is no file '" + name + "' in the script's folder or in one above it");
  return file;
}

/// Flags the nodes of triangles that belong to exactly one tet.
std::vector<bool> boundary_of(const TetMesh& mesh) {
  std::map<std::array<std::int32_t, 3>, int> faces;
  for (const Vec4i& t : mesh.tets)
    for (int skip = 0; skip < 4; ++skip) {
      std::array<std::int32_t, 3> face{t[(skip + 1) % 4], t[(skip + 2) % 4], t[(skip + 3) % 4]};
      std::sort(face.begin(), face.end());
      ++faces[face];
    }
  std::vector<bool> flags(mesh.nodes.size(), false);
  for (const auto& [face, count] : faces)
    if (count == 1)
      for (const std::int32_t node : face) flags[node] = true;
  return flags;
}

struct LoadedMesh {
  std::vector<Vec3d> nodes;
  std::vector<bool> on_boundary;
};

LoadedMesh load(const fs::path& file, IpcKind kind) {
  if (kind == IpcKind::solid) {
    TetMesh mesh = load_solid(file);
    std::vector<bool> boundary = boundary_of(mesh);
    return {std::move(mesh.nodes), std::move(boundary)};
  }
  std::vector<Vec3d> nodes =
      kind == IpcKind::surface
          ? load_surface(file).nodes
          : load_point_mesh(file, kind == IpcKind::points ? PointKind::points : PointKind::segments).nodes;
  std::vector<bool> boundary(nodes.size(), true);
  return {std::move(nodes), std::move(boundary)};
}

/// Reads each file once; errors give the script's line.
class MeshShelf {
 public:
  explicit MeshShelf(const IpcScript& script) : script_(script) {}
  const LoadedMesh& get(const fs::path& file, IpcKind kind, int line) {
    const auto key = std::make_pair(file, kind);
    const auto found = meshes_.find(key);
    if (found != meshes_.end()) return found->second;
    try {
      return meshes_.emplace(key, load(file, kind)).first->second;
    } catch (const InputError& error) {
      script_.fail(line, error.what());
    }
  }
  /// An OBJ without faces is read as segments or points.
  IpcKind kind_of_obj(const fs::path& file, int line) {
    const auto found = kinds_.find(file);
    if (found != kinds_.end()) return found->second;
    try {
      const std::optional<PointKind> points = kind_without_faces(file);
      const IpcKind kind = !points                        ? IpcKind::surface
                           : *points == PointKind::points ? IpcKind::points
                                                          : IpcKind::segments;
      return kinds_.emplace(file, kind).first->second;
    } catch (const InputError& error) {
      script_.fail(line, error.what());
    }
  }

 private:
  std::map<fs::path, IpcKind> kinds_;
  const IpcScript& script_;
  std::map<std::pair<fs::path, IpcKind>, LoadedMesh> meshes_;
};

/// Generates names that a scene accepts: at most one dot, before a number; equal names are numbered.
class Names {
 public:
  explicit Names(std::vector<std::string> stems) {
    for (const std::string& stem : stems) ++count_[base(stem)];
  }
  std::string next(const std::string& stem) {
    std::string name = base(stem);
    if (count_[name] > 1) {
      const int index = used_[name]++;
      std::replace(name.begin(), name.end(), '.', '_');
      return name + "." + std::to_string(index);
    }
    return name;
  }

 private:
  static std::string base(std::string stem) {
    const std::size_t dot = stem.find('.');
    const bool numbered = dot != std::string::npos && dot > 0 && dot + 1 < stem.size() &&
                          stem.find_first_not_of("0123456789", dot + 1) == std::string::npos;
    for (char& c : stem)
      if (std::string(" =\"\\'").find(c) != std::string::npos || (c == '.' && !numbered)) c = '_';
    return stem.empty() ? "shape" : stem;
  }
  std::map<std::string, int> count_, used_;
};

std::string stem_of(const std::string& file) { return fs::path(file).stem().string(); }

// Memory to read, place and write a node: several copies of its position.
constexpr double kBytesPerNode = 200;

void add_bodies(const IpcScript& script, MeshShelf& shelf, Names& names, IpcLayout& layout) {
  double count = 0;
  bool followed = false;  // the animation's sequence is taken; the first kinematic shape follows it
  for (const IpcShape& shape : script.shapes) {
    IpcBody body;
    body.kind = kind_of(script, shape);
    body.file = mesh_file(script, shape.file, shape.line);
    if (body.kind == IpcKind::surface) body.kind = shelf.kind_of_obj(body.file, shape.line);
    body.line = shape.line;
    if (!shape.sequence.empty()) {
      if (body.kind == IpcKind::solid)
        script.fail(shape.line, "meshSeq: kinematic shapes can follow a sequence of files, solids cannot");
      body.sequence = sequence_folder(script, shape.sequence, shape.line);
    } else if (!script.sequence.empty() && body.kind != IpcKind::solid && !followed) {
      followed = true;
      body.sequence = sequence_folder(script, script.sequence, script.animation_line);
      body.first_of_sequence = 1;
    }
    body.name = names.next(stem_of(shape.file));
    body.begin = static_cast<int>(count);
    count += static_cast<double>(shelf.get(body.file, body.kind, shape.line).nodes.size());
    if (count > std::numeric_limits<int>::max())
      script.fail(shape.line, "the shapes up to here have more than 2^31 nodes together");
    body.end = static_cast<int>(count);
    layout.bodies.push_back(std::move(body));
  }
  if (const std::string shortage = memory_shortage(kBytesPerNode * count); !shortage.empty())
    script.fail(script.shapes.back().line,
                "the shapes up to here have " + number_text(count) + " nodes together: " + shortage);
  layout.file_nodes.reserve(static_cast<std::size_t>(count));
  layout.on_boundary.reserve(static_cast<std::size_t>(count));
  for (const IpcBody& body : layout.bodies) {
    const LoadedMesh& mesh = shelf.get(body.file, body.kind, body.line);
    layout.file_nodes.insert(layout.file_nodes.end(), mesh.nodes.begin(), mesh.nodes.end());
    layout.on_boundary.insert(layout.on_boundary.end(), mesh.on_boundary.begin(), mesh.on_boundary.end());
  }
}

/// Nodes of all bodies under `placement(shape)`.
template <class F>
std::vector<Vec3d> place(const IpcScript& script, const IpcLayout& layout, F&& placement) {
  std::vector<Vec3d> nodes;
  nodes.reserve(layout.file_nodes.size());
  for (std::size_t b = 0; b < layout.bodies.size(); ++b) {
    const IpcPlacement where = placement(script.shapes[b]);
    for (int i = layout.bodies[b].begin; i < layout.bodies[b].end; ++i)
      nodes.push_back(apply(where, layout.file_nodes[i]));
  }
  return nodes;
}

IpcBounds bounds_of(const std::vector<Vec3d>& nodes) {
  IpcBounds bounds;
  for (const Vec3d& p : nodes) bounds.include(p);
  return bounds;
}

/// Rotates everything about "half the extent" (as the format defines it), then rescales the longest side to
/// `size` and moves the lower corner to the origin.
void place_bodies(const IpcScript& script, IpcLayout& layout) {
  const auto as_written = [](const IpcShape& shape) {
    return IpcPlacement{shape.translation, rotation_vector_of_euler(shape.rotation), shape.scale};
  };
  const Vec3d pivot = 0.5 * bounds_of(place(script, layout, as_written)).size();
  const Quaternion turn = Quaternion::about(script.model_axis, script.model_degrees);
  const Mat<double, 3> turn_matrix = rotation_matrix_degrees(turn.rotation_vector());
  const auto turned = [&](const IpcShape& shape) {
    IpcPlacement placement = as_written(shape);
    if (script.model_degrees == 0) return placement;
    placement.rotation = (turn * quaternion_of_euler(shape.rotation)).rotation_vector();
    placement.position = turn_matrix * (placement.position - pivot) + pivot;
    return placement;
  };
  const IpcBounds turned_bounds = bounds_of(place(script, layout, turned));
  const Vec3d extent = turned_bounds.size();
  const double longest = std::max({extent[0], extent[1], extent[2]});
  const bool rescale = script.size > 0 && longest > 0;
  const double factor = rescale ? script.size / longest : 1;
  const Vec3d offset = rescale ? factor * turned_bounds.low : Vec3d{0, 0, 0};
  const auto rescaled = [&](IpcPlacement placement) {
    placement.position = factor * placement.position - offset;
    placement.scale *= factor;
    return placement;
  };
  for (std::size_t b = 0; b < layout.bodies.size(); ++b)
    layout.bodies[b].placement = rescaled(turned(script.shapes[b]));
  layout.nodes = place(script, layout, [&](const IpcShape& shape) { return rescaled(turned(shape)); });
  layout.unturned = place(script, layout, [&](const IpcShape& shape) { return rescaled(as_written(shape)); });
}

void add_mesh_colliders(const IpcScript& script, MeshShelf& shelf, Names& names, IpcLayout& layout) {
  for (const IpcMeshCollider& collider : script.mesh_colliders) {
    IpcBody body;
    body.kind = IpcKind::surface;
    body.file = mesh_file(script, collider.file, collider.line);
    body.line = collider.line;
    body.name = names.next(stem_of(collider.file));
    const std::vector<Vec3d>& nodes = shelf.get(body.file, body.kind, collider.line).nodes;
    const IpcBounds bounds = bounds_of(nodes);
    Vec3d mean{0, 0, 0};
    for (const Vec3d& p : nodes) mean += p / static_cast<double>(nodes.size());
    const Vec3d extent = bounds.size();
    const double factor = collider.size / std::max({extent[0], extent[1], extent[2]});
    body.placement.scale = Vec3d::filled(factor);
    body.placement.rotation = rotation_vector_of_euler(collider.rotation);
    body.placement.position =
        collider.origin - factor * (rotation_matrix_degrees(body.placement.rotation) * mean);
    body.begin = static_cast<int>(layout.mesh_nodes.size());
    for (const Vec3d& p : nodes) layout.mesh_nodes.push_back(apply(body.placement, p));
    body.end = static_cast<int>(layout.mesh_nodes.size());
    layout.mesh_colliders.push_back(std::move(body));
  }
}

}  // namespace

Vec3d rotation_vector_of_euler(const Vec3d& degrees) {
  return quaternion_of_euler(degrees).rotation_vector();
}

IpcBounds IpcLayout::bounds(int begin, int end) const {
  IpcBounds bounds;
  for (int i = begin; i < end; ++i) bounds.include(nodes[i]);
  return bounds;
}

IpcLayout lay_out(const IpcScript& script) {
  std::vector<std::string> stems;
  for (const IpcShape& shape : script.shapes) stems.push_back(stem_of(shape.file));
  for (const IpcMeshCollider& collider : script.mesh_colliders) stems.push_back(stem_of(collider.file));
  Names names(std::move(stems));
  MeshShelf shelf(script);
  IpcLayout layout;
  add_bodies(script, shelf, names, layout);
  place_bodies(script, layout);
  add_mesh_colliders(script, shelf, names, layout);

  IpcBounds solids;
  for (const IpcBody& body : layout.bodies)
    if (body.kind == IpcKind::solid)
      for (int i = body.begin; i < body.end; ++i) solids.include(layout.unturned[i]);
  if (!(solids.low[0] <= solids.high[0]))
    throw InputError(script.file.string() + ": no shape is a .msh solid");
  if (!std::isfinite(norm(solids.size())))
    throw InputError(script.file.string() + ": the shapes lie too far apart for numbers");
  layout.diagonal = norm(solids.size());
  return layout;
}

}  // namespace stickslip

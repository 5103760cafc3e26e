// OBJ and PLY files of single frames.
#include <bit>
#include <cmath>
#include <cstdint>

#include "app/io/animation/animation.h"
#include "app/io/file/number_text.h"

namespace stickslip {
namespace {

/// [m] in the world, in a frame.
Vec3f point_of(const MovingMesh& mesh, std::size_t frame, std::size_t i) {
  if (mesh.motion == MovingMesh::Motion::deforming) return mesh.points[frame][i];
  if (mesh.motion == MovingMesh::Motion::still) return mesh.points[0][i];
  const Pose& pose = mesh.poses[frame];
  return (pose.x + pose.q.rotate(mesh.points[0][i].cast<double>())).cast<float>();
}

std::string short_number(float value) { return number_text(static_cast<double>(value)); }

void add_bytes(std::string& out, std::uint32_t bits) {
  for (int k = 0; k < 4; ++k) out += static_cast<char>((bits >> (8 * k)) & 0xff);
}

}  // namespace

std::string obj_text(const std::vector<MovingMesh>& meshes, std::size_t frame) {
  std::string text;
  std::int32_t first = 1;
  for (const MovingMesh& mesh : meshes) {
    std::string name = mesh.name;
    for (char& c : name)
      if (c == ' ' || c == '\n') c = '_';
    text += "o " + name + "\n";
    for (std::size_t i = 0; i < mesh.points[0].size(); ++i) {
      const Vec3f x = point_of(mesh, frame, i);
      text += "v " + short_number(x[0]) + " " + short_number(x[1]) + " " + short_number(x[2]) + "\n";
    }
    for (const Vec3i& t : mesh.triangles)
      text += "f " + std::to_string(first + t[0]) + " " + std::to_string(first + t[1]) + " " +
              std::to_string(first + t[2]) + "\n";
    first += static_cast<std::int32_t>(mesh.points[0].size());
  }
  return text;
}

std::string ply_bytes(const std::vector<MovingMesh>& meshes, std::size_t frame) {
  std::size_t points = 0, triangles = 0;
  for (const MovingMesh& mesh : meshes) {
    points += mesh.points[0].size();
    triangles += mesh.triangles.size();
  }
  std::string out =
      "ply\nformat binary_little_endian 1.0\nelement vertex " + std::to_string(points) +
      "\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty uchar "
      "green\nproperty uchar blue\nelement face " +
      std::to_string(triangles) + "\nproperty list uchar int vertex_indices\nend_header\n";
  for (const MovingMesh& mesh : meshes)
    for (std::size_t i = 0; i < mesh.points[0].size(); ++i) {
      const Vec3f x = point_of(mesh, frame, i);
      for (int k = 0; k < 3; ++k) add_bytes(out, std::bit_cast<std::uint32_t>(x[k]));
      for (int k = 0; k < 3; ++k) out += static_cast<char>(std::lround(255 * mesh.color[k]));
    }
  std::int32_t first = 0;
  for (const MovingMesh& mesh : meshes) {
    for (const Vec3i& t : mesh.triangles) {
      out += static_cast<char>(3);
      for (int c = 0; c < 3; ++c) add_bytes(out, static_cast<std::uint32_t>(first + t[c]));
    }
    first += static_cast<std::int32_t>(mesh.points[0].size());
  }
  return out;
}

}  // namespace stickslip

#include "app/io/mesh/mesh_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <tuple>

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

class SolidCheck {
 public:
  SolidCheck(MshContent& content, const std::string& name) : content_(content), name_(name) {}

  void run() {
    if (content_.tets.empty())
      throw InputError(name_ + ": has no tetrahedra" +
                       (content_.triangles.empty() ? ""
                                                   : ", only " + std::to_string(content_.triangles.size()) +
                                                         " triangles: mesh its volume (gmsh -3)"));
    orient();
    find_duplicates();
    match_faces();
  }

 private:
  void orient() {
    std::size_t inverted = 0;
    std::vector<bool> negative(content_.tets.size());
    for (std::size_t t = 0; t < content_.tets.size(); ++t) {
      const double volume = signed_volume(content_.nodes, content_.tets[t]);
      // Flat up to rounding: compares the volume with that of a cube over the longest edge.
      const double longest2 = longest_edge2(content_.tets[t]);
      if (!(std::abs(volume) > 1e-10 * longest2 * std::sqrt(longest2)))
        refuse(t, "has no volume: its nodes lie in a plane");
      negative[t] = volume < 0;
      inverted += negative[t];
    }
    if (inverted != 0 && inverted != negative.size()) {
      const bool few_negative = 2 * inverted <= negative.size();
      const auto odd = static_cast<std::size_t>(std::find(negative.begin(), negative.end(), few_negative) -
                                                negative.begin());
      const std::size_t count = few_negative ? inverted : negative.size() - inverted;
      refuse(odd, "is inverted, as are " + std::to_string(count - 1) + " more of " +
                      std::to_string(negative.size()) +
                      ": all must list their nodes in the same sense, and none be turned inside out");
    }
    // All tets negative is the other orientation convention and not an error.
    if (inverted != 0)
      for (Vec4i& tet : content_.tets) std::swap(tet[2], tet[3]);
  }

  double longest_edge2(const Vec4i& t) const {
    double longest2 = 0;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < i; ++j)
        longest2 = std::max(longest2, norm2(content_.nodes[t[i]] - content_.nodes[t[j]]));
    return longest2;
  }

  void find_duplicates() {
    std::vector<std::pair<std::array<std::int32_t, 4>, std::size_t>> keys;
    keys.reserve(content_.tets.size());
    for (std::size_t t = 0; t < content_.tets.size(); ++t) {
      const Vec4i& tet = content_.tets[t];
      std::array<std::int32_t, 4> key{tet[0], tet[1], tet[2], tet[3]};
      std::sort(key.begin(), key.end());
      keys.emplace_back(key, t);
    }
    std::sort(keys.begin(), keys.end());
    for (std::size_t i = 1; i < keys.size(); ++i)
      if (keys[i].first == keys[i - 1].first)
        refuse(keys[i].second, "has the same nodes as element " + tag(keys[i - 1].second));
  }

  /// A face belongs to one tet, or to two on its two sides.
  void match_faces() {
    struct Face {
      std::array<std::int32_t, 3> nodes;  // ascending
      std::size_t tet;
      bool odd;  // odd permutation of the outward order
    };
    static constexpr int outward[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    std::vector<Face> faces;
    faces.reserve(4 * content_.tets.size());
    for (std::size_t t = 0; t < content_.tets.size(); ++t)
      for (const auto& f : outward) {
        const Vec4i& tet = content_.tets[t];
        std::array<std::int32_t, 3> n{tet[f[0]], tet[f[1]], tet[f[2]]};
        const bool odd = (n[0] > n[1]) ^ (n[1] > n[2]) ^ (n[0] > n[2]);
        std::sort(n.begin(), n.end());
        faces.push_back({n, t, odd});
      }
    std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) {
      return std::tuple(a.nodes, a.odd, a.tet) < std::tuple(b.nodes, b.odd, b.tet);
    });
    for (std::size_t i = 1; i < faces.size(); ++i) {
      if (faces[i].nodes != faces[i - 1].nodes) continue;
      if (faces[i].odd == faces[i - 1].odd)
        refuse(faces[i].tet,
               "overlaps element " + tag(faces[i - 1].tet) + ": both lie on the same side of a common face");
    }
  }

  std::string tag(std::size_t tet) const { return std::to_string(content_.tet_tags[tet]); }
  [[noreturn]] void refuse(std::size_t tet, const std::string& what) const {
    throw InputError(name_ + ": element " + tag(tet) + " " + what);
  }

  MshContent& content_;
  const std::string& name_;
};

template <class Mesh, class Element>
std::vector<std::int32_t> drop_unused(Mesh& mesh, std::vector<Element>& elements) {
  std::vector<std::int32_t> id(mesh.nodes.size(), -1);
  for (const Element& element : elements)
    for (const std::int32_t node : element.v) id[node] = 0;
  std::vector<std::int32_t> dropped;
  std::int32_t kept = 0;
  for (std::size_t n = 0; n < id.size(); ++n) {
    if (id[n] < 0) {
      dropped.push_back(static_cast<std::int32_t>(n));
      continue;
    }
    mesh.nodes[kept] = mesh.nodes[n];
    id[n] = kept++;
  }
  mesh.nodes.resize(kept);
  for (Element& element : elements)
    for (std::int32_t& node : element.v) node = id[node];
  return dropped;
}

}  // namespace

std::vector<std::int32_t> drop_unused(TetMesh& mesh) { return drop_unused(mesh, mesh.tets); }
std::vector<std::int32_t> drop_unused(SurfaceMesh& mesh) { return drop_unused(mesh, mesh.triangles); }

double signed_volume(const std::vector<Vec3d>& nodes, const Vec4i& t) {
  return dot(nodes[t[1]] - nodes[t[0]], cross(nodes[t[2]] - nodes[t[0]], nodes[t[3]] - nodes[t[0]])) / 6;
}

TetMesh checked_solid(MshContent content, const std::string& name) {
  SolidCheck(content, name).run();
  TetMesh mesh{std::move(content.nodes), std::move(content.tets)};
  const std::vector<std::int32_t> dropped = drop_unused(mesh);
  if (!dropped.empty())
    std::cerr << "stickslip: warning: " << name << ": " << dropped.size()
              << " nodes belong to no tetrahedron and are left out, the first with tag "
              << content.node_tags[dropped[0]] << "\n";
  return mesh;
}

}  // namespace stickslip

#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include "app/io/file/byte_cursor.h"
#include "app/io/file/number_text.h"
#include "app/io/file/output_file.h"
#include "app/io/file/temporary_folder.h"
#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/solidify.h"
#include "app/process/child_process.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

/// Writes tetgen's .smesh: nodes, facets, no holes, no regions.
void write_smesh(const fs::path& file, const SurfaceMesh& surface) {
  std::ofstream out(file);
  out << surface.nodes.size() << " 3 0 0\n";
  for (std::size_t i = 0; i < surface.nodes.size(); ++i) {
    const auto& p = surface.nodes[i];
    out << i << " " << number_text(p[0]) << " " << number_text(p[1]) << " " << number_text(p[2]) << "\n";
  }
  out << surface.triangles.size() << " 0\n";
  for (const Vec3i& t : surface.triangles) out << "3 " << t[0] << " " << t[1] << " " << t[2] << "\n";
  out << "0\n0\n";
  out.close();
  if (!out) throw OutputError(file.string() + ": writing failed");
}

constexpr std::int64_t kMostListed = std::numeric_limits<std::int32_t>::max();

std::vector<Vec<double, 3>> read_nodes(const fs::path& file) {
  const std::string bytes = read_bytes(file);
  ByteCursor in(bytes, file.string());
  const std::int64_t count = in.whole("the number of nodes", 0, kMostListed);
  in.line();
  std::vector<Vec<double, 3>> nodes;
  for (std::int64_t i = 0; i < count; ++i) {
    in.whole("the number of a node", i, i);
    auto& p = nodes.emplace_back();
    for (int c = 0; c < 3; ++c) p[c] = in.number("a coordinate");
    in.line();
  }
  return nodes;
}

/// Tets grouped by tetgen's region number.
std::map<double, std::vector<Vec4i>> read_regions(const fs::path& file, std::size_t nodes) {
  const std::string bytes = read_bytes(file);
  ByteCursor in(bytes, file.string());
  const std::int64_t count = in.whole("the number of tets", 0, kMostListed);
  in.expect("4");
  in.expect("1");
  std::map<double, std::vector<Vec4i>> regions;
  for (std::int64_t i = 0; i < count; ++i) {
    in.whole("the number of a tet", i, i);
    Vec4i tet{};
    for (std::int32_t& n : tet.v)
      n = static_cast<std::int32_t>(in.whole("a node", 0, static_cast<std::int64_t>(nodes) - 1));
    regions[in.number("a region")].push_back(tet);
  }
  return regions;
}

/// Whether the region of these tets lies inside; tested at its largest tet.
bool is_inside(const SurfaceMesh& surface, const TetMesh& mesh) {
  double most = 0;
  Vec<double, 3> center{};
  for (const Vec4i& t : mesh.tets) {
    const double volume = std::abs(signed_volume(mesh.nodes, t));
    if (volume < most) continue;
    most = volume;
    center = 0.25 * (mesh.nodes[t[0]] + mesh.nodes[t[1]] + mesh.nodes[t[2]] + mesh.nodes[t[3]]);
  }
  return winding_number(surface, center) > 0.5;
}

}  // namespace

TetMesh fill_by_tetgen(const fs::path& tetgen, const SurfaceMesh& surface, double edge,
                       const std::string& name, double seconds) {
  const TemporaryFolder folder;
  write_smesh(folder / "in.smesh", surface);
  // p: a polyhedron; Y: keep its facets whole; q: bound on radius over shortest edge, and on the dihedral
  // angle; a: volume; A: number the regions; z: count from zero; Q: quiet.
  const double regular_tet = edge * edge * edge / (6 * std::sqrt(2.0));
  const std::string switches = edge > 0 ? "-pq1.414/10AzQa" + number_text(regular_tet) : "-pYq1.414/10AzQ";
  ChildProcess process(tetgen, {switches, (folder / "in.smesh").string()});
  const bool ended = process.finish(ChildProcess::Limit(seconds));
  if (process.timed_out())
    throw InputError(name + ": tetgen has not ended after " + number_text(std::round(10 * seconds) / 10) +
                     " s and was stopped; mesher = \"lattice\" needs no other program");
  if (!ended || !fs::exists(folder / "in.1.ele"))
    throw InputError(
        name +
        ": tetgen failed or was stopped (does the surface intersect itself, or is memory short?); "
        "mesher = \"lattice\" does not mind intersections");
  TetMesh mesh{read_nodes(folder / "in.1.node"), {}};
  for (auto& [region, tets] : read_regions(folder / "in.1.ele", mesh.nodes.size())) {
    TetMesh part{std::move(mesh.nodes), std::move(tets)};
    const bool keep = is_inside(surface, part);
    mesh.nodes = std::move(part.nodes);
    if (keep) mesh.tets.insert(mesh.tets.end(), part.tets.begin(), part.tets.end());
  }
  for (Vec4i& t : mesh.tets)
    if (signed_volume(mesh.nodes, t) < 0) std::swap(t[2], t[3]);
  drop_unused(mesh);
  if (mesh.tets.empty()) throw InputError(name + ": tetgen left it empty");
  return mesh;
}

}  // namespace stickslip

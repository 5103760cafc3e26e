#include <algorithm>
#include <bit>

#include "app/io/file/number_text.h"
#include "app/io/mesh/msh.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// Writes the numbers of a section: rows of text, or bytes in native order.
class MshWriter {
 public:
  MshWriter(std::ostream& out, bool binary) : out_(out), binary_(binary) {}

  void text(const std::string& line) { out_ << line << "\n"; }
  void integer(std::int32_t value) { put(value); }
  void size(std::size_t value) { put(static_cast<std::uint64_t>(value)); }
  void point(const Vec3d& p) {
    for (int c = 0; c < 3; ++c) put(p[c]);
  }
  void end_row() {
    if (!binary_) out_ << "\n";
  }
  /// Binary data do not end with a new line.
  void end_section(const std::string& name) { out_ << (binary_ ? "\n$End" : "$End") << name << "\n"; }

 private:
  template <class T>
  void put(T value) {
    if (binary_) out_.write(reinterpret_cast<const char*>(&value), sizeof value);
    else if constexpr (std::is_floating_point_v<T>) out_ << number_text(value) << " ";
    else out_ << value << " ";
  }

  std::ostream& out_;
  bool binary_;
};

struct Totals {
  std::size_t nodes = 0, tets = 0;
};

Totals count(const std::vector<NamedTets>& parts) {
  Totals totals;
  for (const NamedTets& part : parts) {
    totals.nodes += part.mesh.nodes.size();
    totals.tets += part.mesh.tets.size();
  }
  return totals;
}

void write_names(MshWriter& to, const std::vector<NamedTets>& parts) {
  to.text("$PhysicalNames");
  to.text(std::to_string(parts.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string name = parts[i].name;
    std::replace(name.begin(), name.end(), '"', '\'');
    to.text("3 " + std::to_string(i + 1) + " \"" + name + "\"");
  }
  to.text("$EndPhysicalNames");
}

/// Version 4.1: one volume entity per part, in the physical group of the same number.
void write_entities(MshWriter& to, const std::vector<NamedTets>& parts) {
  to.text("$Entities");
  for (int dimension = 0; dimension < 3; ++dimension) to.size(0);
  to.size(parts.size());
  to.end_row();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto tag = static_cast<std::int32_t>(i + 1);
    Vec3d low = parts[i].mesh.nodes[0], high = low;
    for (const Vec3d& p : parts[i].mesh.nodes) low = min(low, p), high = max(high, p);
    to.integer(tag);
    to.point(low);
    to.point(high);
    to.size(1), to.integer(tag);  // physical groups
    to.size(0);                   // bounding surfaces
    to.end_row();
  }
  to.end_section("Entities");
}

/// Header of $Nodes and $Elements: number of blocks, number of members, smallest and largest tag.
void write_head(MshWriter& to, const std::string& section, std::size_t blocks, std::size_t members) {
  to.text("$" + section);
  to.size(blocks), to.size(members), to.size(1), to.size(members);
  to.end_row();
}

void write_block_head(MshWriter& to, std::size_t part, std::int32_t kind, std::size_t members) {
  to.integer(3), to.integer(static_cast<std::int32_t>(part + 1)), to.integer(kind), to.size(members);
  to.end_row();
}

void write_version4(MshWriter& to, const std::vector<NamedTets>& parts) {
  const Totals totals = count(parts);
  write_entities(to, parts);
  write_head(to, "Nodes", parts.size(), totals.nodes);
  std::size_t tag = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    write_block_head(to, i, 0, parts[i].mesh.nodes.size());
    for (std::size_t n = 0; n < parts[i].mesh.nodes.size(); ++n) to.size(++tag), to.end_row();
    for (const Vec3d& p : parts[i].mesh.nodes) to.point(p), to.end_row();
  }
  to.end_section("Nodes");

  write_head(to, "Elements", parts.size(), totals.tets);
  std::size_t first = 1;
  tag = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    write_block_head(to, i, 4, parts[i].mesh.tets.size());
    for (const Vec4i& tet : parts[i].mesh.tets) {
      to.size(++tag);
      for (const std::int32_t n : tet.v) to.size(first + static_cast<std::size_t>(n));
      to.end_row();
    }
    first += parts[i].mesh.nodes.size();
  }
  to.end_section("Elements");
}

void write_version2(MshWriter& to, const std::vector<NamedTets>& parts, bool binary) {
  const Totals totals = count(parts);
  to.text("$Nodes");
  to.text(std::to_string(totals.nodes));
  std::int32_t tag = 0;
  for (const NamedTets& part : parts)
    for (const Vec3d& p : part.mesh.nodes) to.integer(++tag), to.point(p), to.end_row();
  to.end_section("Nodes");

  to.text("$Elements");
  to.text(std::to_string(totals.tets));
  std::int32_t first = 1;
  tag = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto group = static_cast<std::int32_t>(i + 1);
    if (binary)
      to.integer(4), to.integer(static_cast<std::int32_t>(parts[i].mesh.tets.size())), to.integer(2);
    for (const Vec4i& tet : parts[i].mesh.tets) {
      to.integer(++tag);
      if (!binary) to.integer(4), to.integer(2);
      to.integer(group), to.integer(group);
      for (const std::int32_t n : tet.v) to.integer(first + n);
      to.end_row();
    }
    first += static_cast<std::int32_t>(parts[i].mesh.nodes.size());
  }
  to.end_section("Elements");
}

}  // namespace

void write_msh(std::ostream& out, const std::vector<NamedTets>& parts, const MshFormat& format) {
  MshWriter to(out, format.binary);
  to.text("$MeshFormat");
  to.text(std::string(format.version2 ? "2.2 " : "4.1 ") + (format.binary ? "1 8" : "0 8"));
  if (format.binary) to.integer(1);
  to.text((format.binary ? "\n" : "") + std::string("$EndMeshFormat"));
  write_names(to, parts);
  if (format.version2) write_version2(to, parts, format.binary);
  else write_version4(to, parts);
}

}  // namespace stickslip

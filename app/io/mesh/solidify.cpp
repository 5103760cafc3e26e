#include "app/io/mesh/solidify.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "app/io/file/byte_cursor.h"
#include "app/io/file/memory.h"
#include "app/io/file/number_text.h"
#include "app/io/file/output_file.h"
#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/msh.h"
#include "app/process/child_process.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

/// Two FNV-1a streams: a 128-bit hash to distinguish files; not cryptographic.
class Digest {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) {
      a_ = (a_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
      b_ = (b_ + static_cast<unsigned char>(c)) * 0x9e3779b97f4a7c15u;
      b_ ^= b_ >> 29;
    }
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }
  std::string text() const {
    static constexpr char digits[] = "0123456789abcdef";
    std::string hex;
    for (const std::uint64_t word : {a_, b_})
      for (int shift = 60; shift >= 0; shift -= 4) hex += digits[word >> shift & 15];
    return hex;
  }

 private:
  std::uint64_t a_ = 0xcbf29ce484222325u, b_ = 0x2545f4914f6cdd1du;
};

/// File of the cached result; empty when there is no folder for a cache.
std::optional<fs::path> cache_file(const SurfaceMesh& surface, const std::string& recipe) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if ((!cache || !*cache) && (!home || !*home)) return std::nullopt;
  const fs::path folder =
      (cache && *cache ? fs::path(cache) : fs::path(home) / ".cache") / "stickslip" / "solids";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK) != 0) return std::nullopt;
  Digest digest;
  digest.add(recipe);
  digest.add(surface.nodes);
  digest.add(surface.triangles);
  return folder / (digest.text() + ".msh");
}

std::optional<TetMesh> read_cache(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  try {
    return checked_solid(parse_msh(read_bytes(file), file.string()), file.string());
  } catch (const InputError&) {
    return std::nullopt;  // unreadable cache: compute again
  }
}

void write_cache(const fs::path& file, const TetMesh& mesh) {
  try {
    OutputFile out(file);
    write_msh(out.stream(), {{"solid", mesh}}, {.binary = true});
    out.commit();
  } catch (const std::runtime_error& error) {
    std::cerr << "stickslip: warning: cannot keep a filled mesh for the next time: " << error.what() << "\n";
  }
}

double default_edge(const SurfaceMesh& surface) {
  Vec<double, 3> low = surface.nodes[0], high = low;
  for (const auto& p : surface.nodes) low = min(low, p), high = max(high, p);
  return norm(high - low) / 24;
}

/// Returns the cached result for the surface, or calls `fill` and caches its result.
template <class F>
TetMesh cached(const SurfaceMesh& surface, const std::string& recipe, F&& fill) {
  const std::optional<fs::path> file = cache_file(surface, recipe);
  if (file)
    if (std::optional<TetMesh> kept = read_cache(*file)) return *std::move(kept);
  TetMesh mesh = fill();
  if (file) write_cache(*file, mesh);
  return mesh;
}

/// Number of regular tets of this edge that fill the surface's volume.
double regular_tets(const SurfaceMesh& surface, double edge) {
  return std::abs(enclosed_volume(surface)) / (edge * edge * edge / (6 * std::sqrt(2.0)));
}

/// Time limit [s]: a hundred times the time for most surfaces.
double tetgen_seconds(const SurfaceMesh& surface, double edge) {
  const double tets = edge > 0 ? regular_tets(surface, edge) : 0;
  return 60 + 1e-2 * static_cast<double>(surface.triangles.size()) + 1e-3 * tets;
}

}  // namespace

void check_tet_count(double tets, double bytes, double edge, const std::string& name) {
  if (!(tets <= 1e7))
    throw InputError(name + ": edge = " + number_text(edge) + " m is too short for its size: about " +
                     number_text(std::round(tets)) + " tets, and ten million can be made");
  if (const std::string shortage = memory_shortage(bytes); !shortage.empty())
    throw InputError(name + ": " + shortage);
}

TetMesh solidify(SurfaceMesh open, const SolidOptions& options, const std::string& name) {
  const SurfaceMesh surface = checked_closed(std::move(open), name);
  std::optional<fs::path> tetgen;
  if (options.mesher != Mesher::lattice) tetgen = find_program("tetgen");
  if (options.mesher == Mesher::tetgen && !tetgen)
    throw InputError(name +
                     ": mesher = \"tetgen\": there is no program tetgen; install it, or say \"lattice\"");
  if (tetgen) {
    if (options.edge > 0) {
      const double tets = regular_tets(surface, options.edge);
      check_tet_count(tets, kBytesPerTet * tets, options.edge, name);
    }
    const double seconds =
        options.tetgen_seconds > 0 ? options.tetgen_seconds : tetgen_seconds(surface, options.edge);
    try {
      return cached(surface, "tetgen 1 " + number_text(options.edge),
                    [&] { return fill_by_tetgen(*tetgen, surface, options.edge, name, seconds); });
    } catch (const InputError& error) {
      if (options.mesher == Mesher::tetgen) throw;
      std::cerr << "stickslip: warning: " << error.what() << ", so it fills this one\n";
    }
  }
  const double edge = options.edge > 0 ? options.edge : default_edge(surface);
  return cached(surface, "lattice 1 " + number_text(edge),
                [&] { return fill_by_lattice(surface, edge, name); });
}

}  // namespace stickslip

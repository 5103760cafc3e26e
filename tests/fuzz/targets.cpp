#include "targets.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "app/io/fclib/fclib_matrix.h"
#include "app/io/file/tar.h"
#include "app/io/ipc/ipc_script.h"
#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/msh.h"
#include "app/io/mesh/point_cache.h"
#include "app/io/mesh/point_mesh.h"
#include "app/io/mesh/surface_parse.h"
#include "app/io/scene/grey_image.h"
#include "app/io/scene/scene.h"
#include "app/io/scene/settings.h"
#include "bench/program/ccd_queries.h"
#include "tests/app/ipc_fixture.h"

namespace stickslip {
namespace {

template <class F>
void refuse_or_read(F&& read) {
  try {
    read();
  } catch (const InputError&) {
  }
}

void fuzz_msh(std::string_view bytes) {
  refuse_or_read([&] { checked_solid(parse_msh(bytes, "input"), "input"); });
}
void fuzz_obj(std::string_view bytes) {
  refuse_or_read([&] { parse_obj(bytes, "input"); });
  refuse_or_read([&] { parse_sewn_obj(bytes, "input"); });
}
void fuzz_ply(std::string_view bytes) {
  refuse_or_read([&] { parse_ply(bytes, "input"); });
}
void fuzz_stl(std::string_view bytes) {
  refuse_or_read([&] { parse_stl(bytes, "input"); });
}
void fuzz_pgm(std::string_view bytes) {
  refuse_or_read([&] { parse_pgm(bytes, "input"); });
}
void fuzz_scene(std::string_view bytes) {
  refuse_or_read([&] { parse_scene(std::string(bytes), "input.toml"); });
}

const char* const setting_scene =
    "[[material]]\nname = 'soft'\n[[object]]\nname = 'box'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 1\n"
    "[[half_space]]\npoint = [0, -9, 0]\n";

/// One `--set` per line.
void fuzz_setting(std::string_view bytes) {
  static const Scene start = parse_scene(setting_scene, "input.toml");
  Scene scene = start;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    refuse_or_read([&] { apply_setting(scene, std::string(bytes.substr(0, end))); });
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
}

/// With a solid of few tets, so that most of the time is spent on the script.
struct LightFolder : testing::IpcFolder {
  LightFolder() {
    std::ofstream file(root / "input/tetMeshes/grid.msh");
    write_msh(file, {{"grid", make_box({1, 1, 1}, 1)}}, {});
  }
};

void fuzz_ipc(std::string_view bytes) {
  static const LightFolder folder;
  const std::filesystem::path script = folder.script(std::string(bytes));
  refuse_or_read([&] { load_ipc_script(script, {.ignore_unknown = true}); });
}
void fuzz_segments(std::string_view bytes) {
  static const testing::IpcFolder folder;
  const std::filesystem::path file = folder.write("input/segMeshes/fuzzed.seg", std::string(bytes));
  refuse_or_read([&] { load_point_mesh(file, PointKind::segments); });
}
/// Point caches of both kinds.
void fuzz_cache(std::string_view bytes) {
  refuse_or_read([&] { parse_pc2(bytes, "input"); });
  refuse_or_read([&] { parse_mdd(bytes, "input"); });
}
void fuzz_ccd(std::string_view bytes) {
  refuse_or_read([&] { parse_ccd_queries(bytes, "input"); });
}

/// The datasets of a matrix: m, n, nz, nzmax, the expected shape, the lengths of p and i, then their values,
/// one byte each. A matrix that is read must survive conversion to another storage.
void fuzz_fclib(std::string_view bytes) {
  std::size_t at = 0;
  const auto next = [&] { return at < bytes.size() ? static_cast<signed char>(bytes[at++]) : 0; };
  FclibMatrix matrix{next(), next(), next(), next(), {}, {}, {}};
  const auto size = [&] { return static_cast<std::size_t>(next() & 127); };
  const FclibShape shape{size(), size()};
  matrix.p.resize(size()), matrix.i.resize(size());
  for (std::int32_t& k : matrix.p) k = next();
  for (std::int32_t& k : matrix.i) k = next();
  matrix.x.resize(bytes.size() - at, 1.0);
  refuse_or_read([&] {
    const SparseRows rows = checked_rows(matrix, shape, true, "input");
    for (const FclibStorage storage : {FclibStorage::columns, FclibStorage::rows, FclibStorage::triplets})
      if (checked_rows(to_fclib(rows, true, storage), shape, true, "copy").indices != rows.indices)
        std::abort();
  });
}

/// Sets the checksum of every block of a tar archive, as if each were a header: else hardly a changed input
/// would pass the first check.
std::string with_checksums(std::string_view bytes) {
  constexpr std::size_t block = 512, field = 148, length = 8;
  std::string archive(bytes);
  for (std::size_t at = 0; at + block <= archive.size(); at += block) {
    if (archive.find_first_not_of('\0', at) >= at + block) continue;  // the end of the archive
    archive.replace(at + field, length, length, ' ');
    unsigned sum = 0;
    for (std::size_t i = 0; i < block; ++i) sum += static_cast<unsigned char>(archive[at + i]);
    for (std::size_t digit = 6; digit-- > 0; sum /= 8)
      archive[at + field + digit] = static_cast<char>('0' + sum % 8);
    archive[at + field + 6] = '\0';
  }
  return archive;
}

/// An archive that is read must survive writing and reading.
void fuzz_tar(std::string_view bytes) {
  refuse_or_read([&] { parse_tar(bytes, "input"); });
  refuse_or_read([&] {
    const std::vector<TarMember> members = parse_tar(with_checksums(bytes), "input");
    std::ostringstream copy;
    write_tar(copy, members);
    const std::vector<TarMember> again = parse_tar(copy.view(), "copy");
    const auto same = [](const TarMember& a, const TarMember& b) {
      return a.name == b.name && a.bytes == b.bytes;
    };
    if (!std::ranges::equal(members, again, same)) std::abort();
  });
}

constexpr FuzzTarget kTargets[] = {
    {"msh", fuzz_msh},     {"obj", fuzz_obj},         {"ply", fuzz_ply}, {"stl", fuzz_stl},
    {"scene", fuzz_scene}, {"setting", fuzz_setting}, {"ipc", fuzz_ipc}, {"segments", fuzz_segments},
    {"ccd", fuzz_ccd},     {"fclib", fuzz_fclib},     {"pgm", fuzz_pgm}, {"tar", fuzz_tar},
    {"cache", fuzz_cache}};

}  // namespace

std::span<const FuzzTarget> fuzz_targets() { return kTargets; }

}  // namespace stickslip

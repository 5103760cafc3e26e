#include "app/io/mesh/point_cache.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "app/io/file/byte_cursor.h"
#include "app/io/mesh/mesh.h"

namespace stickslip {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kPc2 = "POINTCACHE2\0"sv;
constexpr double kEqualTimes = 1e-3;  // share of dt by which times may be off: they have single precision

/// Reads a whole number that is at least 1.
std::uint64_t positive_count(ByteCursor& in, const char* what) {
  const std::size_t at = in.offset();
  const auto value = in.binary<std::int32_t>(what);
  if (value < 1)
    in.fail_at(at, std::string(what) + " is " + std::to_string(value) + ", and should be at least 1");
  return static_cast<std::uint64_t>(value);
}

/// The rest of the file.
void read_samples(ByteCursor& in, std::uint64_t samples, std::uint64_t points, PointCache& cache) {
  in.check_count("points", samples * points, 3 * sizeof(float));
  if (const std::uint64_t bytes = samples * points * 3 * sizeof(float); in.remaining() != bytes)
    in.fail("its samples have " + std::to_string(bytes) + " bytes, and " + std::to_string(in.remaining()) +
            " follow");
  for (std::uint64_t s = 0; s < samples; ++s) {
    std::vector<Vec<double, 3>> nodes;
    nodes.reserve(points);
    for (std::uint64_t i = 0; i < points; ++i) {
      const std::size_t at = in.offset();
      Vec<double, 3> p{};
      for (int c = 0; c < 3; ++c) p[c] = in.binary<float>("a point");
      if (!std::isfinite(norm(p))) in.fail_at(at, "the point is not finite");
      nodes.push_back(p);
    }
    cache.samples.push_back(std::move(nodes));
  }
}

/// [s]; 0 for a single time.
double equal_step(ByteCursor& in, std::uint64_t samples) {
  const auto first = static_cast<double>(in.binary<float>("a time"));
  double dt = 0;
  for (std::uint64_t s = 1; s < samples; ++s) {
    const std::size_t at = in.offset();
    const double since = static_cast<double>(in.binary<float>("a time")) - first;
    if (s == 1) dt = since;
    if (!(dt > 0) || !(std::abs(since - static_cast<double>(s) * dt) <= kEqualTimes * dt))
      in.fail_at(at, "the times of the samples should grow by equal steps");
  }
  return dt;
}

}  // namespace

PointCache parse_pc2(std::string_view bytes, const std::string& name) {
  ByteCursor in(bytes, name);
  in.set_binary(std::endian::native == std::endian::big);
  if (!bytes.starts_with(kPc2)) in.fail("is no PC2 file, which begins with POINTCACHE2 and a zero");
  in.go_to(kPc2.size());
  if (const auto version = in.binary<std::int32_t>("the version"); version != 1)
    in.fail_at(kPc2.size(), "has version " + std::to_string(version) + " of PC2; 1 can be read");
  const std::uint64_t points = positive_count(in, "the number of points");
  in.binary<float>("the first frame");
  in.binary<float>("the frames per sample");
  const std::uint64_t samples = positive_count(in, "the number of samples");
  PointCache cache;
  read_samples(in, samples, points, cache);
  return cache;
}

PointCache parse_mdd(std::string_view bytes, const std::string& name) {
  ByteCursor in(bytes, name);
  in.set_binary(std::endian::native == std::endian::little);
  const std::uint64_t samples = positive_count(in, "the number of samples"),
                      points = positive_count(in, "the number of points");
  in.check_count("times", samples, sizeof(float));
  PointCache cache;
  cache.dt = equal_step(in, samples);
  read_samples(in, samples, points, cache);
  return cache;
}

bool is_point_cache_name(const std::filesystem::path& file) {
  const std::string extension = lower_extension(file);
  return extension == ".pc2" || extension == ".mdd";
}

PointCache load_point_cache(const std::filesystem::path& file) {
  if (!is_point_cache_name(file)) throw InputError(file.string() + ": a point cache is a .pc2 or .mdd file");
  const std::string bytes = read_bytes(file);
  return (lower_extension(file) == ".pc2" ? parse_pc2 : parse_mdd)(bytes, file.string());
}

}  // namespace stickslip

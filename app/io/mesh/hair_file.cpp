// The HAIR format of C. Yuksel: a header of 128 bytes, then arrays that bits of the header announce.
#include <cmath>

#include "app/io/file/byte_cursor.h"
#include "app/io/mesh/strands.h"

namespace stickslip {
namespace {

constexpr std::size_t kHeader = 128;
enum Bits : std::uint32_t { kSegments = 1, kPoints = 2 };

/// What has no length in a file, and is left out.
struct LeftOut {
  std::size_t strands = 0, points = 0;             // points: of strands that stay
  std::size_t first_strand = 0, first_points = 0;  // where: strands, counted from 1

  void add_strand(std::size_t number) {
    if (strands++ == 0) first_strand = number;
  }
  void add_points(std::size_t count, std::size_t number) {
    if (points == 0 && count > 0) first_points = number;
    points += count;
  }

  std::vector<std::string> notes(const std::string& name, std::size_t all) const {
    std::vector<std::string> notes;
    if (strands > 0)
      notes.push_back(name + ": strand " + std::to_string(first_strand) + " of " + std::to_string(all) +
                      (strands > 1 ? " and " + std::to_string(strands - 1) + " more have" : " has") +
                      " no length: left out");
    if (points > 0)
      notes.push_back(name + ": " + std::to_string(points) + (points > 1 ? " points are" : " point is") +
                      " where the one before is: left out, first in strand " + std::to_string(first_points));
    return notes;
  }
};

}  // namespace

Strands load_hair(const std::filesystem::path& file, std::vector<std::string>* notes) {
  const std::string bytes = read_bytes(file);
  ByteCursor in(bytes, file.string());
  in.set_binary(false);
  if (!bytes.starts_with("HAIR")) in.fail("is no HAIR file, which begins with the letters HAIR");
  if (bytes.size() < kHeader) in.fail("ends in its header, which has 128 bytes");
  in.go_to(4);
  const auto strands = in.binary<std::uint32_t>("the number of strands");
  const auto points = in.binary<std::uint32_t>("the number of points");
  const auto arrays = in.binary<std::uint32_t>("the list of arrays");
  const auto default_segments = in.binary<std::uint32_t>("the number of segments of a strand");
  if (strands == 0) in.fail_at(4, "has no strands");
  if ((arrays & kPoints) == 0) in.fail_at(12, "has no points: bit 1 of its arrays must be set");
  in.go_to(kHeader);
  std::vector<std::uint32_t> segments;
  std::uint64_t total = 0;
  if ((arrays & kSegments) != 0) in.check_count("strands", strands, sizeof(std::uint16_t));
  else if (std::uint64_t{strands} * (std::uint64_t{default_segments} + 1) != points)
    in.fail_at(16, "its strands of " + std::to_string(default_segments) + " segments need " +
                       std::to_string(std::uint64_t{strands} * (std::uint64_t{default_segments} + 1)) +
                       " points, and it has " + std::to_string(points));
  // Before memory is taken for so many strands.
  if ((arrays & kSegments) == 0) in.check_count("points", points, 3 * sizeof(float));
  for (std::uint32_t s = 0; s < strands; ++s) {
    segments.push_back((arrays & kSegments) != 0 ? in.binary<std::uint16_t>("the segments of a strand")
                                                 : default_segments);
    total += segments.back() + std::uint64_t{1};
  }
  if (total != points)
    in.fail("its strands have " + std::to_string(total) + " points, and its header says " +
            std::to_string(points));
  in.check_count("points", points, 3 * sizeof(float));
  Strands out;
  LeftOut left_out;
  for (std::size_t s = 0; s < strands; ++s) {
    const std::uint32_t count = segments[s];
    std::vector<Vec<double, 3>> strand;
    for (std::uint32_t i = 0; i <= count; ++i) {
      Vec<double, 3> p{};
      const std::size_t at = in.offset();
      for (int c = 0; c < 3; ++c) p[c] = in.binary<float>("a point");
      if (!std::isfinite(norm(p))) in.fail_at(at, "the point is not finite");
      if (strand.empty() || norm(p - strand.back()) > 1e-9 * (1 + norm(p))) strand.push_back(p);
    }
    if (strand.size() < 2) {
      left_out.add_strand(s + 1);
      continue;
    }
    left_out.add_points(count + 1 - strand.size(), s + 1);
    out.points.push_back(std::move(strand));
  }
  if (out.points.empty()) in.fail("no strand has a length");
  if (notes != nullptr) *notes = left_out.notes(file.string(), strands);
  return out;
}

}  // namespace stickslip

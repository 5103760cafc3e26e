// Centrelines of rods: generated shapes and grooms, and hair files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/io/file/input_error.h"
#include "app/io/mesh/mesh.h"

namespace stickslip {

/// The points [m] of each strand from its root to its tip.
struct Strands {
  std::vector<std::vector<Vec<double, 3>>> points;
  bool closed = false;  // each strand's tip is joined to its root

  std::size_t segments() const;
};

/// How a strand winds about its line.
struct Curl {
  enum class Style { straight, wavy, curly, frizzy };
  Style style = Style::straight;
  double radius = 0, pitch = 0;  // [m] of the waves or turns
};
inline const std::vector<std::string> curl_names{"straight", "wavy", "curly", "frizzy"};  // in order of Style

/// A helix of the arc length `length` about the y axis, downwards from the origin's height; straight down
/// from the origin if `curl` is straight.
Strands make_strand(double length, int segments, const Curl& curl);
/// A circle about the y axis through as many points as segments.
Strands make_ring_strand(double radius, int segments);
/// A centripetal Catmull-Rom spline through `points`, in segments of equal arc length. Neighbours must
/// differ.
Strands make_curve_strand(const std::vector<Vec<double, 3>>& points, int segments);

/// A point of a scalp, and the unit direction in which a strand leaves it.
struct Root {
  Vec<double, 3> point, normal;
};
/// `count` roots on the part of a sphere about the origin whose normals are within `cap` [rad] of the y axis,
/// evenly spread in a spiral.
std::vector<Root> roots_on_sphere(double radius, int count, double cap);
/// Roots at random places of a surface, by area, where normals are within `cap` [rad] of the y axis. Throws
/// std::invalid_argument if there is no such place.
std::vector<Root> roots_on_surface(const SurfaceMesh& scalp, int count, double cap, std::uint64_t seed);

/// A groom: strands of the length `length` [m] that leave their roots along the normals and turn downhill by
/// the part `droop` (0: not at all, 1: fully, at half of their length), at least `gap` [m] from the sphere of
/// radius `clear` about `center` (0: no sphere), then wind by `curl`, each with a phase of its own. Those
/// with the highest roots stay up to `volume` [m] farther away. `unruly` [rad] tilts each strand by up to
/// that angle.
struct Groom {
  double length = 0;
  int segments = 0;
  double droop = 0, unruly = 0;
  double gap = 0, clear = 0, volume = 0;
  Vec<double, 3> center{0, 0, 0};
  Curl curl;
  std::uint64_t seed = 1;
};
Strands make_hair(const std::vector<Root>& roots, const Groom& groom);

/// Reads a HAIR file (www.cemyuksel.com/research/hairmodels). Points that coincide with the one before are
/// left out, and so are strands of less than two points; `notes` gets messages that say so. Throws InputError
/// with the file and the byte.
Strands load_hair(const std::filesystem::path& file, std::vector<std::string>* notes = nullptr);

/// The shape without stress of strands that lie `stretch` times as long as that. `straight`: along the first
/// segment of each (of open strands only), otherwise the same shape.
Strands at_rest(const Strands& strands, double stretch, bool straight);

/// At most `most` strands, evenly picked (0: all).
Strands thinned(Strands strands, std::size_t most);
/// Strands of `segments` segments of equal arc length each.
Strands resampled(const Strands& strands, int segments);

}  // namespace stickslip

// FramePath: a chain of frames, and the weights by which they move the points around it: linear hats along
// the chain.
//
// At each frame a plane cuts the chain, with the mean direction of both bones as its normal t_i. The point
// with the coordinate s on bone i lies on the plane between those of its ends,
//   (X - p(s)) . t(s) = 0,   p(s) = p_i + s d,   t(s) = (1 - s) t_i + s t_(i+1),   d = p_(i+1) - p_i,
// a quadratic equation for s. Its frames have the weights 1 - s and s, which are continuous over the bends of
// the chain; beyond its ends the last frame alone moves the points.
#pragma once

#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

class FramePath {
 public:
  using Vec3d = Vec<double, 3>;

  /// Throws std::invalid_argument for fewer than two places, or if two of them coincide.
  explicit FramePath(std::vector<Vec3d> places);

  std::size_t bones() const { return places_.size() - 1; }

  struct Place {
    std::size_t bone = 0;
    double s = 0;             // in [0, 1]
    Vec3d slope{0, 0, 0};     // [1/m] ds/dX
    double distance = 1e300;  // [m] to the chain, along the plane
  };
  /// The nearest bone and the coordinate on it. Throws std::invalid_argument for a point beyond the centre of
  /// a bend, where planes cross.
  Place at(const Vec3d& point) const;
  /// [m] to the chain.
  double distance(const Vec3d& point) const;
  /// On a given bone.
  Place on(std::size_t bone, const Vec3d& point) const;

 private:
  std::vector<Vec3d> places_, normals_;
};

}  // namespace stickslip

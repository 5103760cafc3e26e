#include "gpu/model/frame_path.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace stickslip {
namespace {

// Of the length of a path: places that are nearer to each other coincide.
constexpr double kApart = 1e-9;
// Of a bone: planes of its ends that come nearer to each other than this at a point are taken to cross there.
constexpr double kLeastGap = 0.05;

}  // namespace

FramePath::FramePath(std::vector<Vec3d> places) : places_(std::move(places)) {
  if (places_.size() < 2)
    throw std::invalid_argument("a path has " + std::to_string(places_.size()) +
                                " frames: it needs two at least");
  double length = 0;
  for (std::size_t i = 0; i + 1 < places_.size(); ++i) length += norm(places_[i + 1] - places_[i]);
  for (std::size_t i = 0; i < places_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!(norm(places_[i] - places_[j]) > kApart * length))
        throw std::invalid_argument("frames " + std::to_string(j) + " and " + std::to_string(i) +
                                    " of a path coincide");
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Vec3d sum{0, 0, 0};
    if (i > 0) sum += normalized(places_[i] - places_[i - 1]);
    if (i + 1 < places_.size()) sum += normalized(places_[i + 1] - places_[i]);
    if (!(norm(sum) > 0.1))
      throw std::invalid_argument("a path turns back at its frame " + std::to_string(i));
    normals_.push_back(normalized(sum));
  }
}

FramePath::Place FramePath::on(std::size_t bone, const Vec3d& point) const {
  const Vec3d d = places_[bone + 1] - places_[bone], r = point - places_[bone];
  const Vec3d t = normals_[bone], e = normals_[bone + 1] - t;
  Place place;
  place.bone = bone;
  // a + b s + c s^2 = 0 with b < 0, and ds/dX = t(s) / root.
  const double a = dot(r, t), b = dot(r, e) - dot(d, t), c = -dot(d, e);
  if (!(a > 0)) return place.distance = norm(r), place;
  if (!(dot(r - d, t + e) < 0)) return place.s = 1, place.distance = norm(r - d), place;
  const double square = b * b - 4 * a * c, root = square > 0 ? std::sqrt(square) : 0;
  if (!(root > kLeastGap * norm(d)) || b > 0)
    throw std::invalid_argument("it is too thick for the bend of its path at bone " + std::to_string(bone) +
                                ": the planes of two frames cross inside of it");
  place.s = std::clamp(2 * a / (root - b), 0.0, 1.0);
  place.slope = (t + place.s * e) / root;
  place.distance = norm(r - place.s * d);
  return place;
}

double FramePath::distance(const Vec3d& point) const {
  double least = norm(point - places_[0]);
  for (std::size_t i = 0; i < bones(); ++i) {
    const Vec3d d = places_[i + 1] - places_[i], r = point - places_[i];
    least = std::min(least, norm(r - std::clamp(dot(r, d) / norm2(d), 0.0, 1.0) * d));
  }
  return least;
}

FramePath::Place FramePath::at(const Vec3d& point) const {
  const auto height = [&](std::size_t i) { return dot(point - places_[i], normals_[i]); };
  Place nearest;
  for (std::size_t i = 0; i < bones(); ++i) {
    if (i > 0 && height(i) < 0) continue;
    if (i + 1 < bones() && height(i + 1) > 0) continue;
    const Place place = on(i, point);
    if (place.distance < nearest.distance) nearest = place;
  }
  return nearest;
}

}  // namespace stickslip

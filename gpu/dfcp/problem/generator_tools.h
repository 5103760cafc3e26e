// Shared by the generators: numbers from a seed, checked arguments, towers of boxes.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/dfcp/problem/body_problem.h"

namespace stickslip {

/// SplitMix64 [Steele14]. The standard library's distributions differ between vendors.
class SeededNumbers {
 public:
  explicit SeededNumbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  double between(double low, double high) {
    return low + (high - low) * 0x1p-53 * static_cast<double>(next() >> 11);
  }
  Vec3d in_cube(double half) {
    const double x = between(-half, half), y = between(-half, half);
    return {x, y, between(-half, half)};
  }
  /// In [0, n).
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t state_;
};

inline void require(bool holds, const std::string& otherwise) {
  if (!holds) throw std::invalid_argument(otherwise);
}

inline void require_count(const char* name, long value, long least) {
  require(value >= least, std::string(name) + " is " + std::to_string(value) + " and must be at least " +
                              std::to_string(least));
}

/// Adds contacts at these points, from body `a` onto body `b`.
template <class Points>
void rest_on(BodyProblem& build, std::int32_t a, std::int32_t b, const Points& points, double mu,
             double gap = 0) {
  ContactPoint contact;
  contact.a = a;
  contact.b = b;
  contact.mu = mu;
  contact.gap = gap;
  for (const Vec3d& point : points) {
    contact.point = point;
    build.add(contact);
  }
}

/// Corners of a horizontal rectangle of half sizes x, z.
inline std::array<Vec3d, 4> corners(const Vec3d& center, double x, double z) {
  return {center + Vec3d{-x, 0, -z}, center + Vec3d{-x, 0, z}, center + Vec3d{x, 0, z},
          center + Vec3d{x, 0, -z}};
}

}  // namespace stickslip

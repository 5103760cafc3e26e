#include <cmath>
#include <stdexcept>

#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/mesh_gen_checks.h"
#include "app/io/mesh/solidify.h"

namespace stickslip {
namespace {

// Half the angle of an arm [rad], and the flatness of its end.
constexpr double kArmAngle = 0.42, kArmPower = 3;

/// 1 along the axes, falling to 0 between them; `u` is a unit vector.
double arms(const Vec<double, 3>& u) {
  double sum = 0;
  for (int c = 0; c < 3; ++c) {
    const double angle = std::acos(std::min(std::abs(u[c]), 1.0));
    sum += std::exp(-std::pow(angle / kArmAngle, kArmPower));
  }
  return sum;
}

}  // namespace

TetMesh make_jack(double radius, double waist, double edge) {
  check_length("radius", radius);
  check_length("waist", waist);
  check_length("edge", edge);
  if (waist >= radius) throw std::invalid_argument("waist must be smaller than the jack's radius");
  check_count(12 * std::pow(2 * along(radius, edge), 3));
  // The surface, given by its distance from the middle, is filled with a lattice. Stretching the tets of a
  // ball would make needles.
  SurfaceMesh surface = boundary_surface(make_sphere(1, std::min(0.1, 0.5 * edge / radius)));
  for (Vec<double, 3>& p : surface.nodes) p = (waist + (radius - waist) * arms(p)) * p;
  return fill_by_lattice(surface, edge, "jack");
}

}  // namespace stickslip

// Strains and stresses of cloth and rods on the host, for the colours of their surfaces.
#pragma once

#include <span>
#include <vector>

#include "gpu/energy/cloth_rest.h"
#include "gpu/model/model.h"

namespace stickslip {

/// Stretch: the largest |s - 1| over the singular values s of the deformation gradient of a triangle of
/// cloth, or of a segment of a rod its length over that at rest, minus 1, without its sign. Bending [1/m]:
/// the largest principal curvature of a triangle's change of curvature, see hinge.h, or the norm of a rod's.
/// Twist [rad/m]: of rods, without its sign, since rest.
/// Stress [Pa]: of cloth von Mises' measure of the Cauchy stress of its membrane, sigma = P F' / det U (see
/// sheet.h), which times the thickness at rest is force per width of now; of rods the tension or compression
/// E (l / L - 1), which is force over the section at rest. Neither has the stresses of bending, nor damping.
enum class ThinMeasure { stretch, bending, twist, stress };

/// Of the cloth and the rods of a model.
class ThinStrain {
 public:
  /// More triangles and segments than this are not evaluated for each picture.
  static constexpr std::size_t kMostElements = 200000;

  explicit ThinStrain(const Model& model);

  /// Whether there is anything to show: cloth or rods, not too many elements.
  bool empty() const { return triangles_.empty() && segments_.empty(); }
  /// Per node the mean over its elements, weighted by their areas or lengths; -1 at nodes of none, and at
  /// ghosts. A triangle at an edge of cloth does not determine its curvature: it counts at nodes of no other
  /// triangle alone. The end of a rod has the curvature and the twist of the vertex next to it. `positions`
  /// [m]: of all nodes. `materials`: of the model, needed for stress alone.
  const std::vector<float>& evaluate(ThinMeasure what, std::span<const Vec<float, 3>> positions,
                                     const std::vector<Material>& materials = {});

 private:
  using Points = std::span<const Vec<float, 3>>;

  struct Triangle {
    Vec3i nodes;
    Mat<double, 2> inverse_rest;
    double area;  // [m^2]
    std::int32_t material;
  };
  struct Patch {
    BendPatch hinges;
    BendRest rest;
    Mat<double, 3> curvature;  // [1/m] (K_xx, K_yy, 2 K_xy) from changes of the three angles
    double weights[3];         // [m^2] of the corners of its own triangle
  };
  struct Segment {
    Vec2i nodes;
    double length;  // [m]
    std::int32_t material;
  };
  struct Vertex {
    std::int32_t nodes[5];  // as those of rod_element.h
    double rest[3];         // strains
    double length;          // [m]
    bool is_first, is_last;
  };

  void add_cloth(const Model& model, const Object& object);
  void add_rods(const Model& model, const Object& object);
  void weigh_patches(std::size_t first, std::size_t nodes);
  void add(std::int32_t node, double weight, double value);
  static Mat<Real, 3, 2> deformation(const Triangle& triangle, Points x);
  void sum_stretch(Points x);
  void sum_stress(Points x, const std::vector<Material>& materials);
  void sum_bending(Points x);
  void sum_vertices(ThinMeasure what, Points x);

  std::size_t nodes_ = 0;
  std::size_t materials_ = 0;  // that the elements need
  std::vector<Triangle> triangles_;
  std::vector<Patch> patches_;
  std::vector<Segment> segments_;
  std::vector<Vertex> vertices_;
  std::vector<double> weight_, sum_;  // per node
  std::vector<float> values_;
};

}  // namespace stickslip

// What objects and colliders of a scene share: their name, material, colours, place, and arrays of them. Used
// by scene_build.cpp and scene_body.cpp only.
#pragma once

#include "app/io/scene/scene_build.h"
#include "gpu/math/mat.h"

namespace stickslip {

std::int32_t read_material(TableReader& table, const Model& model);
/// A name that no other object has.
std::string read_new_name(TableReader& table, const Model& model);
/// One color for all instances, or a list that they take in turn.
std::vector<Vec<float, 3>> read_colors(TableReader& table);
/// One factor, or one for each axis of the mesh (a negative one mirrors it).
Vec<double, 3> read_scale(TableReader& table);

/// Rotation vector [degrees], scale and position, as applied to a mesh around its origin.
struct Placement {
  Vec<double, 3> position;
  Mat<double, 3> linear;
  Vec<double, 3> apply(const Vec<double, 3>& p) const { return position + linear * p; }
};
Placement read_placement(TableReader& table);

/// Where an instance of an array stands: the body's points p at R p + offset.
struct Instance {
  Vec<double, 3> offset{0, 0, 0};
  Mat<double, 3> rotation = Mat<double, 3>::identity();
};

/// Refuses what would not fit into memory.
void check_total(const TableReader& table, const char* key, const char* what, double tets);

/// What the scene's scale does to an object.
struct Growth {
  double refinement = 1;  // its edge is divided by this
  double bodies = 1;      // its array has so many times as many
  bool bulk = false;      // along all axes, about its middle, instead of on top
};
Growth read_growth(TableReader& table, double scale);

/// The instances of an array of bodies with `tets` (or triangles, or points) each; one where the body stands
/// without an array.
std::vector<Instance> read_instances(TableReader& table, const Vec<double, 3>& position, std::size_t tets,
                                     const Growth& growth);
/// Of the i-th of so many instances.
std::string instance_name(const std::string& name, std::size_t i, std::size_t count);

}  // namespace stickslip

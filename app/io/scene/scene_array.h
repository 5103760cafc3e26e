// Properties that objects and colliders of a scene share: name, material, colours, position, and arrays. Used
// by scene_build.cpp and scene_body.cpp only.
#pragma once

#include "app/io/scene/scene_build.h"
#include "gpu/math/mat.h"

namespace stickslip {

std::int32_t read_material(TableReader& table, const Model& model);
/// Reads a name and checks that no other object has it.
std::string read_new_name(TableReader& table, const Model& model);
/// One color for all instances, or a list that is repeated over the instances.
std::vector<Vec<float, 3>> read_colors(TableReader& table);
/// One factor, or one for each axis of the mesh (a negative one mirrors it).
Vec<double, 3> read_scale(TableReader& table);

std::int32_t read_no_contact_group(TableReader& table);

/// Rotation vector [degrees], scale and position, as applied to a mesh around its origin.
struct Placement {
  Vec<double, 3> position;
  Mat<double, 3> linear;
  Vec<double, 3> apply(const Vec<double, 3>& p) const { return position + linear * p; }
};
Placement read_placement(TableReader& table);

/// Placement of an instance of an array: the body's point p goes to R p + offset.
struct Instance {
  Vec<double, 3> offset{0, 0, 0};
  Mat<double, 3> rotation = Mat<double, 3>::identity();
  int number = -1;  // in the array, also of those that are left out; < 0: a single body
};

/// Throws if the scene would not fit into memory.
void check_total(const TableReader& table, const char* key, const char* what, double tets);

/// Effect of the scene's scale on an object.
struct Growth {
  double refinement = 1;  // divides the edge of its mesh
  double bodies = 1;      // multiplies the number of instances
  bool bulk = false;      // along all axes about the middle, instead of on top
};
Growth read_growth(TableReader& table, double scale);

/// The instances of an array of bodies with `tets` (or triangles, or points) each, but for those that it is
/// `without`; one instance without an array.
std::vector<Instance> read_instances(TableReader& table, const Vec<double, 3>& position, std::size_t tets,
                                     const Growth& growth);
/// The same for the keys of the table of an object or collider of the scene `file`.
std::vector<Instance> instances_of(const std::string& keys, const std::filesystem::path& file, double scale);
/// Name of an instance of the array `name`.
std::string instance_name(const std::string& name, const Instance& instance);
/// Its colour among those of the array.
Vec<float, 3> instance_color(const std::vector<Vec<float, 3>>& colors, const Instance& instance);

}  // namespace stickslip

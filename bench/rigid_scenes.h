// The piles, walls and pyramids of `bench rigid`, as plain lists of boxes for any engine.
#pragma once

#include <string>
#include <vector>

#include "gpu/math/quat.h"

namespace stickslip {

/// A box by its half sizes [m]; an immovable one is a wall.
struct SceneBox {
  Vec<double, 3> half{0, 0, 0};
  Pose pose = Pose::identity();
  bool moves = true;
};

/// Boxes above the floor y = 0, at rest. No boxes overlap; stacked faces touch.
struct RigidScene {
  std::string name;
  std::vector<SceneBox> boxes;  // movable ones first
  double mu = 0.5;              // of every pair
  double density = 1000;        // [kg/m^3]
  bool stands = false;          // built to be stable, so that drift is an error

  std::size_t moving() const;
};

/// "pyramid-1k", "pyramid-4k", "pile-1k", "pile-4k", "pile-16k", "wall-1k", "wall-4k", "column-4k".
std::vector<std::string> rigid_scene_names();
/// Throws std::invalid_argument for an unknown name.
RigidScene make_rigid_scene(const std::string& name);

/// Square layers of 1 m cubes, each a cube narrower than the one below and shifted by half a cube; cubes
/// of a layer are 2 cm apart.
RigidScene box_pyramid(int layers);
/// Boxes of many sizes in random poses, well separated, above a square pit into which they fall.
RigidScene box_pile(int count, std::uint64_t seed);
/// Bricks of 1 x 0.5 x 0.5 m in running bond; odd courses end in half bricks.
RigidScene brick_wall(int courses, int bricks_in_course);
/// Layers of side x side cubes of 0.5 m in a narrow shaft; cubes are slightly rotated.
RigidScene box_column(int side, int layers, std::uint64_t seed);

}  // namespace stickslip

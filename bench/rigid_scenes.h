// The piles, walls and pyramids of `bench rigid`, as plain lists of boxes that every engine can be given.
#pragma once

#include <string>
#include <vector>

#include "gpu/math/quat.h"

namespace stickslip {

/// A box by its half sizes [m]; one that does not move is a wall.
struct SceneBox {
  Vec<double, 3> half{0, 0, 0};
  Pose pose = Pose::identity();
  bool moves = true;
};

/// Boxes above the floor y = 0, at rest. Nothing overlaps; faces that lie on one another touch.
struct RigidScene {
  std::string name;
  std::vector<SceneBox> boxes;  // those that move come first
  double mu = 0.5;              // of every pair
  double density = 1000;        // [kg/m^3]
  bool stands = false;          // built to stand still, so that drift is an error

  std::size_t moving() const;
};

/// "pyramid-1k", "pyramid-4k", "pile-1k", "pile-4k", "pile-16k", "wall-1k", "wall-4k", "column-4k".
std::vector<std::string> rigid_scene_names();
/// Throws std::invalid_argument for an unknown name.
RigidScene make_rigid_scene(const std::string& name);

/// Square layers of 1 m cubes, each a cube narrower than the one below and half a cube off it; cubes of a
/// layer are 2 cm apart.
RigidScene box_pyramid(int layers);
/// Boxes of many sizes in random poses, no two near, above a square pit which they fall into.
RigidScene box_pile(int count, std::uint64_t seed);
/// Bricks of 1 x 0.5 x 0.5 m in running bond; odd courses end in half bricks.
RigidScene brick_wall(int courses, int bricks_in_course);
/// Layers of side x side cubes of 0.5 m in a shaft that leaves them little room; cubes are a bit askew.
RigidScene box_column(int side, int layers, std::uint64_t seed);

}  // namespace stickslip

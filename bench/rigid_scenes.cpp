#include "bench/rigid_scenes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "gpu/dfcp/problem/generator_tools.h"

namespace stickslip {
namespace {

constexpr std::uint64_t kRigidSeed = 1;
constexpr double kWallThickness = 1;  // [m] of the walls around piles and columns

/// Four walls around the square [-half, half]^2; each extends past one end of the next, so that none overlap.
void add_pit(RigidScene& scene, double half, double height) {
  constexpr double t = kWallThickness / 2;
  for (int side = 0; side < 4; ++side) {
    const double c = side % 2 == 0 ? 1 - side : 0, s = side % 2 == 1 ? 2 - side : 0;
    // Side 0: the wall at +x, along z.
    const double across = half + t, along = t;
    SceneBox wall;
    wall.half =
        side % 2 == 0 ? Vec<double, 3>{t, height / 2, half + t} : Vec<double, 3>{half + t, height / 2, t};
    wall.pose.x = {c * across - s * along, height / 2, s * across + c * along};
    wall.moves = false;
    scene.boxes.push_back(wall);
  }
}

/// Uniform over all rotations [Shoemake92].
Quat random_rotation(SeededNumbers& random) {
  const double u = random.between(0, 1), a = random.between(0, 2 * std::numbers::pi),
               b = random.between(0, 2 * std::numbers::pi);
  const double s = std::sqrt(1 - u), c = std::sqrt(u);
  return {c * std::cos(b), {s * std::sin(a), s * std::cos(a), c * std::sin(b)}};
}

}  // namespace

std::size_t RigidScene::moving() const {
  return static_cast<std::size_t>(
      std::count_if(boxes.begin(), boxes.end(), [](const SceneBox& box) { return box.moves; }));
}

RigidScene box_pyramid(int layers) {
  constexpr double kSize = 1, kPitch = 1.02;  // [m]
  RigidScene scene;
  scene.name = "pyramid of " + std::to_string(layers) + " layers";
  scene.stands = true;
  for (int layer = 0; layer < layers; ++layer) {
    const int side = layers - layer;
    for (int i = 0; i < side; ++i)
      for (int k = 0; k < side; ++k) {
        SceneBox box;
        box.half = Vec<double, 3>::filled(kSize / 2);
        box.pose.x = {kPitch * (i - 0.5 * (side - 1)), kSize * (layer + 0.5),
                      kPitch * (k - 0.5 * (side - 1))};
        scene.boxes.push_back(box);
      }
  }
  return scene;
}

RigidScene box_pile(int count, std::uint64_t seed) {
  constexpr double kLow = 0.15, kHigh = 0.3;  // [m] half sizes
  constexpr double kPitch = 1.1;              // > 2 sqrt(3) kHigh: boxes are apart in any rotation
  RigidScene scene;
  scene.name = "pile of " + std::to_string(count) + " boxes";
  SeededNumbers random(seed);
  // Four to five times as high as wide: a deep pile after a long fall.
  const int side = static_cast<int>(std::ceil(std::cbrt(0.2 * count)));
  for (int n = 0; n < count; ++n) {
    const int i = n % side, k = n / side % side, layer = n / (side * side);
    SceneBox box;
    for (int d = 0; d < 3; ++d) box.half[d] = random.between(kLow, kHigh);
    box.pose.x = {kPitch * (i - 0.5 * (side - 1)), kPitch * (layer + 0.5), kPitch * (k - 0.5 * (side - 1))};
    box.pose.q = random_rotation(random);
    scene.boxes.push_back(box);
  }
  add_pit(scene, 0.5 * kPitch * side, kPitch * side);
  return scene;
}

RigidScene brick_wall(int courses, int bricks_in_course) {
  const Vec<double, 3> whole{0.5, 0.25, 0.25}, half{0.25, 0.25, 0.25};  // [m] half sizes
  RigidScene scene;
  scene.name = "wall of " + std::to_string(courses) + " courses";
  scene.stands = true;
  const double length = bricks_in_course;
  for (int course = 0; course < courses; ++course) {
    const bool odd = course % 2 != 0;
    const int count = bricks_in_course + (odd ? 1 : 0);
    for (int b = 0; b < count; ++b) {
      const bool is_half = odd && (b == 0 || b == count - 1);
      double left = b;
      if (odd && b > 0) left -= 0.5;
      SceneBox box;
      box.half = is_half ? half : whole;
      box.pose.x = {left + box.half[0] - 0.5 * length, 0.5 * course + 0.25, 0};
      scene.boxes.push_back(box);
    }
  }
  return scene;
}

RigidScene box_column(int side, int layers, std::uint64_t seed) {
  constexpr double kHalf = 0.25, kRoom = 0.05, kPitch = 2 * kHalf + kRoom, kRise = 2 * kHalf + 0.01;  // [m]
  constexpr double kTurn = 0.05;                                                                      // [rad]
  RigidScene scene;
  scene.name = "column of " + std::to_string(layers) + " layers";
  SeededNumbers random(seed);
  for (int layer = 0; layer < layers; ++layer)
    for (int i = 0; i < side; ++i)
      for (int k = 0; k < side; ++k) {
        SceneBox box;
        box.half = Vec<double, 3>::filled(kHalf);
        const double aside = 0.2 * kRoom;
        box.pose.x = {kPitch * (i - 0.5 * (side - 1)) + random.between(-aside, aside), kRise * layer + kHalf,
                      kPitch * (k - 0.5 * (side - 1)) + random.between(-aside, aside)};
        box.pose.q = rotation_by(Vec<double, 3>{0, random.between(-kTurn, kTurn), 0});
        scene.boxes.push_back(box);
      }
  add_pit(scene, 0.5 * kPitch * side, kRise * (layers + 1));
  return scene;
}

std::vector<std::string> rigid_scene_names() {
  return {"pyramid-1k", "pyramid-4k", "pile-1k", "pile-4k", "pile-16k", "wall-1k", "wall-4k", "column-4k"};
}

RigidScene make_rigid_scene(const std::string& name) {
  const auto make = [&]() -> RigidScene {
    if (name == "pyramid-1k") return box_pyramid(14);
    if (name == "pyramid-4k") return box_pyramid(22);
    if (name == "pile-1k") return box_pile(1000, kRigidSeed);
    if (name == "pile-4k") return box_pile(4000, kRigidSeed);
    if (name == "pile-16k") return box_pile(16000, kRigidSeed);
    if (name == "wall-1k") return brick_wall(25, 40);
    if (name == "wall-4k") return brick_wall(40, 100);
    if (name == "column-4k") return box_column(5, 160, kRigidSeed);
    std::string known;
    for (const std::string& n : rigid_scene_names()) known += (known.empty() ? "" : ", ") + n;
    throw std::invalid_argument("there is no rigid scene '" + name + "': use one of " + known);
  };
  RigidScene scene = make();
  scene.name = name;
  return scene;
}

}  // namespace stickslip

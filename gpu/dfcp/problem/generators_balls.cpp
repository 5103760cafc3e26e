// Generated problems of balls, and of parts in networks.
#include <algorithm>
#include <numbers>
#include <numeric>
#include <utility>

#include "gpu/dfcp/problem/generator_tools.h"
#include "gpu/dfcp/problem/generators.h"

namespace stickslip {
namespace {

constexpr double kRadius = 0.01;            // largest radius of granular balls [m]
constexpr double kDensity = 2500;           // [kg/m^3]
constexpr double kJitter = 0.04 * kRadius;  // of the lattice sites [m]

/// Balls on a face-centred lattice: the sites (x, y, z) with even sum of a cubic grid, each jittered, filled
/// layer by layer from the floor. The twelve neighbours of a site are the only balls within reach.
class BallLattice {
 public:
  /// About `balls` balls in a box twice as high as wide; radii from `smallest` to kRadius.
  BallLattice(std::size_t balls, double smallest, std::uint64_t seed)
      : smallest_(smallest), random_(seed), pitch_(std::sqrt(0.5) * (smallest + kRadius)) {
    width_ = std::max(2L, std::lround(std::cbrt(static_cast<double>(balls))));
  }

  /// Adds the next ball and calls touch(contact) for the floor, the walls and all earlier balls nearer than
  /// `reach`, while touch returns true.
  template <class Touch>
  void add(BodyProblem& build, double reach, double kick, const Touch& touch) {
    if (layer_.empty()) start_layer();
    const double radius = random_.between(smallest_, kRadius);
    RigidBody ball = solid_ball(kDensity * 4 / 3 * std::numbers::pi * radius * radius * radius, radius);
    const double half = 0.5 * (smallest_ + kRadius);  // walls are one mean radius outside the outermost sites
    ball.position = Vec3d{half + pitch_ * static_cast<double>(x_), half + pitch_ * static_cast<double>(y_),
                          half + pitch_ * static_cast<double>(z_)} +
                    random_.in_cube(kJitter);
    ball.velocity = random_.in_cube(kick);
    ball.spin = random_.in_cube(kick / kRadius);
    const std::int32_t body = build.add(ball);
    centers_.push_back(ball.position);
    radii_.push_back(radius);
    layer_[site(x_, z_)] = body;
    if (touch_walls(body, reach, touch)) touch_balls(body, reach, touch);
    advance();
  }

 private:
  std::size_t site(long x, long z) const { return static_cast<std::size_t>(x * width_ + z); }

  void start_layer() {
    below_ = std::move(layer_);
    layer_.assign(static_cast<std::size_t>(width_ * width_), -1);
    x_ = 0;
    z_ = y_ % 2;
  }

  void advance() {
    z_ += 2;
    if (z_ < width_) return;
    ++x_;
    z_ = (x_ + y_) % 2;
    if (x_ < width_) return;
    ++y_;
    start_layer();
  }

  template <class Touch>
  bool touch_walls(std::int32_t body, double reach, const Touch& touch) {
    struct Wall {
      int axis;
      double sign, at;
    };
    const double side = smallest_ + kRadius + pitch_ * static_cast<double>(width_ - 1);
    for (const auto& [axis, sign, at] :
         {Wall{1, 1, 0}, Wall{0, 1, 0}, Wall{0, -1, side}, Wall{2, 1, 0}, Wall{2, -1, side}}) {
      const double gap = sign * (centers_[body][axis] - at) - radii_[body];
      if (gap > reach) continue;
      ContactPoint contact;
      contact.a = body;
      contact.normal = {0, 0, 0};
      contact.normal[axis] = sign;
      contact.point = centers_[body] - (radii_[body] + 0.5 * gap) * contact.normal;
      contact.gap = gap;
      if (!touch(contact)) return false;
    }
    return true;
  }

  template <class Touch>
  void touch_balls(std::int32_t body, double reach, const Touch& touch) {
    const auto try_one = [&](const std::vector<std::int32_t>& layer, long x, long z) {
      if (layer.empty() || x < 0 || z < 0 || x >= width_ || z >= width_) return true;
      const std::int32_t other = layer[site(x, z)];
      const Vec3d between = centers_[body] - centers_[other];
      const double gap = norm(between) - radii_[body] - radii_[other];
      if (gap > reach) return true;
      ContactPoint contact;
      contact.a = body;
      contact.b = other;
      contact.normal = normalized(between);
      contact.point = centers_[other] + (radii_[other] + 0.5 * gap) * contact.normal;
      contact.gap = gap;
      return touch(contact);
    };
    try_one(layer_, x_ - 1, z_ - 1) && try_one(layer_, x_ - 1, z_ + 1) && try_one(below_, x_ - 1, z_) &&
        try_one(below_, x_, z_ - 1) && try_one(below_, x_, z_ + 1) && try_one(below_, x_ + 1, z_);
  }

  double smallest_;
  SeededNumbers random_;
  double pitch_;
  long width_ = 0, x_ = 0, y_ = 0, z_ = 0;
  std::vector<std::int32_t> layer_, below_;  // ball at each site
  std::vector<Vec3d> centers_;
  std::vector<double> radii_;
};

struct BallJoint {
  std::int32_t a, b;
};

/// Edges of a grid of parts: first a random spanning tree, then the other edges, shuffled.
std::vector<BallJoint> grid_joints(long parts, SeededNumbers& random) {
  const long side = std::lround(std::ceil(std::cbrt(static_cast<double>(parts)) - 1e-9));
  std::vector<BallJoint> tree, rest;
  for (long p = 1; p < parts; ++p) {
    std::vector<BallJoint> back;  // along x, y, z
    for (const auto& [stride, place] : {std::pair{1L, p % side}, std::pair{side, p / side % side},
                                        std::pair{side * side, p / (side * side)}})
      if (place > 0) back.push_back({static_cast<std::int32_t>(p), static_cast<std::int32_t>(p - stride)});
    const std::size_t chosen = random.below(back.size());
    for (std::size_t k = 0; k < back.size(); ++k) (k == chosen ? tree : rest).push_back(back[k]);
  }
  for (std::size_t k = rest.size(); k > 1; --k) std::swap(rest[k - 1], rest[random.below(k)]);
  tree.insert(tree.end(), rest.begin(), rest.end());
  return tree;
}

}  // namespace

ContactProblem granular_column(long contacts, std::uint64_t seed) {
  require_count("contacts", contacts, 1);
  const auto wanted = static_cast<std::size_t>(contacts);
  BallLattice lattice(wanted / 3, 0.85 * kRadius, seed);
  BodyProblem build;
  build.reserve(wanted / 3 + wanted / 20 + 8, wanted);
  while (build.blocks() < wanted)
    lattice.add(build, 0, 0.05, [&](ContactPoint contact) {
      contact.mu = 0.3;
      build.add(contact);
      return build.blocks() < wanted;
    });
  const std::size_t balls = build.bodies();
  return build.take("granular_column", std::to_string(balls) + " balls in a box with " +
                                           std::to_string(contacts) + " contacts, seed " +
                                           std::to_string(seed));
}

ContactProblem rolling_spheres(long balls, std::uint64_t seed) {
  require_count("balls", balls, 1);
  SeededNumbers random(seed);
  BodyProblem build(0.01, {0, -9.81, 0}, BodyProblem::Resistance::rolling);
  const auto count = static_cast<std::size_t>(balls);
  build.reserve(count, 9 * count / 4 + 4);
  const auto side = std::lround(std::ceil(std::sqrt(0.25 * static_cast<double>(balls))));
  for (long heap = 0; build.bodies() < count; ++heap) {
    const double radius = random.between(0.05, 0.1);
    const long row = heap / side, place = heap % side;
    const Vec3d middle{static_cast<double>(place), radius, static_cast<double>(row)};
    std::vector<RigidBody> heaped;
    const auto add = [&](const Vec3d& position) {
      RigidBody ball = solid_ball(random.between(1, 4), radius);
      ball.position = position;
      ball.velocity = random.in_cube(0.1);
      ball.velocity[1] = 0;
      ball.spin = random.in_cube(0.1 / radius);
      const std::int32_t body = build.add(ball);
      const auto touch = [&](std::int32_t other, const Vec3d& point, const Vec3d& normal) {
        ContactPoint contact;
        contact.a = body;
        contact.b = other;
        contact.point = point;
        contact.normal = normal;
        contact.mu = 0.3;
        contact.rolling = 0.5 * radius * std::pow(10.0, random.between(-1.7, 0));
        build.add(contact);
      };
      if (position[1] == radius) touch(kWorld, position - Vec3d{0, radius, 0}, {0, 1, 0});
      for (std::size_t k = 0; k < heaped.size(); ++k) {
        const Vec3d between = position - heaped[k].position;
        touch(body - static_cast<std::int32_t>(heaped.size() - k), heaped[k].position + 0.5 * between,
              normalized(between));
      }
      heaped.push_back(ball);
    };
    // Three balls on the ground that touch each other, 120 degrees apart, and one in the hollow on top.
    const double out = 2 / std::sqrt(3.0) * radius, up = std::sqrt(8.0 / 3) * radius;
    for (int k = 0; k < 4 && build.bodies() < count; ++k) {
      const double angle = 2 * std::numbers::pi * k / 3;
      add(k < 3 ? middle + out * Vec3d{std::cos(angle), 0, std::sin(angle)} : middle + Vec3d{0, up, 0});
    }
  }
  return build.take("rolling_spheres", std::to_string(balls) + " balls in heaps of four with " +
                                           std::to_string(build.blocks()) +
                                           " contacts that resist rolling, seed " + std::to_string(seed));
}

ContactProblem infeasible(long balls) {
  require_count("balls", balls, 1);
  BodyProblem build;
  const double radius = 0.1;
  const auto touch = [&](std::int32_t a, std::int32_t b, double x, double side, double drive) {
    ContactPoint contact;
    contact.a = a;
    contact.b = b;
    contact.point = {x, radius, 0};
    contact.normal = {side, 0, 0};
    contact.drive = drive;
    build.add(contact);
  };
  for (long k = 0; k < balls; ++k) {
    RigidBody ball = solid_ball(1, radius);
    ball.position = {2 * radius * static_cast<double>(k), radius, 0};
    const std::int32_t body = build.add(ball);
    rest_on(build, body, kWorld, std::array{ball.position - Vec3d{0, radius, 0}}, 0.5);
    touch(body, body - 1, ball.position[0] - radius, 1, k == 0 ? 1 : 0);
    if (k + 1 == balls) touch(body, kWorld, ball.position[0] + radius, -1, 1);
  }
  return build.take("infeasible", std::to_string(balls) + " balls between walls that close in at 1 m/s each");
}

ContactProblem tasora_b1(long parts, std::uint64_t seed) {
  require_count("parts", parts, 1);
  SeededNumbers random(seed);
  const long side = std::lround(std::ceil(std::cbrt(static_cast<double>(parts)) - 1e-9));
  const long rows = std::lround(3.5 * static_cast<double>(parts)), blocks = (rows + 2) / 3;
  BodyProblem build;
  build.reserve(static_cast<std::size_t>(parts), static_cast<std::size_t>(blocks));
  std::vector<Vec3d> centers;
  for (long p = 0; p < parts; ++p) {
    const double mass = random.between(0.5, 2), x = random.between(0.1, 0.3), y = random.between(0.1, 0.3);
    RigidBody part = solid_box(mass, {x, y, random.between(0.1, 0.3)});
    const long column = p % side, row = p / side % side, layer = p / (side * side);
    part.position = {static_cast<double>(column), static_cast<double>(row), static_cast<double>(layer)};
    part.velocity = random.in_cube(1);
    part.spin = random.in_cube(1);
    centers.push_back(part.position);
    build.add(part);
  }
  std::vector<BallJoint> joints = grid_joints(parts, random);
  // Grids of a few parts have fewer edges than `blocks`: joints to the world supply the rest.
  while (static_cast<long>(joints.size()) < blocks)
    joints.push_back({static_cast<std::int32_t>(joints.size() % static_cast<std::size_t>(parts)), kWorld});
  for (long k = 0; k < blocks; ++k) {
    const BallJoint& joint = joints[k];
    const Vec3d other = joint.b == kWorld ? centers[joint.a] : centers[joint.b];
    build.add_joint(joint.a, joint.b, 0.5 * (centers[joint.a] + other) + random.in_cube(0.2),
                    static_cast<int>(std::min(3L, rows - 3 * k)));
  }
  return build.take("tasora_b1", std::to_string(parts) + " parts in a network of " + std::to_string(rows) +
                                     " bilateral constraints, seed " + std::to_string(seed));
}

ContactProblem tasora_b2(long balls, std::uint64_t seed) {
  require_count("balls", balls, 1);
  const auto count = static_cast<std::size_t>(balls);
  BallLattice lattice(count, kRadius, seed);
  BodyProblem build;
  std::vector<ContactPoint> near;
  while (build.bodies() < count)
    lattice.add(build, 0.5 * kRadius, 0.05, [&](const ContactPoint& contact) {
      near.push_back(contact);
      return true;
    });
  // The narrowest gaps are the contacts.
  const std::size_t wanted =
      std::min(near.size(), static_cast<std::size_t>(std::lround(3.525 * static_cast<double>(balls))));
  std::vector<std::size_t> order(near.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return near[i].gap < near[j].gap; });
  order.resize(wanted);
  std::sort(order.begin(), order.end());
  for (const std::size_t k : order) {
    near[k].mu = 0;
    build.add(near[k]);
  }
  return build.take("tasora_b2", std::to_string(balls) + " equal smooth spheres with " +
                                     std::to_string(wanted) + " contacts, seed " + std::to_string(seed));
}

}  // namespace stickslip

// Generated problems of boxes: towers, plates, tables and a brick wall.
#include <algorithm>
#include <numbers>

#include "gpu/dfcp/problem/generator_tools.h"
#include "gpu/dfcp/problem/generators.h"
#include "gpu/model/rotation.h"

namespace stickslip {
namespace {

using Polygon = std::vector<Vec3d>;  // convex, horizontal

Polygon rectangle(const Vec3d& center, double x, double z, double yaw) {
  const double c = std::cos(yaw), s = std::sin(yaw);
  Polygon out;
  for (const Vec3d& p : corners({0, 0, 0}, x, z))
    out.push_back(center + Vec3d{c * p[0] + s * p[2], 0, -s * p[0] + c * p[2]});
  return out;
}

/// The intersection of two convex polygons with the same orientation (Sutherland and Hodgman).
Polygon clip(Polygon subject, const Polygon& by) {
  for (std::size_t e = 0; e < by.size(); ++e) {
    const Vec3d& from = by[e];
    const Vec3d along = by[(e + 1) % by.size()] - from;
    const auto side = [&](const Vec3d& p) {
      return along[0] * (p[2] - from[2]) - along[2] * (p[0] - from[0]);
    };
    Polygon kept;
    for (std::size_t i = 0; i < subject.size(); ++i) {
      const Vec3d &p = subject[i], &q = subject[(i + 1) % subject.size()];
      const double a = side(p), b = side(q);
      if (a <= 0) kept.push_back(p);
      if ((a < 0 && b > 0) || (a > 0 && b < 0)) kept.push_back(p + (a / (a - b)) * (q - p));
    }
    subject = std::move(kept);
  }
  return subject;
}

/// One tower, from the ground up.
void add_tower(BodyProblem& build, SeededNumbers& random, const Vec3d& base, long boxes) {
  Vec3d top = base;
  Polygon below;
  std::int32_t under = kWorld;
  for (long k = 0; k < boxes; ++k) {
    const double x = random.between(0.15, 0.25), z = random.between(0.15, 0.25),
                 y = random.between(0.08, 0.2);
    const Vec3d h{x, y, z};
    const double yaw = random.between(-0.5, 0.5), density = random.between(500, 2000);
    RigidBody box = solid_box(8 * density * h[0] * h[1] * h[2], h, rotation_matrix({0, yaw, 0}));
    Vec3d offset = random.in_cube(0.05);
    offset[1] = 0;
    const Vec3d foot = top + (k > 0 ? offset : Vec3d{0, 0, 0});
    box.position = foot + Vec3d{0, h[1], 0};
    box.velocity = random.in_cube(0.1);
    box.velocity[1] = 0;
    const Polygon face = rectangle(foot, h[0], h[2], yaw);
    const std::int32_t body = build.add(box);
    const double mu = random.between(0.2, 0.8);
    rest_on(build, body, under, k > 0 ? clip(face, below) : face, mu, random.between(-1e-4, 1e-4));
    top = foot + Vec3d{0, 2 * h[1], 0};
    below = rectangle(top, h[0], h[2], yaw);
    under = body;
  }
}

/// A tower of equal boxes of half sizes h on four corners each; masses from the bottom up.
BodyProblem corner_tower(const std::vector<double>& masses, const Vec3d& h, double mu) {
  BodyProblem build;
  build.reserve(masses.size(), 4 * masses.size());
  for (std::size_t k = 0; k < masses.size(); ++k) {
    const Vec3d foot{0, 2 * h[1] * static_cast<double>(k), 0};
    RigidBody box = solid_box(masses[k], h);
    box.position = foot + Vec3d{0, h[1], 0};
    const std::int32_t body = build.add(box);
    rest_on(build, body, body - 1, corners(foot, h[0], h[2]), mu);
  }
  return build;
}

/// Bricks in running bond: odd courses are shifted by half a brick.
struct BrickWall {
  static constexpr double kGap = 1e-3;            // width of the head joints [m]
  static constexpr Vec3d kHalf{0.1, 0.05, 0.05};  // 4 kg at 2000 kg/m^3
  static constexpr double kPitch = 2 * kHalf[0] + kGap;
  long columns, bricks;

  Vec3d center(long brick) const {
    const long course = brick / columns;
    const double x = static_cast<double>(brick % columns) + (course % 2 == 1 ? 0.5 : 0) -
                     0.5 * static_cast<double>(columns - 1);
    return {kPitch * x, kHalf[1] * (2 * static_cast<double>(course) + 1), 0};
  }
  double height() const {
    const long courses = (bricks + columns - 1) / columns;
    return 2 * kHalf[1] * static_cast<double>(courses);
  }
};

void add_bed_joints(BodyProblem& build, const BrickWall& wall, long brick, double mu) {
  const Vec3d c = wall.center(brick), h = BrickWall::kHalf;
  const auto body = static_cast<std::int32_t>(brick);
  const Vec3d foot = c - Vec3d{0, h[1], 0};
  if (brick < wall.columns) return rest_on(build, body, kWorld, corners(foot, h[0], h[2]), mu);
  const long column = brick % wall.columns, first = brick - column - wall.columns;
  for (long below = std::max(0L, column - 1); below <= std::min(wall.columns - 1, column + 1); ++below) {
    const double x = wall.center(first + below)[0];
    const double low = std::max(c[0], x) - h[0], high = std::min(c[0], x) + h[0];
    if (high - low < BrickWall::kGap) continue;
    rest_on(build, body, static_cast<std::int32_t>(first + below),
            corners({0.5 * (low + high), foot[1], 0}, 0.5 * (high - low), h[2]), mu);
  }
}

/// The joint with the left neighbour in the same course.
void add_head_joint(BodyProblem& build, const BrickWall& wall, long brick, double mu) {
  if (brick % wall.columns == 0) return;
  const Vec3d c = wall.center(brick), h = BrickWall::kHalf;
  ContactPoint contact;
  contact.a = static_cast<std::int32_t>(brick);
  contact.b = contact.a - 1;
  contact.normal = {1, 0, 0};
  contact.mu = mu;
  contact.gap = BrickWall::kGap;
  for (const double y : {-h[1], h[1]})
    for (const double z : {-h[2], h[2]}) {
      contact.point = {c[0] - h[0] - 0.5 * BrickWall::kGap, c[1] + y, z};
      build.add(contact);
    }
}

/// A ball that touches the middle of the wall's face, and contacts with all bricks
/// within its reach in the step.
void add_wrecking_ball(BodyProblem& build, const BrickWall& wall, double mu) {
  const double radius = 0.3, speed = 10, reach = speed * build.dt();
  RigidBody ball = solid_ball(500, radius);
  ball.position = {0, std::max(0.5 * wall.height(), radius), BrickWall::kHalf[2] + radius};
  ball.velocity = {0, 0, -speed};
  const std::int32_t body = build.add(ball);
  for (long brick = 0; brick < wall.bricks; ++brick) {
    const Vec3d c = wall.center(brick), h = BrickWall::kHalf;
    const Vec3d nearest = max(c - h, min(c + h, ball.position));
    const Vec3d away = ball.position - nearest;
    if (norm(away) > radius + reach) continue;
    ContactPoint contact;
    contact.a = body;
    contact.b = static_cast<std::int32_t>(brick);
    contact.normal = normalized(away);
    contact.point = nearest;
    contact.gap = norm(away) - radius;
    contact.mu = mu;
    build.add(contact);
  }
}

}  // namespace

ContactProblem random_stacks(long boxes, long stacks, std::uint64_t seed) {
  require_count("boxes", boxes, 1);
  require(stacks >= 1 && stacks <= boxes, "stacks is " + std::to_string(stacks) +
                                              " and must be from 1 to the number of boxes, " +
                                              std::to_string(boxes));
  SeededNumbers random(seed);
  BodyProblem build;
  build.reserve(static_cast<std::size_t>(boxes), static_cast<std::size_t>(7 * boxes));
  const long row = std::lround(std::ceil(std::sqrt(static_cast<double>(stacks))));
  for (long s = 0; s < stacks; ++s) {
    const long x = s % row, z = s / row;
    add_tower(build, random, {static_cast<double>(x), 0, static_cast<double>(z)},
              boxes / stacks + (s < boxes % stacks ? 1 : 0));
  }
  return build.take("random_stacks", std::to_string(boxes) + " boxes in " + std::to_string(stacks) +
                                         " towers, seed " + std::to_string(seed));
}

ContactProblem mass_chain(long bodies, double ratio) {
  require_count("bodies", bodies, 1);
  require(ratio >= 1 && std::isfinite(ratio),
          "ratio is " + std::to_string(ratio) + " and must be at least 1");
  std::vector<double> masses;
  for (long k = 0; k < bodies; ++k)
    masses.push_back(bodies == 1 ? 1
                                 : std::pow(ratio, static_cast<double>(k) / static_cast<double>(bodies - 1)));
  return corner_tower(masses, {0.1, 0.1, 0.1}, 0.5)
      .take("mass_chain", std::to_string(bodies) + " cubes of 1 to " + std::to_string(ratio) + " kg");
}

ContactProblem over_constrained(double nu, long boxes, std::uint64_t seed) {
  require(nu >= 0.5 && nu <= 1e6,
          "nu is " + std::to_string(nu) + " and must be from 0.5 (one contact a box) to 1e6");
  require_count("boxes", boxes, 1);
  SeededNumbers random(seed);
  BodyProblem build;
  const Vec3d h{0.2, 0.1, 0.2};
  const auto points_below = [nu](long k) { return std::lround(2 * nu * static_cast<double>(k)); };
  for (long k = 0; k < boxes; ++k) {
    const long points = points_below(k + 1) - points_below(k);
    RigidBody box = solid_box(8000 * h[0] * h[1] * h[2], h);
    const double foot = 2 * h[1] * static_cast<double>(k);
    box.position = {0, foot + h[1], 0};
    box.velocity = random.in_cube(0.2);
    box.spin = random.in_cube(0.5);
    const std::int32_t body = build.add(box);
    std::vector<Vec3d> face;
    for (long i = 0; i < points; ++i) {
      const double x = random.between(-h[0], h[0]);
      face.push_back({x, foot, random.between(-h[2], h[2])});
    }
    rest_on(build, body, body - 1, face, 0.4);
  }
  return build.take("over_constrained", "tower of " + std::to_string(boxes) + " boxes on " +
                                            std::to_string(points_below(boxes)) + " points, seed " +
                                            std::to_string(seed));
}

ContactProblem hyperstatic(long points) {
  require_count("points", points, 1);
  BodyProblem build;
  RigidBody table = solid_box(10, {0.5, 0.02, 0.4}), box = solid_box(20, {0.2, 0.2, 0.2});
  table.position = {0, 0.72, 0};
  box.position = {0, 0.94, 0};
  build.add(table);
  build.add(box);
  rest_on(build, 0, kWorld, corners({0, 0, 0}, 0.45, 0.35), 0.5);
  std::vector<Vec3d> ring;  // with one or two points the box could tip; at rest it stays
  for (long k = 0; k < points; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(points);
    const double radius = points < 2 ? 0 : 0.18;
    ring.push_back({radius * std::cos(angle), 0.74, radius * std::sin(angle)});
  }
  rest_on(build, 1, 0, ring, 0.5);
  return build.take("hyperstatic",
                    "a table on four legs under a box on " + std::to_string(points) + " points");
}

ContactProblem tasora_b3(long plates) {
  require_count("plates", plates, 1);
  std::vector<double> masses;
  for (long k = 0; k < plates; ++k) masses.push_back(k % 2 == 0 ? 1 : 1000);
  return corner_tower(masses, {0.5, 0.02, 0.5}, 0.4)
      .take("tasora_b3", "stack of " + std::to_string(plates) + " plates of 1 and 1000 kg by turns");
}

ContactProblem tasora_b4(long bricks) {
  require_count("bricks", bricks, 1);
  // 750 bricks make 30 courses of 25.
  const long columns = std::max(1L, std::lround(std::sqrt(static_cast<double>(bricks) * 25 / 30)));
  const BrickWall wall{columns, bricks};
  const double mu = 0.6;
  BodyProblem build;
  build.reserve(static_cast<std::size_t>(bricks) + 1, static_cast<std::size_t>(12 * bricks + 64));
  for (long brick = 0; brick < bricks; ++brick) {
    RigidBody body = solid_box(4, BrickWall::kHalf);
    body.position = wall.center(brick);
    build.add(body);
    add_bed_joints(build, wall, brick, mu);
    add_head_joint(build, wall, brick, mu);
  }
  add_wrecking_ball(build, wall, mu);
  return build.take("tasora_b4", "a ball of 500 kg at 10 m/s against " + std::to_string(bricks) + " bricks");
}

}  // namespace stickslip

#include "gpu/rigid/texture_friction.h"

#include <cmath>
#include <numbers>

#include "tests/rigid/rigid_problem.h"

namespace stickslip {
namespace {

using fixtures::grained_pair;
using fixtures::random_pose;
using fixtures::random_vector;
using fixtures::V3d;
constexpr double kPi = std::numbers::pi;

/// A texture with its view.
struct Map {
  SurfaceTexture texture;

  TextureView view() const {
    return {texture.kind, texture.columns, texture.rows, texture.size, texture.patch, texture.texels.data()};
  }
};

Map direction_map(std::int32_t columns, std::int32_t rows, const std::vector<double>& angles) {
  Map map;
  map.texture.columns = columns;
  map.texture.rows = rows;
  map.texture.size = {0.1 * columns, 0.1 * rows};
  map.texture.texels = direction_texels(angles);
  EXPECT_EQ(texture_fault(map.texture), "");
  return map;
}

/// Ridges along rows: the height changes with the column. The patch is the whole image.
Map height_map(const std::vector<double>& heights, double texel) {
  Map map;
  map.texture.kind = TextureKind::height;
  map.texture.columns = static_cast<std::int32_t>(heights.size());
  map.texture.rows = 1;
  map.texture.size = {texel * static_cast<double>(heights.size()), texel};
  map.texture.patch = map.texture.size;
  map.texture.texels = facet_texels(heights, map.texture.columns, 1, map.texture.size);
  return map;
}

/// `steps` equal steps up and one down.
std::vector<double> sawtooth(int steps, double depth) {
  std::vector<double> heights;
  for (int i = 0; i <= steps; ++i) heights.push_back(depth * i / steps);
  return heights;
}

/// Two bodies: the first has the first map, the second the other one.
struct Pair {
  Pose pose[2];
  Pose frame[2] = {Pose::identity(), Pose::identity()};
  RigidContact contact{};
  BodiesView view{};

  Pair(const Pose& a, const Pose& b, const V3d& point, const V3d& normal) : pose{a, b} {
    contact.a = 0;
    contact.b = 1;
    contact.point = point;
    contact.normal = normal;
    view.pose = pose;
    view.texture_frame = frame;
  }
  Pair(const Pair&) = delete;

  TexturedContact with(const TextureView* textures, std::int32_t a, std::int32_t b) const {
    return {textures, a, b, view, contact};
  }
};

/// Coefficient along a unit direction of the plane.
double mu_along(const FrictionFrame& f, const V3d& d) {
  return 1 / std::hypot(dot(d, f.frame.t1) / f.mu1, dot(d, f.frame.t2) / f.mu2);
}

TEST(TextureFriction, EachFaceShowsTheImageAlongTwoAxes) {
  const Pose pose = {{1, 2, 3}, rotation_by(V3d{0.3, -0.7, 0.2})};
  const V3d x = pose.q.rotate({1, 0, 0}), y = pose.q.rotate({0, 1, 0}), z = pose.q.rotate({0, 0, 1});
  const V3d point = pose.apply({0.1, 0.2, 0.3});
  const auto expect_place = [&](const V3d& normal, double u, double v, const V3d& columns, const V3d& rows) {
    const TexturePlace place = texture_place(pose, point, normal);
    EXPECT_NEAR(place.at[0], u, 1e-15);
    EXPECT_NEAR(place.at[1], v, 1e-15);
    EXPECT_LT(norm(place.u - columns), 1e-15);
    EXPECT_LT(norm(place.v - rows), 1e-15);
  };
  for (const double side : {1.0, -1.0}) {
    expect_place(side * normalized(y + 0.5 * x), 0.1, 0.3, x, z);
    expect_place(side * z, 0.1, 0.2, x, y);
    expect_place(side * normalized(x - 0.9 * z), 0.3, 0.2, z, y);
  }
}

/// A map of one constant direction equals a body's grain, under every law.
TEST(TextureFriction, AConstantDirectionIsTheGrain) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 50; ++trial) {
    const Pose pose = random_pose(rng, 1.0);
    const V3d normal = pose.q.rotate({0, trial % 2 == 0 ? 1.0 : -1.0, 0});
    const Pair pair(pose, random_pose(rng, 1.0), random_vector(rng, 1.0), normal);
    const double angle = trial < 5 ? 0 : 0.06 * trial;
    const Map map = direction_map(3, 2, std::vector<double>(6, angle));
    const TextureView view = map.view();
    const TexturedContact contact = pair.with(&view, 0, -1);
    const V3d grain = pose.q.rotate({std::cos(angle), 0, std::sin(angle)}), other{1, 2, 3};
    // Texels are floats, and a direction has no sign.
    EXPECT_LT(norm(cross(contact.grain(0, other), grain)), trial < 5 ? 1e-15 : 1e-7);
    EXPECT_EQ(contact.grain(1, other), other);

    SurfacePair surfaces = grained_pair(0.2, 0.8);
    surfaces.grain_a = grain;
    const FrictionFrame wanted = friction_frame(normal, surfaces);
    surfaces.grain_a = contact.grain(0, other);
    const FrictionFrame got = contact.friction(friction_frame(normal, surfaces), surfaces, {1, 0, 0});
    EXPECT_LT(norm(cross(got.frame.t1, wanted.frame.t1)), 1e-6);
    EXPECT_EQ(got.mu1, wanted.mu1);
    EXPECT_EQ(got.mu2, wanted.mu2);
  }
}

TEST(TextureFriction, DirectionsBlendModuloAHalfTurn) {
  const Map map = direction_map(2, 1, {0.1, kPi - 0.1});
  const auto angle_at = [&](double u) {
    const V3d d = structure_direction(map.view(), {{u, 0.02}, {1, 0, 0}, {0, 0, 1}});
    return std::remainder(std::atan2(d[2], d[0]), kPi);
  };
  EXPECT_NEAR(angle_at(-0.05), 0.1, 1e-7);  // the middle of the first texel
  EXPECT_NEAR(angle_at(0.05), -0.1, 1e-7);
  EXPECT_NEAR(angle_at(0.0), 0, 1e-7);     // between them
  EXPECT_NEAR(angle_at(0.1), 0, 1e-7);     // at the border to the image's repetition
  EXPECT_NEAR(angle_at(0.15), 0.1, 1e-7);  // in the repetition
  EXPECT_NEAR(angle_at(-1e-17), 0, 1e-7);
  EXPECT_LT(angle_at(0.02), 0);
}

TEST(TextureFriction, FacetsHaveTheirSlopes) {
  const Map saw = height_map(sawtooth(4, 0.02), 0.01);
  ASSERT_EQ(saw.texture.texels.size(), 5u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(saw.texture.texels[i][0], -2 / kPi * std::atan(0.5), 1e-7) << i;
    EXPECT_EQ(saw.texture.texels[i][1], 0);
  }
  EXPECT_NEAR(saw.texture.texels[4][0], 2 / kPi * std::atan(2.0), 1e-7);
  // A plane tilted along both axes, sampled between four of its heights.
  std::vector<double> plane;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) plane.push_back(0.03 * i - 0.04 * j);
  const Vec<float, 2> texel = facet_texels(plane, 3, 3, {0.3, 0.3})[0];
  EXPECT_NEAR(texel[0], -0.6 * 2 / kPi * std::atan(0.5), 1e-7);
  EXPECT_NEAR(texel[1], 0.8 * 2 / kPi * std::atan(0.5), 1e-7);
}

/// Across ridges h = a sin(k x) the coefficient is the mean of max(0, 2/pi atan(a k cos)); along them it is
/// 0.
TEST(TextureFriction, RidgesResistAcrossThem) {
  const double a = 0.002, length = 0.01, mu = 0.1;
  std::vector<double> heights;
  for (int i = 0; i < 32; ++i) heights.push_back(a * std::sin(2 * kPi * i / 32));
  const Map map = height_map(heights, length / 32);
  double mean = 0;
  for (int i = 0; i < 10000; ++i)
    mean += std::fmax(0, 2 / kPi * std::atan(a * 2 * kPi / length * std::cos(2 * kPi * i / 10000))) / 10000;
  ASSERT_GT(mean, 0.15);
  std::mt19937 rng(2);
  for (int trial = 0; trial < 20; ++trial) {
    const Pose pose = random_pose(rng, 1.0);
    const V3d across = pose.q.rotate({1, 0, 0}), along = pose.q.rotate({0, 0, 1});
    Pair pair(pose, Pose::identity(), random_vector(rng, 1.0), pose.q.rotate({0, 1, 0}));
    const TextureView view = map.view();
    const SurfacePair plain = grained_pair(mu, mu);
    const FrictionFrame f =
        pair.with(&view, 0, -1).friction(friction_frame(pair.contact.normal, plain), plain, {0, 0, 0});
    EXPECT_NEAR(mu_along(f, across), mu + mean, 2e-3 * mean);
    EXPECT_NEAR(mu_along(f, along), mu, 1e-6);
    EXPECT_FALSE(f.is_one_sided) << "both sides of the ridges are alike";
    EXPECT_NEAR(dot(cross(f.frame.n, f.frame.t1), f.frame.t2), 1, 1e-14);
    // With a grain of the pair along 45 degrees the axes are those of the grain, and each gets its share of
    // the ridges.
    SurfacePair grained = grained_pair(mu, 2 * mu);
    grained.grain_a = across + along;
    const FrictionFrame g =
        pair.with(&view, 0, -1).friction(friction_frame(pair.contact.normal, grained), grained, {0, 0, 0});
    EXPECT_NEAR(g.mu1, mu + mean / std::sqrt(2), 2e-3 * mean);
    EXPECT_NEAR(g.mu2, 2 * mu + mean / std::sqrt(2), 2e-3 * mean);
  }
}

TEST(TextureFriction, SawteethResistByTheWayOfTheSlide) {
  const int steps = 7;
  const double depth = 0.01, texel = 0.002;
  const Map map = height_map(sawtooth(steps, depth), texel);
  // Facets of the long side are inclined towards -x: they are in front when the surface moves that way.
  const double back = 7.0 / 8 * 2 / kPi * std::atan(depth / (steps * texel)),
               forth = 1.0 / 8 * 2 / kPi * std::atan(depth / texel);
  const TextureView view = map.view();
  const SurfacePair plain = grained_pair(0, 0);
  const Pose here = Pose::identity();
  const auto mu_of = [&](const V3d& slide, int textured) {
    const Pair pair(here, here, {0.003, 0, 0.01}, {0, 1, 0});
    const FrictionFrame f = pair.with(&view, textured == 0 ? 0 : -1, textured == 1 ? 0 : -1)
                                .friction(friction_frame({0, 1, 0}, plain), plain, slide);
    EXPECT_NEAR(f.mu1, 0, 1e-12);
    EXPECT_NEAR(std::fabs(f.frame.t2[0]), 1, 1e-12);
    EXPECT_TRUE(f.is_one_sided);
    // Both coefficients are there whichever is in use.
    const bool turned = (f.frame.t2[0] > 0) == (textured == 1);
    EXPECT_NEAR((turned ? f.back : f.forth)[1], forth, 1e-7);
    EXPECT_NEAR((turned ? f.forth : f.back)[1], back, 1e-7);
    return f.mu2;
  };
  EXPECT_NEAR(mu_of({1, 0, 0}, 0), forth, 1e-7);
  EXPECT_NEAR(mu_of({-1, 0, 0.5}, 0), back, 1e-7);
  EXPECT_NEAR(mu_of({0, 0, 0}, 0), back, 1e-7);  // the larger of them
  // The other surface moves against the slip.
  EXPECT_NEAR(mu_of({1, 0, 0}, 1), back, 1e-7);
  EXPECT_NEAR(mu_of({-1, 0, 0}, 1), forth, 1e-7);
  // Both surfaces plough.
  const Pair pair(here, here, {0.003, 0, 0.01}, {0, 1, 0});
  const FrictionFrame both =
      pair.with(&view, 0, 0).friction(friction_frame({0, 1, 0}, plain), plain, {1, 0, 0});
  EXPECT_NEAR(both.mu2, forth + back, 1e-7);
}

TEST(TextureFriction, FlatOrAbsentMapsChangeNothing) {
  const Map map = height_map(std::vector<double>(4, 0.01), 0.01);
  const TextureView view = map.view();
  std::mt19937 rng(3);
  const V3d normal = normalized(random_vector(rng, 1.0));
  const Pair pair(random_pose(rng, 1.0), random_pose(rng, 1.0), random_vector(rng, 1.0), normal);
  for (const TextureView* textures : {&view, static_cast<const TextureView*>(nullptr)}) {
    const SurfacePair plain = grained_pair(0.3, 0.3);
    const FrictionFrame base = friction_frame(normal, plain),
                        f = pair.with(textures, 0, 0).friction(base, plain, {1, 0, 0});
    EXPECT_EQ(f.frame.t1, base.frame.t1);
    EXPECT_EQ(f.mu1, 0.3);
    EXPECT_EQ(f.mu2, 0.3);
  }
}

TEST(TextureFriction, TheFreeSlideIsThatOfTheTwoPoints) {
  const double free[12] = {1, 2, 3, 0, 0, 4, -1, 0, 0, 0, 5, 0};
  Pair pair({{0, 0, 0}, Quat::identity()}, {{1, 0, 0}, Quat::identity()}, {1, 1, 0}, {0, 1, 0});
  EXPECT_LT(norm(free_slide(pair.view, free, pair.contact) - V3d{1 - 4 + 1, 2 + 4, 3}), 1e-15);
  pair.contact.b = -1;
  EXPECT_LT(norm(free_slide(pair.view, free, pair.contact) - V3d{1 - 4, 2 + 4, 3}), 1e-15);
}

}  // namespace
}  // namespace stickslip

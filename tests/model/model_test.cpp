#include "gpu/model/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "gpu/model/rotation.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

struct Mesh {
  std::vector<Vec3d> nodes;
  std::vector<Vec4i> tets;
};

/// A cube of n^3 cells, each cut into six tets around its diagonal; every second tet is inverted.
Mesh cube(int n) {
  Mesh mesh;
  const int m = n + 1;
  for (int z = 0; z < m; ++z)
    for (int y = 0; y < m; ++y)
      for (int x = 0; x < m; ++x) mesh.nodes.push_back({double(x) / n, double(y) / n, double(z) / n});
  const int step[3] = {1, m, m * m};
  const int paths[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x)
        for (const auto& p : paths) {
          const int a = x + m * (y + m * z), b = a + step[p[0]], c = b + step[p[1]], d = c + step[p[2]];
          mesh.tets.push_back({a, b, c, d});
        }
  return mesh;
}

const std::vector<Vec3d> square_nodes{{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 0, 1}};
const std::vector<Vec3i> square{{0, 2, 1}, {0, 3, 2}};

Model with_material() {
  Model model;
  model.material_names = {"soft"};
  model.materials.resize(1);
  return model;
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Model, SolidSurfaceIsClosedOutwardAndOfTheRightSize) {
  for (const int n : {1, 3}) {
    Model model = with_material();
    const Mesh mesh = cube(n);
    add_collider(model, "floor", square_nodes, square, 0, {});
    const Object& object = add_solid(model, "cube", mesh.nodes, mesh.tets, 0);
    EXPECT_EQ(object.node_begin, 4);
    EXPECT_EQ(object.tet_end - object.tet_begin, 6 * n * n * n);
    ASSERT_EQ(object.triangle_end - object.triangle_begin, 12 * n * n);

    double volume = 0, area = 0;
    std::map<std::pair<int, int>, int> half_edges;
    for (int t = object.triangle_begin; t < object.triangle_end; ++t) {
      const Vec3i tri = model.triangles[t];
      const Vec3d a = model.positions[tri[0]], b = model.positions[tri[1]], c = model.positions[tri[2]];
      volume += dot(a, cross(b, c)) / 6;
      area += norm(cross(b - a, c - a)) / 2;
      for (int e = 0; e < 3; ++e) ++half_edges[{tri[e], tri[(e + 1) % 3]}];
    }
    EXPECT_NEAR(volume, 1, 1e-12);
    EXPECT_NEAR(area, 6, 1e-12);
    for (const auto& [edge, count] : half_edges) {
      EXPECT_EQ(count, 1);
      EXPECT_EQ(half_edges.count({edge.second, edge.first}), 1u);
    }
    for (const Vec4i& t : model.tets) {
      const auto& x = model.rest_positions;
      EXPECT_GT(dot(x[t[1]] - x[t[0]], cross(x[t[2]] - x[t[0]], x[t[3]] - x[t[0]])), 0);
    }
  }
}

TEST(Model, FinalizeDerivesEdgesAndSurfaceNodesOnce) {
  Model model = with_material();
  const Mesh mesh = cube(3);
  add_solid(model, "cube", mesh.nodes, mesh.tets, 0);
  add_collider(model, "floor", square_nodes, square, 0, {});
  finalize(model);
  finalize(model);
  EXPECT_EQ(model.edges.size(), 3u * 108 / 2 + 5);
  EXPECT_EQ(model.surface_nodes.size(), 64u - 8 + 4);
  EXPECT_TRUE(std::is_sorted(model.surface_nodes.begin(), model.surface_nodes.end()));
  for (const Vec2i& e : model.edges) EXPECT_LT(e[0], e[1]);
  ASSERT_EQ(model.scripted.size(), 1u);
  EXPECT_EQ(model.scripted[0].nodes, (std::vector<std::int32_t>{64, 65, 66, 67}));
}

TEST(Model, RefusesBadElements) {
  const Mesh good = cube(1);
  Model model = with_material();
  const auto solid = [&](const Mesh& mesh) {
    return error_of([&] { add_solid(model, "thing", mesh.nodes, mesh.tets, 0); });
  };
  Mesh bad = good;
  bad.tets[2][1] = 8;
  EXPECT_NE(solid(bad).find("tet 2 names node 8"), std::string::npos) << solid(bad);
  bad = good;
  bad.tets[3][1] = bad.tets[3][0];
  EXPECT_NE(solid(bad).find("twice"), std::string::npos) << solid(bad);
  bad = good;
  bad.nodes.push_back({2, 2, 2});
  EXPECT_NE(solid(bad).find("node 8 belongs to no tet"), std::string::npos) << solid(bad);
  bad = good;
  for (Vec3d& p : bad.nodes) p[1] = 0;
  EXPECT_NE(solid(bad).find("no volume"), std::string::npos) << solid(bad);
  bad = good;
  bad.nodes[0][0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(solid(bad).empty());
  bad = good;
  bad.tets.push_back(bad.tets[0]);
  bad.tets.push_back(bad.tets[0]);
  EXPECT_NE(solid(bad).find("shares a face"), std::string::npos) << solid(bad);
  EXPECT_FALSE(solid(Mesh{}).empty());
  EXPECT_FALSE(error_of([&] { add_collider(model, "c", square_nodes, {{0, 1, 4}}, 0, {}); }).empty());
  EXPECT_FALSE(error_of([&] {
                 add_collider(model, "c", {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {{0, 1, 2}}, 0, {});
               }).empty());
  EXPECT_TRUE(model.objects.empty()) << "a refused object must leave nothing behind";
  EXPECT_TRUE(model.positions.empty());
}

TEST(Model, FinalizeNamesWhatIsWrong) {
  const Mesh mesh = cube(1);
  Model good = with_material();
  add_solid(good, "cube", mesh.nodes, mesh.tets, 0);
  add_collider(good, "floor", square_nodes, square, 0, {});
  finalize(good);
  const auto broken = [&](auto&& change) {
    Model model = good;
    change(model);
    return error_of([&] { finalize(model); });
  };
  EXPECT_NE(broken([](Model& m) { m.objects[0].material = 3; }).find("no material 3"), std::string::npos);
  EXPECT_NE(broken([](Model& m) { m.materials[0].poisson = 0.6; }).find("poisson"), std::string::npos);
  EXPECT_NE(broken([](Model& m) { m.velocities[2][0] = std::nan(""); }).find("'cube': node 2"),
            std::string::npos);
  EXPECT_NE(broken([](Model& m) { m.scripted.clear(); }).find("'floor'"), std::string::npos);
  EXPECT_NE(broken([](Model& m) { m.scripted.push_back(m.scripted[0]); }).find("two scripts"),
            std::string::npos);
  EXPECT_NE(broken([](Model& m) { m.scripted[0].nodes.push_back(77); }).find("no node 77"),
            std::string::npos);
  EXPECT_NE(broken([](Model& m) { m.scripted[0].begin = 1; }).find("acts all the time"), std::string::npos);
  EXPECT_NE(broken([](Model& m) { m.scripted[0].end = 0; }).find("begin < end"), std::string::npos);
  EXPECT_NE(broken([](Model& m) {
              m.forces.push_back({{99}, {0, 1, 0}});
            }).find("force 0"),
            std::string::npos);
  EXPECT_NE(broken([](Model& m) {
              m.forces.push_back({{0}, {0, std::nan(""), 0}});
            }).find("not finite"),
            std::string::npos);
  EXPECT_NE(broken([](Model& m) {
              m.pair_friction.push_back({0, 4, 0.1});
            }).find("no material 4"),
            std::string::npos);
  EXPECT_NE(broken([](Model& m) {
              m.pair_friction.push_back({0, 0, -1});
            }).find("negative"),
            std::string::npos);
  EXPECT_NE(broken([](Model& m) {
              m.half_spaces.push_back({{0, 2, 0}, 0, 0.1});
            }).find("unit normal"),
            std::string::npos);
  EXPECT_NE(broken([](Model& m) { m.triangles[0][0] = 9; }).find("another object"), std::string::npos);
  EXPECT_NE(broken([](Model& m) {
              m.scripted[0].motion.keys = {{0, {1, 0, 0}, {0, 0, 0}}};
            }).find("time 0"),
            std::string::npos);
  EXPECT_NE(broken([](Model& m) {
              m.scripted[0].motion.keys = {{1, {}, {}}, {1, {}, {}}};
            }).find("ascending"),
            std::string::npos);
}

TEST(Model, ScriptsOfOneNodeMayFollowEachOther) {
  const Mesh mesh = cube(1);
  Model model = with_material();
  add_solid(model, "cube", mesh.nodes, mesh.tets, 0);
  model.scripted.push_back({{0, 1}, {}, 0, 1});
  model.scripted.push_back({{1}, {}, 1, 2});
  EXPECT_NO_THROW(finalize(model));
  model.scripted[1].begin = 0.5;
  EXPECT_NE(error_of([&] { finalize(model); }).find("two scripts at a time"), std::string::npos);
}

TEST(Model, PointsAndSegmentsAreColliders) {
  Model model = with_material();
  add_point_collider(model, "nail", {{0, 0, 0}, {0, 1, 0}, {0, 3, 0}}, {{1, 0}}, 0, {});
  finalize(model);
  EXPECT_EQ(model.edges, (std::vector<Vec2i>{{0, 1}}));
  EXPECT_EQ(model.surface_nodes, (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(model.objects[0].segment_end, 1);
  const auto refused = [&](const std::vector<Vec3d>& nodes, const std::vector<Vec2i>& segments) {
    return error_of([&] { add_point_collider(model, "bad", nodes, segments, 0, {}); });
  };
  EXPECT_NE(refused({}, {}).find("at least one point"), std::string::npos);
  EXPECT_NE(refused({{0, 0, 0}}, {{0, 1}}).find("segment 0"), std::string::npos);
  EXPECT_NE(refused({{0, 0, 0}, {0, 0, 0}}, {{0, 1}}).find("no length"), std::string::npos);
}

void expect_near(const Vec3d& a, const Vec3d& b, double tolerance = 1e-12) {
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(a[c], b[c], tolerance);
}

TEST(Motion, RatesActBetweenStartAndEnd) {
  Motion motion;
  EXPECT_TRUE(motion.is_static());
  motion.velocity = {1, 0, 0};
  motion.angular_velocity = {0, std::numbers::pi / 2, 0};
  motion.center = {0, 0, 1};
  motion.start = 1;
  motion.end = 3;
  EXPECT_FALSE(motion.is_static());
  const Vec3d p{2, 5, 1};  // two metres along x from the axis
  expect_near(motion.apply(p, 0), p);
  expect_near(motion.apply(p, 1), p);
  expect_near(motion.apply(p, 2), {1, 5, -1});  // a quarter turn about y takes x to -z
  expect_near(motion.apply(p, 3), {0, 5, 1});   // half a turn
  expect_near(motion.apply(p, 9), {0, 5, 1});
}

TEST(Motion, KeysInterpolateAndAddToTheRates) {
  Motion motion;
  motion.keys = {{0, {0, 0, 0}, {0, 0, 0}}, {2, {0, 4, 0}, {0, 0, 180}}, {4, {0, 4, 0}, {0, 0, 180}}};
  motion.velocity = {0, 0, 1};
  const Vec3d p{1, 0, 0};
  expect_near(motion.apply(p, 0), p);
  expect_near(motion.apply(p, 1), {0, 1 + 2, 1});
  expect_near(motion.apply(p, 2), {-1, 4, 2});
  expect_near(motion.apply(p, 3), {-1, 4, 3});
  expect_near(motion.apply(p, 10), {-1, 4, 10});
}

TEST(Motion, IsRigid) {
  Motion motion;
  motion.velocity = {0.3, -1, 2};
  motion.angular_velocity = {1, 2, -0.5};
  motion.center = {0.1, 0.2, 0.3};
  motion.keys = {{0, {}, {}}, {1, {0, 1, 0}, {40, -70, 10}}};
  const Vec3d p{1, 2, 3}, q{-1, 0.5, 0.25};
  for (const double t : {0.2, 0.9, 5.0})
    EXPECT_NEAR(norm(motion.apply(p, t) - motion.apply(q, t)), norm(p - q), 1e-12);
  EXPECT_NEAR(determinant(rotation_matrix({1, 2, 3})), 1, 1e-12);
}

}  // namespace
}  // namespace stickslip

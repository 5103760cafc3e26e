// Stencils of springs hold each pair of nodes once; ends of springs on objects.
#include "gpu/model/spring.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "gpu/math/corner_blocks.h"
#include "gpu/model/spring_points.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/fresh_seed.h"
#include "tests/fixtures/thin_model.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// A spring of a + b nodes, the first `shared` of which are on both sides.
Spring spring_of(int a, int b, int shared) {
  Spring spring;
  for (int c = 0; c < a; ++c) spring.a.nodes[c] = 10 + c, spring.a.weights[c] = 1.0 / a;
  for (int c = 0; c < b; ++c) spring.b.nodes[c] = c < shared ? 10 + c : 20 + c, spring.b.weights[c] = 1.0 / b;
  spring.stiffness = 1;
  return spring;
}

TEST(Spring, EachPairOfItsNodesStandsInOneStencil) {
  for (int a = 0; a <= 4; ++a)
    for (int b = 0; b <= 4; ++b)
      for (int shared = 0; shared <= std::min(a, b); ++shared) {
        const std::vector<SpringElement> elements{spring_element(spring_of(a, b, shared))};
        EXPECT_EQ(elements[0].count, a + b - shared);
        std::multiset<std::pair<int, int>> pairs;
        for (const SpringStencil& s : spring_stencils(elements)) {
          bool ended = false;
          for (int c = 0; c < 4; ++c) {
            EXPECT_FALSE(ended && s.corner[c] >= 0) << "a corner behind one that is not used";
            ended = ended || s.corner[c] < 0;
          }
          for (int row = 0; row < 4; ++row)
            for (int column = 0; column <= row; ++column)
              if ((s.owned >> static_cast<unsigned>(corner_block(row, column)) & 1U) != 0)
                pairs.insert(std::minmax(s.corner[row], s.corner[column]));
        }
        const int n = elements[0].count;
        EXPECT_EQ(pairs.size(), static_cast<std::size_t>(n * (n + 1) / 2)) << a << b << shared;
        EXPECT_EQ(std::set(pairs.begin(), pairs.end()).size(), pairs.size());
        EXPECT_TRUE(pairs.empty() || (pairs.begin()->first >= 0 && pairs.rbegin()->second < n));
      }
}

TEST(Spring, EndsAreTheNearestPointsOfObjects) {
  const unsigned seed = fixtures::fresh_seed();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-0.5, 0.5);
  Model model = fixtures::thin_model();
  fixtures::add_box(model, "box", {0.2, 0.3, 0.4}, {0, 0, 0}, 2);
  fixtures::add_rod(model, {0, 0, 0}, {1, 0, 0}, 0.4, 5, {0, 0, 0});
  finalize(model);
  for (int i = 0; i < 200; ++i) {
    const Vec3d at{number(random), number(random), number(random)};
    // Of the box: the nearest point of a convex body, or of its nearest face.
    const Vec3d half{0.1, 0.15, 0.2};
    Vec3d nearest = at;
    double inside = 1;
    int axis = 0;
    for (int k = 0; k < 3; ++k) {
      nearest[k] = std::clamp(at[k], -half[k], half[k]);
      if (half[k] - std::abs(at[k]) < inside) inside = half[k] - std::abs(at[k]), axis = k;
    }
    if (inside > 0) nearest[axis] = std::copysign(half[axis], at[axis]);
    EXPECT_NEAR(norm(start_of(model, nearest_on_object(model, model.objects[0], at)) - at),
                norm(nearest - at), 1e-12);
    const Vec3d on_rod{std::clamp(at[0], -0.2, 0.2), 0, 0};
    EXPECT_LT(norm(start_of(model, nearest_on_object(model, model.objects[1], at)) - on_rod), 1e-12);
    // Carried by a tet: the same place at the start, and affine maps of the solid carry it.
    const ConstraintPoint carried = carried_by_tet(model, model.objects[0], nearest, at);
    EXPECT_LT(norm(start_of(model, carried) - at), 1e-12);
    double sum = 0;
    for (int c = 0; c < 4; ++c) sum += carried.weights[c];
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Spring, GroupsAreWhatSpringsJoin) {
  Model model = fixtures::thin_model();
  for (int i = 0; i < 6; ++i)
    fixtures::add_box(model, "box" + std::to_string(i), {0.1, 0.1, 0.1}, {double(i), 0, 0}, 1);
  const auto join = [&](int a, int b) {
    Spring& spring = model.springs.emplace_back();
    spring.a.nodes[0] = model.objects[static_cast<std::size_t>(a)].node_begin;
    if (b >= 0) spring.b.nodes[0] = model.objects[static_cast<std::size_t>(b)].node_begin + 1;
  };
  EXPECT_EQ(spring_groups(model), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
  join(4, 2);
  join(3, -1);
  join(5, 1);
  join(1, 4);
  join(2, 2);
  EXPECT_EQ(spring_groups(model), (std::vector<std::int32_t>{0, 1, 1, 3, 1, 1}));
  EXPECT_EQ(tied_to_world(model), (std::vector<std::uint8_t>{0, 0, 0, 1, 0, 0}));
}

TEST(Spring, FaultsAreNamed) {
  const auto refusal = [](const Spring& spring, bool affine = false) {
    Model model = fixtures::thin_model();
    fixtures::add_box(model, "box", {0.2, 0.3, 0.4}, {0, 0, 0}, 1, 0, {0, 0, 0},
                      affine ? fixtures::BoxBody::affine : fixtures::BoxBody::deformable);
    model.springs.push_back(spring);
    try {
      finalize(model);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Spring spring;
  spring.name = "rubber";
  spring.a.nodes[0] = 0;
  spring.a.weights[0] = 1;
  spring.stiffness = 10;
  EXPECT_EQ(refusal(spring), "");
  EXPECT_NE(refusal(spring, true).find("'box' is not deformable"), std::string::npos);
  for (const double bad : {-1.0, 0.0, std::nan("")}) {
    Spring other = spring;
    other.stiffness = bad;
    EXPECT_NE(refusal(other).find("'rubber': its stiffness"), std::string::npos);
    other = spring;
    other.length = bad == 0 ? INFINITY : bad;
    EXPECT_NE(refusal(other).find("its length"), std::string::npos);
  }
  spring.b.nodes[0] = 1000;
  EXPECT_NE(refusal(spring).find("there is no node 1000"), std::string::npos);
}

}  // namespace
}  // namespace stickslip

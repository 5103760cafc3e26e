#include "gpu/model/element_group.h"

#include <gtest/gtest.h>

#include "gpu/model/affine.h"
#include "tests/fixtures/box_model.h"

namespace stickslip {
namespace {

TEST(ElementGroups, ASolidHasItsTetsAnAffineBodyOneControlTetAColliderNothing) {
  Model model;
  fixtures::add_box(model, "stiff", {0.3, 0.1, 0.2}, {0, 0, 0}, 2, 10, {0, 0, 0}, fixtures::Body::affine);
  fixtures::add_box(model, "soft", {0.1, 0.1, 0.1}, {1, 0, 0}, 1);
  add_collider(model, "floor", {{0, -1, 0}, {1, -1, 0}, {0, -1, 1}}, {{0, 1, 2}}, 0, {});
  const Object &stiff = model.objects[0], &soft = model.objects[1], &floor = model.objects[2];
  EXPECT_TRUE(stiff.is_solid() && stiff.is_affine() && !stiff.is_deformable() && !stiff.is_collider());
  EXPECT_TRUE(soft.is_solid() && soft.is_deformable() && !soft.is_affine() && !soft.is_collider());
  EXPECT_TRUE(floor.is_collider() && !floor.is_solid() && !floor.is_deformable());

  const std::vector<ElementGroup> groups = element_groups(model);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].kind, ElementKind::control_tet);
  ASSERT_EQ(groups[0].stencils.size(), 1U);
  EXPECT_EQ(groups[0].stencils[0], control_tet(stiff));
  EXPECT_NEAR(groups[0].volume, 0.3 * 0.1 * 0.2, 1e-15);
  EXPECT_EQ(groups[1].kind, ElementKind::tet);
  EXPECT_EQ(groups[1].object, 1);
  EXPECT_EQ(groups[1].stencils.size(), tets_of(model, soft).size());
  EXPECT_EQ(groups[1].stencils[0], tets_of(model, soft)[0]);
}

TEST(ElementGroups, NodeVolumesAddUpToTheSolid) {
  Model model;
  fixtures::add_box(model, "a", {0.3, 0.1, 0.2}, {0, 0, 0}, 2);
  fixtures::add_box(model, "b", {0.1, 0.1, 0.1}, {1, 0, 0}, 3);
  const Object& b = model.objects[1];
  const std::vector<double> volumes = node_volumes(model, b);
  ASSERT_EQ(volumes.size(), static_cast<std::size_t>(b.node_end - b.node_begin));
  double sum = 0;
  for (const double v : volumes) {
    EXPECT_GT(v, 0);
    sum += v;
  }
  EXPECT_NEAR(sum, 1e-3, 1e-17);
  EXPECT_NEAR(solid_volume(model, b), 1e-3, 1e-17);
  EXPECT_EQ(triangles_of(model, b).size(), static_cast<std::size_t>(12 * 9));
}

}  // namespace
}  // namespace stickslip

// Lines, hits and drags of the gizmo.
#include "app/viewer/gizmo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

namespace stickslip {
namespace {

using Vec2f = Vec<float, 2>;

GizmoView view_from(const Vec3f& eye, const Vec3f& target = {0, 0, 0}) {
  GizmoView view;
  view.camera = Camera::look_at(eye, target, 40);
  view.width = 800;
  view.height = 600;
  return view;
}

Vec2f project(const GizmoView& view, const Vec3f& point) {
  const Vec3f at = view.camera.project(point, view.width, view.height);
  return {at[0], at[1]};
}

std::set<GizmoPart> shown_parts(const GizmoView& view) {
  std::set<GizmoPart> parts;
  for (const GizmoStroke& stroke : gizmo_strokes(view)) parts.insert(stroke.part);
  return parts;
}

TEST(Gizmo, PartsHaveAKindAndAnAxis) {
  EXPECT_EQ(kind_of(GizmoPart::none), GizmoKind::none);
  EXPECT_EQ(kind_of(GizmoPart::move_z), GizmoKind::axis);
  EXPECT_EQ(kind_of(GizmoPart::move_yz), GizmoKind::plane);
  EXPECT_EQ(kind_of(GizmoPart::turn_x), GizmoKind::ring);
  EXPECT_EQ(axis_of(GizmoPart::move_y), 1);
  EXPECT_EQ(axis_of(GizmoPart::move_zx), 1) << "its normal";
  EXPECT_EQ(axis_of(GizmoPart::turn_z), 2);
}

TEST(Gizmo, IsAsLargeFromAnyDistance) {
  for (const float distance : {1.f, 4.f, 100.f}) {
    GizmoView view = view_from({0, 0, distance});
    const float size = gizmo_size(view);
    EXPECT_NEAR(norm(project(view, {size, 0, 0}) - project(view, {0, 0, 0})), view.pixels, 0.1f) << distance;
  }
  EXPECT_EQ(gizmo_size(view_from({0, 0, 1}, {0, 0, 2})), 0) << "behind the eye";
  EXPECT_TRUE(gizmo_strokes(view_from({0, 0, 1}, {0, 0, 2})).empty());
}

TEST(Gizmo, AllPartsAreSeenFromACorner) {
  const GizmoView view = view_from({3, 2.5f, 3.5f});
  EXPECT_EQ(shown_parts(view).size(), 9u);
  const float size = gizmo_size(view);
  EXPECT_EQ(gizmo_part_at(view, project(view, {0.95f * size, 0, 0})), GizmoPart::move_x);
  EXPECT_EQ(gizmo_part_at(view, project(view, {0, 0.95f * size, 0})), GizmoPart::move_y);
  EXPECT_EQ(gizmo_part_at(view, project(view, {0, 0, 0.95f * size})), GizmoPart::move_z);
  EXPECT_EQ(gizmo_part_at(view, project(view, {0.39f * size, 0.39f * size, 0})), GizmoPart::move_xy);
  EXPECT_EQ(gizmo_part_at(view, project(view, {0, 0.39f * size, 0.39f * size})), GizmoPart::move_yz);
  EXPECT_EQ(gizmo_part_at(view, project(view, {0.39f * size, 0, 0.39f * size})), GizmoPart::move_zx);
  const float ring = 0.8f * size / std::numbers::sqrt2_v<float>;
  EXPECT_EQ(gizmo_part_at(view, project(view, {ring, ring, 0})), GizmoPart::turn_z);
  EXPECT_EQ(gizmo_part_at(view, project(view, {0, ring, ring})), GizmoPart::turn_x);
  EXPECT_EQ(gizmo_part_at(view, project(view, {ring, 0, ring})), GizmoPart::turn_y);
  EXPECT_EQ(gizmo_part_at(view, {2, 2}), GizmoPart::none);
  EXPECT_NE(gizmo_part_at(view, project(view, {-ring, -ring, 0})), GizmoPart::turn_z)
      << "the far half of a ring is hidden";
}

TEST(Gizmo, PartsThatPointAtTheEyeCannotBeDragged) {
  const GizmoView view = view_from({0, 0, 4});
  const std::set<GizmoPart> parts = shown_parts(view);
  EXPECT_EQ(parts, (std::set{GizmoPart::move_x, GizmoPart::move_y, GizmoPart::move_xy, GizmoPart::turn_x,
                             GizmoPart::turn_y, GizmoPart::turn_z}));
  // The whole ring that faces the eye can be held, and of the others the lines that they are.
  const float ring = 0.8f * gizmo_size(view);
  EXPECT_EQ(gizmo_part_at(view, project(view, {-0.6f * ring, -0.8f * ring, 0})), GizmoPart::turn_z);
}

/// The point under the pointer stays under it, whatever the perspective.
TEST(Gizmo, AnAxisFollowsThePointer) {
  for (const Vec3f eye : {Vec3f{1, 0.8f, 1.2f}, Vec3f{-0.5f, 3, 2}, Vec3f{0.4f, 0.3f, 3}}) {
    GizmoView view = view_from(eye, {0.1f, 0.2f, 0});
    view.origin = {0.3f, 0.1f, -0.2f};
    for (int axis = 0; axis < 3; ++axis) {
      Vec3f along{0, 0, 0};
      along[axis] = 1;
      const auto part = static_cast<GizmoPart>(static_cast<int>(GizmoPart::move_x) + axis);
      GizmoDrag drag(view, part, project(view, view.origin + 0.1f * along));
      for (const float to : {0.15f, 0.3f, -0.2f}) {
        drag.move(view, project(view, view.origin + to * along));
        const GizmoChange change = drag.change();
        EXPECT_NEAR(change.shift[axis], to - 0.1, 1e-3) << "axis " << axis;
        EXPECT_EQ(change.shift[(axis + 1) % 3], 0);
        EXPECT_EQ(norm(change.turn), 0);
      }
    }
  }
}

TEST(Gizmo, APlaneFollowsThePointer) {
  GizmoView view = view_from({1, 0.8f, 1.2f});
  view.origin = {0.1f, 0, 0.1f};
  GizmoDrag drag(view, GizmoPart::move_zx, project(view, {0.2f, 0, 0.2f}));
  drag.move(view, project(view, {0.5f, 0, -0.3f}));
  EXPECT_NEAR(drag.change().shift[0], 0.3, 1e-3);
  EXPECT_NEAR(drag.change().shift[2], -0.5, 1e-3);
  EXPECT_EQ(drag.change().shift[1], 0);
  // Above the horizon the ray hits nothing: the last place stays.
  drag.move(view, {400, -5000});
  EXPECT_NEAR(drag.change().shift[0], 0.3, 1e-3);
}

TEST(Gizmo, ARingTurnsWithThePointer) {
  const GizmoView view = view_from({1.5f, 2, 2.5f});
  const float radius = 0.8f * gizmo_size(view);
  for (int axis = 0; axis < 3; ++axis) {
    const auto part = static_cast<GizmoPart>(static_cast<int>(GizmoPart::turn_x) + axis);
    const auto at = [&](double degrees) {
      const auto angle = static_cast<float>(std::numbers::pi / 180 * degrees);
      Vec3f point{0, 0, 0};
      point[(axis + 1) % 3] = radius * std::cos(angle);
      point[(axis + 2) % 3] = radius * std::sin(angle);
      return project(view, point);
    };
    GizmoDrag drag(view, part, at(10));
    for (int degrees = 20; degrees <= 400; degrees += 10) drag.move(view, at(degrees));
    EXPECT_NEAR(drag.change().turn[axis], 390, 0.1) << "it goes on after half a turn and a whole one";
    EXPECT_EQ(norm(drag.change().shift), 0);
  }
}

TEST(Gizmo, ARingSeenFromItsEdgeTurnsByItsNearSide) {
  const GizmoView view = view_from({0, 0, 4});
  const float radius = 0.8f * gizmo_size(view);
  GizmoDrag drag(view, GizmoPart::turn_y, project(view, {0, 0, radius}));
  // A turn about y moves the near side towards +x.
  const float angle = 0.2f;
  drag.move(view, project(view, {radius * angle, 0, radius}));
  EXPECT_NEAR(drag.change().turn[1], 180 / std::numbers::pi * 0.2, 0.2);
  drag.move(view, project(view, {radius * angle, 0.3f, radius}));
  EXPECT_NEAR(drag.change().turn[1], 180 / std::numbers::pi * 0.2, 0.2) << "only along the line that it is";
}

TEST(Gizmo, ChangesSnapToSteps) {
  const GizmoView view = view_from({1, 0.8f, 1.2f});
  GizmoDrag drag(view, GizmoPart::move_x, project(view, {0, 0, 0}));
  drag.move(view, project(view, {0.23f, 0, 0}));
  EXPECT_NEAR(drag.change({0.05, 15}).shift[0], 0.25, 1e-12);
  EXPECT_NEAR(drag.change().shift[0], 0.23, 1e-3);
  EXPECT_TRUE(drag.change({10, 15}).is_none());
  EXPECT_NEAR(snap_length(1), 0.05, 1e-12);
  EXPECT_NEAR(snap_length(0.5), 0.02, 1e-12);
  EXPECT_NEAR(snap_length(30), 1, 1e-12);
  EXPECT_GT(snap_length(0), 0);
}

TEST(Gizmo, ARayAlongTheAxisChangesNothing) {
  GizmoView view = view_from({0, 0, 4});
  GizmoDrag drag(view, GizmoPart::move_z, {400, 300});
  drag.move(view, {400, 300});
  EXPECT_TRUE(drag.change().is_none());
  // Near the vanishing point of an axis the change stays finite.
  view = view_from({2, 0.5f, 0.3f});
  GizmoDrag along(view, GizmoPart::move_x, project(view, {0.1f, 0, 0}));
  for (int x = 0; x < 800; x += 7)
    for (int y = 0; y < 600; y += 7) {
      along.move(view, {static_cast<float>(x), static_cast<float>(y)});
      ASSERT_LT(std::abs(along.change().shift[0]), 300);
    }
}

}  // namespace
}  // namespace stickslip

#include "app/viewer/camera_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/app/rigid_scene.h"

namespace stickslip {
namespace {

class CameraFit : public ::testing::Test {
 protected:
  CameraFit() {
    for (const auto& x : scene_.model.positions) positions_.push_back(x.cast<float>());
  }
  Scene scene_ = test::two_tets("a");  // height: 0 to 6 m
  std::vector<Vec3f> positions_;
  ClearArea area_{1280, 720, 300, 980, 690};
};

TEST_F(CameraFit, BacksOffUntilTheSolidsAreBetweenThePanels) {
  Camera camera = Camera::look_at({1, 3, 5}, {0.5f, 3, 0}, 40);
  const Vec3f target = camera.target;
  ASSERT_FALSE(shows_solids(camera, scene_.model, positions_, area_));
  back_off(camera, scene_.model, positions_, area_);
  EXPECT_TRUE(shows_solids(camera, scene_.model, positions_, area_));
  EXPECT_EQ(camera.target, target);
  camera.distance /= 1.1f;
  EXPECT_FALSE(shows_solids(camera, scene_.model, positions_, area_)) << "no further than needed";
}

/// What is at the target is seen in the middle of what the lab leaves free, and as much of the scene as
/// before.
TEST_F(CameraFit, MovesUpWhereSomethingCoversTheBottom) {
  Camera camera = Camera::look_at({1, 3, 30}, {0.5f, 3, 0}, 40);
  const Vec3f before = camera.project(camera.target, 1280, 720);
  EXPECT_NEAR(before[1], 360, 0.01);
  camera.covered = 0.4f;
  const Vec3f after = camera.project(camera.target, 1280, 720);
  EXPECT_NEAR(after[0], before[0], 0.01);
  EXPECT_NEAR(after[1], 216, 0.01) << "720 pixels, of which 288 are covered";
  const float top = std::tan(20 * 3.14159265f / 180) * camera.distance;
  EXPECT_NEAR(camera.project(camera.target + top * camera.up(), 1280, 720)[1], 0, 0.1);
  EXPECT_NEAR(camera.project(camera.target - top * camera.up(), 1280, 720)[1], 432, 0.1);
}

TEST_F(CameraFit, SeesRigidBodiesThatMove) {
  const Scene rigid = test::rigid_scene("r");  // up to 2.25 m high, with a wall at x = 3
  std::vector<Vec3f> positions;
  for (const auto& x : rigid.model.positions) positions.push_back(x.cast<float>());
  Camera camera = Camera::look_at({0, 1, 3}, {0, 1, 0}, 40);
  EXPECT_FALSE(shows_solids(camera, rigid.model, positions, area_));
  back_off(camera, rigid.model, positions, area_);
  EXPECT_TRUE(shows_solids(camera, rigid.model, positions, area_));
}

TEST_F(CameraFit, LeavesAGoodViewAlone) {
  Camera camera = Camera::look_at({1, 3, 30}, {0.5f, 3, 0}, 40);
  const float distance = camera.distance;
  back_off(camera, scene_.model, positions_, area_);
  EXPECT_EQ(camera.distance, distance);
}

TEST_F(CameraFit, GivesUpOnWhatIsBehindTheScenesView) {
  Camera camera = Camera::look_at({50, 3, 5}, {50, 3, 0}, 40);
  const float distance = camera.distance;
  back_off(camera, scene_.model, positions_, area_);
  EXPECT_LE(camera.distance, 3.3f * distance);
}

TEST(CameraGround, TheEyeStaysAboveTheGround) {
  Camera camera = Camera::look_at({0, 1, 4}, {0, 1, 0}, 40);
  camera.pitch = -0.5f;  // the eye is at 1 - 4 sin(0.5) < 0
  camera.keep_above(0);
  EXPECT_NEAR(camera.eye()[1], 0.02f * camera.distance, 1e-5f);
  EXPECT_EQ(camera.target, (Vec3f{0, 1, 0}));
  const Camera before = camera;
  camera.keep_above(0);
  EXPECT_NEAR(camera.pitch, before.pitch, 1e-6f);
  camera.target = {0, -9, 0};  // deeper than the camera's distance
  camera.keep_above(0);
  EXPECT_NEAR(camera.eye()[1], 0.02f * camera.distance, 1e-4f);
  camera = Camera::look_at({0, 3, 4}, {0, 1, 0}, 40);
  const float pitch = camera.pitch;
  camera.keep_above(0);
  EXPECT_EQ(camera.pitch, pitch);

  Model model;
  EXPECT_FALSE(ground_height(model));
  model.half_spaces.resize(3);
  model.half_spaces[0].normal = {1, 0, 0};
  model.half_spaces[1].offset = -2;
  model.half_spaces[2].offset = -1;
  EXPECT_EQ(ground_height(model), -1.0f);
}

TEST(FollowingCameraTest, KeepsItsOffsetToTheObjectAndTheUsersChanges) {
  Camera camera = Camera::look_at({1, 3, 5}, {0, 3, 0}, 40);
  const Vec3f eye = camera.eye();
  FollowingCamera following;
  following.follow(camera, 2, {7, 0, 0});
  EXPECT_EQ(camera.eye(), eye) << "it stays where it is at the start";
  following.follow(camera, 2, {8, 0.5f, 0});
  EXPECT_LT(norm(camera.eye() - eye - Vec3f{1, 0.5f, 0}), 1e-5f);
  camera.orbit(30, 10, 720);
  const Vec3f offset = camera.eye() - Vec3f{8, 0.5f, 0};
  following.follow(camera, 2, {9, 2, 1});
  EXPECT_LT(norm(camera.eye() - Vec3f{9, 2, 1} - offset), 1e-5f);
  const Vec3f target = camera.target;
  following.follow(camera, 3, {0, 0, 0});
  EXPECT_EQ(camera.target, target) << "another object";
  following.stop();
  following.follow(camera, 3, {5, 0, 0});
  EXPECT_EQ(camera.target, target) << "it was not followed meanwhile";
}

}  // namespace
}  // namespace stickslip

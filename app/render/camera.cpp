#include "app/render/camera.h"

#include <algorithm>
#include <cmath>
#include <glm/ext/matrix_transform.hpp>
#include <numbers>

namespace stickslip {
namespace {

constexpr float kPi = std::numbers::pi_v<float>;
constexpr float kPitchLimit = 0.495f * kPi;  // short of vertical, where yaw is undefined

float radians(float degrees) { return degrees * kPi / 180; }
glm::vec3 to_glm(const Vec3f& v) { return {v[0], v[1], v[2]}; }

}  // namespace

Camera Camera::look_at(const Vec3f& eye, const Vec3f& target, float fov_degrees) {
  Camera camera;
  const Vec3f offset = eye - target;
  camera.target = target;
  camera.distance = std::max(norm(offset), 1e-6f);
  camera.yaw = std::atan2(offset[0], offset[2]);
  camera.pitch =
      std::clamp(std::asin(std::clamp(offset[1] / camera.distance, -1.f, 1.f)), -kPitchLimit, kPitchLimit);
  camera.fov = fov_degrees;
  return camera;
}

Vec3f Camera::forward() const {
  return Vec3f{-std::sin(yaw) * std::cos(pitch), -std::sin(pitch), -std::cos(yaw) * std::cos(pitch)};
}
Vec3f Camera::right() const { return {std::cos(yaw), 0, -std::sin(yaw)}; }
Vec3f Camera::up() const { return cross(right(), forward()); }
Vec3f Camera::eye() const { return target - distance * forward(); }

glm::mat4 Camera::view() const { return glm::lookAt(to_glm(eye()), to_glm(target), glm::vec3(0, 1, 0)); }

float Camera::half_height() const { return widening * std::tan(0.5f * radians(fov)) / (1 - covered); }

glm::mat4 Camera::projection(float aspect) const {
  const float f = 1 / half_height();
  const float near = 0.01f * distance;
  glm::mat4 p(0);
  p[0][0] = f / aspect;
  p[1][1] = -f;
  p[2][1] = covered;  // times the depth: moves the centre up
  p[2][3] = -1;
  p[3][2] = near;
  return p;
}

void Camera::orbit(float dx, float dy, int height) {
  const float angle_per_pixel = kPi / static_cast<float>(std::max(height, 1));
  yaw = std::remainder(yaw - dx * angle_per_pixel, 2 * kPi);
  pitch = std::clamp(pitch + dy * angle_per_pixel, -kPitchLimit, kPitchLimit);
}

void Camera::turn_to(float new_yaw, float new_pitch) {
  yaw = std::remainder(new_yaw, 2 * kPi);
  pitch = std::clamp(new_pitch, -kPitchLimit, kPitchLimit);
}

void Camera::pan(float dx, float dy, int height) {
  const float metres_per_pixel = 2 * distance * half_height() / static_cast<float>(std::max(height, 1));
  target += metres_per_pixel * (dy * up() - dx * right());
}

void Camera::zoom(float notches) { distance = std::clamp(distance * std::pow(0.9f, notches), 1e-4f, 1e5f); }

void Camera::keep_above(float height) {
  const float lowest = height + 0.02f * distance;  // the near plane stays above the ground
  const float highest = std::sin(kPitchLimit);
  const float needed = (lowest - target[1]) / distance;
  if (needed > highest) target[1] = lowest - highest * distance;
  pitch = std::max(pitch, std::asin(std::clamp(needed, -highest, highest)));
}

void Camera::frame(const Bounds& bounds, float aspect) {
  const float half = 0.5f * radians(fov);
  const float narrowest = std::min(half, std::atan(std::tan(half) * aspect));
  constexpr float kMargin = 1.08f;
  target = bounds.center();
  distance = kMargin * std::max(bounds.radius(), 1e-4f) / std::sin(narrowest);
}

Ray Camera::ray(float x, float y, int width, int height) const {
  const float scale = 2 * half_height() / static_cast<float>(height);
  const float across = (x - 0.5f * static_cast<float>(width)) * scale;
  const float upward = (0.5f * (1 - covered) * static_cast<float>(height) - y) * scale;
  return {eye(), normalized(forward() + across * right() + upward * up())};
}

Vec3f Camera::project(const Vec3f& point, int width, int height) const {
  const Vec3f offset = point - eye();
  const float depth = dot(offset, forward());
  const float scale = 0.5f * static_cast<float>(height) / (half_height() * depth);
  return {0.5f * static_cast<float>(width) + scale * dot(offset, right()),
          0.5f * (1 - covered) * static_cast<float>(height) - scale * dot(offset, up()), depth};
}

}  // namespace stickslip

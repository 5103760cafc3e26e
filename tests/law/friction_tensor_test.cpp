// Friction tensors: the ellipses that stand for them, by their definitions and by brute force.
#include "gpu/law/friction_tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace stickslip {
namespace {

using Vec2d = Vec<double, 2>;

Vec2d turned(double angle) { return {std::cos(angle), std::sin(angle)}; }

/// With a positive definite symmetric part.
Mat2d random_tensor(std::mt19937& rng) {
  std::uniform_real_distribution<double> size(0.05, 1.5), skew(-1, 1), angle(-4, 4);
  const double a = angle(rng);
  return surface_tensor(size(rng), size(rng), skew(rng), std::cos(a), std::sin(a));
}

double form(const Mat2d& c, const Vec2d& x) { return dot(x, c * x); }

/// R Q R' written out with matrices.
TEST(FrictionTensor, OfASurfaceIsThatOfItsGrainTurned) {
  for (const double angle : {0.0, 0.4, 2.0, -1.1}) {
    Mat2d turn, own;
    turn(0, 0) = turn(1, 1) = std::cos(angle);
    turn(1, 0) = std::sin(angle);
    turn(0, 1) = -std::sin(angle);
    own(0, 0) = 0.3;
    own(1, 1) = 0.7;
    own(0, 1) = -0.2;
    own(1, 0) = 0.2;
    const Mat2d want = turn * own * turn.transposed(),
                got = surface_tensor(0.3, 0.7, 0.2, std::cos(angle), std::sin(angle));
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) EXPECT_NEAR(got(i, j), want(i, j), 1e-15);
  }
}

// [Course Eq.323, 324]: the forces -L d of all directions lie on the ellipse, and have the image -mu d.
TEST(FrictionTensor, SlidingForcesLieOnTheStickingEllipse) {
  std::mt19937 rng(3);
  for (int trial = 0; trial < 50; ++trial) {
    const Mat2d l = random_tensor(rng), c = sticking_ellipse(l);
    for (int k = 0; k < 12; ++k) {
      const Vec2d d = turned(k), f = -(l * d);
      EXPECT_NEAR(form(c, f), 1, 1e-10);
      EXPECT_LT(norm(coulomb_image(l, f) + mean_friction(l) * d), 1e-12);
    }
  }
}

TEST(FrictionTensor, EllipsesHaveTheirAxes) {
  std::mt19937 rng(5);
  for (int trial = 0; trial < 50; ++trial) {
    const Mat2d c = sticking_ellipse(random_tensor(rng));
    const FrictionEllipse e = ellipse_of(c);
    const Vec2d first{e.cosine, e.sine}, second{-e.sine, e.cosine};
    EXPECT_NEAR(form(c, e.mu1 * first), 1, 1e-9);
    EXPECT_NEAR(form(c, e.mu2 * second), 1, 1e-9);
    EXPECT_NEAR(dot(first, c * second), 0, 1e-9 * c(0, 0));
  }
  const FrictionEllipse circle = ellipse_of(sticking_ellipse(surface_tensor(0.4, 0.4, 0, 1, 0)));
  EXPECT_DOUBLE_EQ(circle.mu1, 0.4);
  EXPECT_DOUBLE_EQ(circle.mu2, 0.4);
}

/// By brute force over the ellipse: of all its points -L d has the largest dissipation for slip along d.
TEST(FrictionTensor, TheEllipseOfADirectionAgreesWithTheTensorThere) {
  std::mt19937 rng(7);
  for (int trial = 0; trial < 30; ++trial) {
    const Mat2d l = random_tensor(rng);
    const Vec2d d = turned(0.7 * trial), force = -(l * d);
    const Mat2d c = sliding_ellipse(l, d);
    EXPECT_NEAR(form(c, force), 1, 1e-9);
    const FrictionEllipse e = ellipse_of(c);
    ASSERT_GT(e.mu1, 0);
    ASSERT_GT(e.mu2, 0);
    double best = 0;
    Vec2d at{0, 0};
    constexpr int kPoints = 20000;
    for (int k = 0; k < kPoints; ++k) {
      const double a = 2 * std::numbers::pi * k / kPoints, x = e.mu1 * std::cos(a), y = e.mu2 * std::sin(a);
      const Vec2d f{e.cosine * x - e.sine * y, e.sine * x + e.cosine * y};
      if (-dot(f, d) > best) {
        best = -dot(f, d);
        at = f;
      }
    }
    EXPECT_LT(norm(at - force), 1e-3 * (e.mu1 + e.mu2));
    EXPECT_LE(-dot(force, d), best * (1 + 1e-7));
    EXPECT_GE(-dot(force, d), best * (1 - 1e-6));
  }
}

// [Course Eq.332]: only where d is an eigenvector of L^-T is the law of the tensor that of its own ellipse.
TEST(FrictionTensor, AlongAnAxisOfASymmetricTensorBothEllipsesAgree) {
  const Mat2d l = surface_tensor(0.2, 0.7, 0, std::cos(0.3), std::sin(0.3)), c = sticking_ellipse(l);
  const auto difference = [&](double angle) {
    const Mat2d other = sliding_ellipse(l, turned(angle));
    return std::fabs(other(0, 0) - c(0, 0)) + std::fabs(other(0, 1) - c(0, 1)) +
           std::fabs(other(1, 1) - c(1, 1));
  };
  EXPECT_LT(difference(0.3), 1e-12);
  EXPECT_LT(difference(0.3 + std::numbers::pi / 2), 1e-12);
  EXPECT_GT(difference(0.9), 0.1);
}

}  // namespace
}  // namespace stickslip

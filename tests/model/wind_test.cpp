#include "gpu/model/wind.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

Params windy(double heading, double rise) {
  Params params;
  params.air_density = 1.2;
  params.wind_speed = 5;
  params.wind_heading = heading;
  params.wind_rise = rise;
  return params;
}

TEST(Wind, BlowsWhereItsAnglesSay) {
  const Vec3d x = wind_at(windy(0, 0), 1)({3, 4, 5}), back = wind_at(windy(90, 0), 1)({3, 4, 5}),
              up = wind_at(windy(17, 90), 1)({3, 4, 5});
  EXPECT_LT(norm(x - Vec3d{5, 0, 0}), 1e-12);
  EXPECT_LT(norm(back - Vec3d{0, 0, -5}), 1e-12);
  EXPECT_LT(norm(up - Vec3d{0, 5, 0}), 1e-12);
}

TEST(Wind, NeedsDensity) {
  Params params = windy(0, 0);
  EXPECT_TRUE(wind_at(params, 0).blows());
  params.air_density = 0;
  EXPECT_FALSE(wind_at(params, 0).blows());
  EXPECT_FALSE(Wind{}.blows());
}

// Gusts change the wind by at most the given share along the mean and across, and have no mean of their own.
TEST(Wind, GustsAreBoundedAndHaveNoMean) {
  Params params = windy(30, 0);
  params.gust = 0.4;
  params.gust_period = 1.5;
  const Vec3d mean = wind_at(windy(30, 0), 0)({0, 0, 0}), along = (1 / 5.0) * mean;
  Vec3d sum{0, 0, 0};
  double most = 0;
  const int n = 20000;
  for (int i = 0; i < n; ++i) {
    const Vec3d change = wind_at(params, 0.05 * i)({0.3, 0, 0}) - mean;
    EXPECT_EQ(change[1], 0);
    const double a = dot(change, along), c = norm(change - a * along);
    most = std::max({most, std::abs(a), c});
    sum += change;
  }
  EXPECT_LE(most, 0.4 * 5 + 1e-12);
  EXPECT_GT(most, 0.3 * 5);
  EXPECT_LT(norm(sum) / n, 0.02);
}

// What blows at a place now is a second later where the mean wind has carried it.
TEST(Wind, CarriesGustsAlong) {
  Params params = windy(-20, 10);
  params.gust = 0.5;
  const Vec3d mean = wind_at(windy(-20, 10), 0)({0, 0, 0}), place{1, 2, 3};
  EXPECT_LT(norm(wind_at(params, 2)(place) - wind_at(params, 3)(place + mean)), 1e-9);
  EXPECT_GT(norm(wind_at(params, 2)(place) - wind_at(params, 2)(place + mean)), 1e-3);
}

}  // namespace
}  // namespace stickslip

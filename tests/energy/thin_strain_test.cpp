// Strains of cloth and rods against closed forms.
#include "gpu/energy/thin_strain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "gpu/model/rod.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/sewn_model.h"

namespace stickslip {
namespace {

using fixtures::Weave;
using Vec3d = Vec<double, 3>;
using Map = std::function<Vec3d(const Vec3d&)>;

constexpr double kLength = 0.4, kWidth = 0.3, kDiameter = 0.004;

std::vector<Vec<float, 3>> as_floats(const std::vector<Vec3d>& points) {
  std::vector<Vec<float, 3>> out;
  out.reserve(points.size());
  for (const Vec3d& p : points) out.push_back(p.cast<float>());
  return out;
}

std::vector<float> strain_of(const Model& model, ThinMeasure what, const std::vector<Vec3d>& at) {
  return ThinStrain(model).evaluate(what, as_floats(at));
}

std::vector<float> stress_of(const Model& model, const std::vector<Vec3d>& at) {
  return ThinStrain(model).evaluate(ThinMeasure::stress, as_floats(at), model.materials);
}

Model sheet(Weave weave, int cells = 16, const Vec3d& warp = {1, 0, 0}) {
  return fixtures::cloth_model(fixtures::sheet_mesh(weave, kLength, kWidth, cells, 3 * cells / 4), Material{},
                               0.001, warp);
}

std::vector<Vec3d> mapped(const Model& model, const Map& map) {
  std::vector<Vec3d> at;
  for (const Vec3d& x : model.rest_positions) at.push_back(map(x));
  return at;
}

/// The extreme values at nodes that are farther from the edges of the sheet than a few cells.
struct Inner {
  float low = 1e30F, high = -1;
  Inner(const Model& model, const std::vector<float>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Vec3d& x = model.rest_positions[i];
      if (x[0] < 0.2 * kLength || x[0] > 0.8 * kLength || x[1] < 0.2 * kWidth || x[1] > 0.8 * kWidth)
        continue;
      low = std::min(low, values[i]);
      high = std::max(high, values[i]);
    }
  }
};

TEST(ThinStrain, ClothThatOnlyMovesHasNone) {
  const Model model = sheet(Weave::irregular);
  const double c = std::cos(0.7), s = std::sin(0.7);
  const auto at = mapped(model, [&](const Vec3d& x) {
    return Vec3d{c * x[0] - s * x[2] + 1, x[1] - 2, s * x[0] + c * x[2]};
  });
  for (const float value : strain_of(model, ThinMeasure::stretch, at)) EXPECT_NEAR(value, 0, 5e-5);
  for (const float value : strain_of(model, ThinMeasure::bending, at)) EXPECT_NEAR(value, 0, 2e-2);
  for (const float value : strain_of(model, ThinMeasure::twist, at)) EXPECT_LT(value, 0) << "cloth has none";
}

TEST(ThinStrain, OfAUniformStretchIsTheLargestPrincipalOne) {
  for (const Weave weave : fixtures::kWeaves)
    for (const double e : {-0.2, 0.01, 0.3}) {
      const Model model = sheet(weave, 8, {1, 2, 0});
      // Along an axis at 30 degrees, half as much across, and turned out of its plane.
      const double c = std::cos(std::numbers::pi / 6), s = std::sin(std::numbers::pi / 6);
      const auto at = mapped(model, [&](const Vec3d& x) {
        const double along = (1 + e) * (c * x[0] + s * x[1]), across = (1 - e / 2) * (c * x[1] - s * x[0]);
        return Vec3d{c * along - s * across, 3, s * along + c * across};
      });
      for (const float value : strain_of(model, ThinMeasure::stretch, at))
        EXPECT_NEAR(value, std::fabs(e), 1e-4);
      for (const float value : strain_of(model, ThinMeasure::bending, at)) EXPECT_NEAR(value, 0, 3e-2);
    }
}

/// Pulled along the warp, free across it: the force over the width of now is E e / (1 + e_across).
TEST(ThinStrain, StressOfAStripPulledAlongItsWarpIsYoungsModulusTimesItsStretch) {
  for (const Weave weave : fixtures::kWeaves)
    for (const double weft : {0.0, 4e5})
      for (const double e : {-0.05, 0.01, 0.2}) {
        Model model = sheet(weave, 8, {1, 2, 0});
        Material& m = model.materials[0];
        m.young = 1e6;
        m.young_weft = weft;
        m.poisson = 0.3;
        const double across = -m.poisson * std::sqrt(m.young / (weft > 0 ? weft : m.young)) * e;
        const Vec3d warp = normalized(Vec3d{1, 2, 0}), side{-warp[1], warp[0], 0};
        // Turned out of its plane, too.
        const auto at = mapped(model, [&](const Vec3d& x) {
          return (1 + e) * dot(warp, x) * Vec3d{0, 0, 1} + (1 + across) * dot(side, x) * Vec3d{0, 1, 0};
        });
        const double wanted = std::fabs(m.young * e / (1 + across));
        for (const float value : stress_of(model, at)) EXPECT_NEAR(value, wanted, 1e-3 * wanted + 60);
      }
}

/// Both principal strains are e: the stress is the same in all directions, P = E e / (1 - nu), over the width
/// of now.
TEST(ThinStrain, StressOfABlownUpSheetIsThatOfAllDirections) {
  Model model = sheet(Weave::irregular, 8);
  model.materials[0].young = 2e6;
  model.materials[0].poisson = 0.25;
  const double e = 0.1, wanted = 2e6 * e / (1 - 0.25) / (1 + e);
  const auto at = mapped(model, [&](const Vec3d& x) { return (1 + e) * x; });
  for (const float value : stress_of(model, at)) EXPECT_NEAR(value, wanted, 1e-3 * wanted);
}

/// tau = 2 G e_12 in simple shear of a small angle; von Mises' measure of it is sqrt(3) tau.
TEST(ThinStrain, StressOfAShearedSheetIsThatOfItsShearModulus) {
  Model model = sheet(Weave::alternating, 8);
  model.materials[0].young = 1e6;
  model.materials[0].shear = 3e5;
  const double angle = 0.02;
  const auto at = mapped(model, [&](const Vec3d& x) { return Vec3d{x[0] + angle * x[1], x[1], 0}; });
  const double wanted = std::sqrt(3.0) * 3e5 * angle;
  for (const float value : stress_of(model, at)) EXPECT_NEAR(value, wanted, 0.03 * wanted);
}

TEST(ThinStrain, StressNeedsTheMaterialsOfTheModel) {
  const Model model = sheet(Weave::alternating, 4);
  for (const float value : strain_of(model, ThinMeasure::stress, model.rest_positions)) EXPECT_EQ(value, -1);
}

TEST(ThinStrain, OfARolledSheetIsTheCurvatureOfTheCylinder) {
  const double radius = 0.5;
  for (const Weave weave : fixtures::kWeaves)
    for (const double turn : {0.0, 0.5}) {  // the axis of the cylinder in the plane
      const Model model = sheet(weave, 32, {2, 1, 0});
      const double c = std::cos(turn), s = std::sin(turn);
      const auto at = mapped(model, [&](const Vec3d& x) {
        const double u = c * x[0] + s * x[1], v = c * x[1] - s * x[0];
        return Vec3d{radius * std::sin(u / radius), v, radius * (1 - std::cos(u / radius))};
      });
      const Inner bending(model, strain_of(model, ThinMeasure::bending, at));
      const double slack = weave == Weave::irregular ? 0.1 : 0.04;
      EXPECT_NEAR(bending.low, 1 / radius, slack / radius);
      EXPECT_NEAR(bending.high, 1 / radius, slack / radius);
      const Inner stretch(model, strain_of(model, ThinMeasure::stretch, at));
      EXPECT_LT(stretch.high, 1e-3);
    }
}

/// w = k x y: both principal curvatures are k, of opposite signs, along the diagonals.
TEST(ThinStrain, OfASaddleIsItsPrincipalCurvature) {
  const double k = 0.2;
  const Model model = sheet(Weave::alternating, 32);
  const auto at = mapped(model, [&](const Vec3d& x) {
    return Vec3d{x[0], x[1], k * (x[0] - kLength / 2) * (x[1] - kWidth / 2)};
  });
  const Inner bending(model, strain_of(model, ThinMeasure::bending, at));
  EXPECT_NEAR(bending.low, k, 0.02 * k);
  EXPECT_NEAR(bending.high, k, 0.02 * k);
}

TEST(ThinStrain, SewnClothIsMeasuredFromItsPattern) {
  const fixtures::SewnTube fits(0.6, 0.3, 24, 8), wide(0.6, 0.3, 24, 8, 1.1);
  const double radius = 0.6 / (2 * std::numbers::pi);
  const auto strains = [](const fixtures::SewnTube& tube, ThinMeasure what) {
    const Model model = fixtures::sewn_model(tube.mesh, tube.pattern, Material{}, 0.001);
    return strain_of(model, what, model.rest_positions);
  };
  for (const float value : strains(fits, ThinMeasure::stretch)) EXPECT_NEAR(value, 0, 1e-4);
  for (const float value : strains(wide, ThinMeasure::stretch)) EXPECT_NEAR(value, 0.1, 1e-4);
  const std::vector<float> bending = strains(fits, ThinMeasure::bending);
  const float middle = bending[4 * 24 + 12];
  EXPECT_NEAR(middle, 1 / radius, 0.03 / radius) << "the panel is flat";
}

/// A rod along x of equal segments, and where its nodes and ghosts are: the ghosts turned by `twist` [rad/m].
struct Rod {
  Model model;
  std::vector<Vec2i> segments;

  explicit Rod(int count, bool bent_at_rest = false) {
    std::vector<Vec3d> nodes;
    for (int i = 0; i <= count; ++i) nodes.push_back(bent_at_rest ? on_circle(i) : Vec3d{0.02 * i, 0, 0});
    for (int i = 0; i < count; ++i) segments.push_back({i, i + 1});
    model.materials.push_back({});
    model.material_names.push_back("rod");
    add_rods(model, "rod", nodes, segments, 0, kDiameter);
    finalize(model);
  }
  static constexpr double kTurn = 0.1;  // [rad] of each segment
  /// Corners of chords as long as the straight segments.
  static Vec3d on_circle(int i) {
    const double radius = 0.01 / std::sin(kTurn / 2);
    return {radius * std::sin(kTurn * i), 1, radius * std::cos(kTurn * i)};
  }
  std::vector<Vec3d> placed(const std::function<Vec3d(int)>& node, double twist = 0) const {
    std::vector<Vec3d> nodes;
    for (std::size_t i = 0; i <= segments.size(); ++i) nodes.push_back(node(static_cast<int>(i)));
    std::vector<Vec3d> at = place_ghosts(nodes, segments, kDiameter);
    for (std::size_t g = 0; g < at.size(); ++g) {
      const Vec3d middle = 0.5 * (nodes[g] + nodes[g + 1]), axis = normalized(nodes[g + 1] - nodes[g]);
      const Vec3d arm = at[g] - middle;
      const double angle = twist * 0.02 * static_cast<double>(g);
      at[g] = middle + std::cos(angle) * arm + std::sin(angle) * cross(axis, arm);
    }
    at.insert(at.end(), nodes.begin(), nodes.end());
    return at;
  }
  /// Every node of the centreline has `wanted`, and no ghost has anything.
  void expect(ThinMeasure what, const std::vector<Vec3d>& at, double wanted, double slack) const {
    const std::vector<float> values = strain_of(model, what, at);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i < segments.size()) EXPECT_EQ(values[i], -1) << "a ghost";
      else EXPECT_NEAR(values[i], wanted, slack);
    }
  }
};

TEST(ThinStrain, OfRodsIsThatOfTheirSegmentsAndVertices) {
  const Rod rod(12);
  const double turn = Rod::kTurn, curvature = 2 * std::tan(turn / 2) / 0.02;
  const auto straight = rod.placed([](int i) { return Vec3d{0.024 * i, 2, 0}; });
  rod.expect(ThinMeasure::stretch, straight, 0.2, 1e-4);
  rod.expect(ThinMeasure::bending, straight, 0, 2e-2);
  const auto bent = rod.placed(Rod::on_circle);
  rod.expect(ThinMeasure::stretch, bent, 0, 1e-4);
  rod.expect(ThinMeasure::bending, bent, curvature, 1e-3 * curvature);
  rod.expect(ThinMeasure::twist, bent, 0, 2e-2);
  const auto wrung = rod.placed(Rod::on_circle, -7);
  rod.expect(ThinMeasure::twist, wrung, 7, 2e-2);
  // The curvature in the mean of two frames that are 7 * 0.02 rad apart.
  rod.expect(ThinMeasure::bending, wrung, curvature * std::cos(0.07), 1e-3 * curvature);
}

TEST(ThinStrain, StressOfAPulledRodIsYoungsModulusTimesItsStretch) {
  Rod rod(12);
  rod.model.materials[0].young = 3e7;
  for (const double length : {0.0202, 0.019}) {
    const auto at = rod.placed([&](int i) { return Vec3d{1, length * i, 0}; });
    const std::vector<float> values = stress_of(rod.model, at);
    const double wanted = 3e7 * std::fabs(length / 0.02 - 1);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (i < rod.segments.size()) EXPECT_EQ(values[i], -1) << "a ghost";
      else EXPECT_NEAR(values[i], wanted, 3e-3 * wanted);
  }
}

TEST(ThinStrain, RodsThatAreBentAtRestAreStrainedWhenTheyAreStraight) {
  const Rod rod(12, true);
  rod.expect(ThinMeasure::bending, rod.model.rest_positions, 0, 1e-2);
  const double curvature = 2 * std::tan(Rod::kTurn / 2) / 0.02;
  rod.expect(ThinMeasure::bending, rod.placed([](int i) {
    return Vec3d{0.02 * i, 0, 0};
  }),
             curvature, 1e-3 * curvature);
}

TEST(ThinStrain, OtherBodiesHaveNone) {
  Model model;
  fixtures::add_box(model, "soft", {0.1, 0.2, 0.1}, {0, 3, 0}, 1);
  finalize(model);
  EXPECT_TRUE(ThinStrain(model).empty());
  EXPECT_FALSE(ThinStrain(sheet(Weave::alternating)).empty());
  ThinStrain other(sheet(Weave::alternating));
  for (const float value : other.evaluate(ThinMeasure::stretch, as_floats(model.rest_positions)))
    EXPECT_EQ(value, -1) << "positions of another scene";
}

}  // namespace
}  // namespace stickslip

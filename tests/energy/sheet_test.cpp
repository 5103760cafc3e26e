#include "gpu/energy/sheet.h"

#include "gpu/energy/sheet_element.h"
#include "tests/energy/numeric.h"

namespace stickslip {
namespace {

using namespace test;
using Mat32 = Mat<Real, 3, 2>;

const SheetModuli kIsotropic = sheet_moduli(5, 0, 0.3, 0), kWoven = sheet_moduli(5, 2, 0.25, 0.4);

/// With stretches from 0.2 to 1.8 in random directions.
Mat32 random_deformation(Random& random) {
  const Real turn = random.uniform(Real(-3), Real(3)), c = std::cos(turn), s = std::sin(turn);
  const Real a = random.uniform(Real(0.2), Real(1.8)), b = random.uniform(Real(0.2), Real(1.8));
  const Mat3 r = random.rotation();
  return Mat32::from_columns(
      {a * c * r.column(0) - b * s * r.column(1), a * s * r.column(0) + b * c * r.column(1)});
}

/// F as two "positions", for the difference quotients.
struct Columns {
  Vec3 c[2];
  explicit Columns(const Mat32& f) : c{f.column(0), f.column(1)} {}
  Mat32 f() const { return Mat32::from_columns(c); }
};
Column flat(const Mat32& p) {
  const Columns c(p);
  return test::flat(c.c, 2);
}

/// d vec(P) / d vec(F), vec by columns.
Dense spatial(const SheetDerivative& d, const SheetFrame& frame) {
  Dense h = Dense::Zero(6, 6);
  const Vec3 axes[3] = {frame.r[0], frame.r[1], frame.n};
  for (int j = 0; j < 2; ++j)
    for (int l = 0; l < 2; ++l)
      for (int p = 0; p < 3; ++p)
        for (int q = 0; q < 3; ++q) {
          for (int i = 0; i < 2; ++i)
            for (int k = 0; k < 2; ++k)
              h(3 * j + p, 3 * l + q) += d.plane(2 * i + j, 2 * k + l) * axes[i][p] * axes[k][q];
          h(3 * j + p, 3 * l + q) += d.normal(j, l) * axes[2][p] * axes[2][q];
        }
  return h;
}

TEST(Sheet, FrameIsThePolarDecomposition) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 100; ++trial) {
    const Mat32 f = random_deformation(random);
    const SheetFrame frame(f);
    const Plane4 u{frame.u.xx, frame.u.xy, frame.u.xy, frame.u.yy};
    expect_near(test::dense(in_space(frame, u)), test::dense(f), kRounding);
    EXPECT_NEAR(dot(frame.r[0], frame.r[1]), 0, kRounding);
    EXPECT_NEAR(dot(frame.n, cross(f.column(0), f.column(1))), norm(cross(f.column(0), f.column(1))),
                kRounding);
    EXPECT_GT(frame.u.xx * frame.u.yy - frame.u.xy * frame.u.xy, 0);
    EXPECT_GT(frame.u.xx + frame.u.yy, 0);
  }
}

TEST(Sheet, DerivativesAgreeWithDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const SheetModuli& moduli : {kIsotropic, kWoven})
    for (int trial = 0; trial < 50; ++trial) {
      Columns x(random_deformation(random));
      const SheetFrame frame(x.f());
      const auto energy = [&] { return static_cast<double>(sheet_energy(moduli, SheetFrame(x.f()))); };
      const auto stress = [&] { return flat(sheet_piola(moduli, SheetFrame(x.f()))); };
      expect_near(stress(), difference_gradient(x.c, 2, energy), 20 * kDifferenceError);
      const Dense h = spatial(sheet_derivative(moduli, frame), frame);
      expect_near(h, difference_jacobian(x.c, 2, stress), 200 * kDifferenceError);
      const Dense spd = spatial(projected(sheet_derivative(moduli, frame)), frame);
      expect_spd(spd);
      expect_near(spd, nearest_spd(h), 100 * kRounding);
    }
}

TEST(Sheet, HasTheModuliOfTheMaterial) {
  // A strip that is free to contract has the force E (stretch - 1) along it, and contracts by nu.
  const double nu = 0.3, strain = 0.125;
  const Mat32 f{{Real(1 + strain), 0, 0, Real(1 - nu * strain), 0, 0}};
  const Mat32 p = sheet_piola(kIsotropic, SheetFrame(f));
  EXPECT_NEAR(p(0, 0), 5 * strain, kRounding);
  EXPECT_NEAR(p(1, 1), 0, kRounding);
  // Of cloth: E_warp and nu_12 = nu sqrt(E_1 / E_2), E_weft and nu_21 = nu sqrt(E_2 / E_1).
  const double ratio = std::sqrt(5.0 / 2.0);
  const Mat32 warp{{Real(1 + strain), 0, 0, Real(1 - 0.25 * ratio * strain), 0, 0}};
  const Mat32 weft{{Real(1 - 0.25 / ratio * strain), 0, 0, Real(1 + strain), 0, 0}};
  EXPECT_NEAR(sheet_piola(kWoven, SheetFrame(warp))(0, 0), 5 * strain, kRounding);
  EXPECT_NEAR(sheet_piola(kWoven, SheetFrame(warp))(1, 1), 0, kRounding);
  EXPECT_NEAR(sheet_piola(kWoven, SheetFrame(weft))(1, 1), 2 * strain, kRounding);
  EXPECT_NEAR(sheet_piola(kWoven, SheetFrame(weft))(0, 0), 0, kRounding);
  // Pure shear U_12 = g has the stress 2 G g.
  const Mat32 shear{{1, Real(strain), Real(strain), 1, 0, 0}};
  EXPECT_NEAR(sheet_piola(kWoven, SheetFrame(shear))(0, 1), 2 * 0.4 * strain, kRounding);
}

// Warp along any direction: an isotropic sheet has the same energy.
TEST(Sheet, WithoutWeftIsIsotropic) {
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const Mat32 f = random_deformation(random);
    const Real turn = random.uniform(-3, 3);
    const Mat<Real, 2> r{{std::cos(turn), -std::sin(turn), std::sin(turn), std::cos(turn)}};
    EXPECT_NEAR(sheet_energy(kIsotropic, SheetFrame(f)), sheet_energy(kIsotropic, SheetFrame(f * r)),
                5 * kRounding);
  }
}

// The force against compression grows down to a triangle without area, whose values are finite.
TEST(Sheet, ResistsCompression) {
  double last = 0;
  for (const double stretch : {0.9, 0.6, 0.3, 0.1, 1e-3, 0.0}) {
    const Mat32 f{{Real(stretch), 0, 0, 1, 0, 0}};
    const SheetFrame frame(f);
    const Mat32 p = sheet_piola(kWoven, frame);
    EXPECT_LT(p(0, 0), last) << stretch;
    last = p(0, 0);
    expect_spd(spatial(projected(sheet_derivative(kWoven, frame)), frame));
  }
  const Mat32 crushed[] = {Mat32::zero(), Mat32{{1, 1, 0, 0, 0, 0}}, Mat32{{0, 1, 0, 0, 0, 0}}};
  for (const Mat32& f : crushed) {
    const SheetFrame frame(f);
    EXPECT_TRUE(std::isfinite(sheet_energy(kWoven, frame)));
    EXPECT_TRUE(flat(sheet_piola(kWoven, frame)).allFinite());
    expect_spd(spatial(projected(sheet_derivative(kWoven, frame)), frame));
  }
}

TEST(Sheet, DampingResistsStrainRatesAlone) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 20; ++trial) {
    const Mat32 f = random_deformation(random);
    const SheetFrame frame(f);
    const Mat<Real, 4> h = strain_stiffness(kWoven, frame);
    expect_spd(test::dense(h));
    const Mat3 spin = random.matrix();
    const Mat32 turn = (spin - spin.transposed()) * f;
    const Plane3 change = strain_change(frame, in_plane(frame, turn));
    EXPECT_NEAR(std::abs(change.xx) + std::abs(change.yy) + std::abs(change.xy), 0, kRounding);
  }
  const SheetFrame rest(Mat32{{1, 0, 0, 1, 0, 0}});
  expect_near(test::dense(strain_stiffness(kWoven, rest)), test::dense(sheet_derivative(kWoven, rest).plane),
              kRounding);
}

}  // namespace
}  // namespace stickslip

// The elastic model of docs/extending.md: its row expands, and its formulas are each other's derivatives.
#include <gtest/gtest.h>

#include "gpu/energy/elasticity.h"
#include "gpu/params/params.h"
#include "tests/energy/numeric.h"

namespace stickslip {
namespace {

// clang-format off
#define EXAMPLE_MODELS(MODEL) \
  /* [row] */ \
  MODEL(saint_venant, SaintVenant) \
  /* [/row] */
// clang-format on

// [struct]
/// mu |E|^2 + lambda/2 tr(E)^2 with E = (F'F - I) / 2.
struct SaintVenant {
  static constexpr bool forbids_inversion = false, needs_svd = false;
  SS_HD static Lame lame(Real young, Real poisson) { return lame_parameters(young, poisson); }
  SS_HD static Real energy(const Mat3& f, const Vec3&, const Lame& lame) {
    const Mat3 e = Real(0.5) * (f.transposed() * f - Mat3::identity());
    return lame.mu * dot(e, e) + lame.lambda / Real(2) * trace(e) * trace(e);
  }
  SS_HD static Mat3 stress(const Mat3& f, const Svd3<Real>&, const Lame& lame) {
    const Mat3 e = Real(0.5) * (f.transposed() * f - Mat3::identity());
    return f * (Real(2) * lame.mu * e + lame.lambda * trace(e) * Mat3::identity());
  }
  /// Psi_i = s_i (mu (s_i^2 - 1) + lambda tr(E)).
  SS_HD static StressDerivative derivative(const Svd3<Real>& svd, const Lame& lame) {
    StressDerivative d{svd.u, svd.v, Mat3::zero(), Vec3::zero(), Vec3::zero()};
    const Vec3& s = svd.s;
    const Real swelling = lame.lambda * (norm2(s) - Real(3)) / Real(2);
    for (int i = 0; i < 3; ++i) {
      const int a = (i + 1) % 3, b = (i + 2) % 3;
      for (int j = 0; j < 3; ++j) d.scaling(i, j) = lame.lambda * s[i] * s[j];
      d.scaling(i, i) += lame.mu * (Real(3) * s[i] * s[i] - Real(1)) + swelling;
      d.even[i] = lame.mu * (s[a] * s[a] + s[b] * s[b] - Real(1)) + swelling;
      d.odd[i] = lame.mu * s[a] * s[b];
    }
    return d;
  }
};
// [/struct]

#define EXAMPLE_TYPE(name, Struct) using name = Struct;
EXAMPLE_MODELS(EXAMPLE_TYPE)

test::Column flattened(const Mat3& a) {
  return Eigen::Map<const Eigen::Matrix<Real, 9, 1>>(a.m).template cast<double>();
}

TEST(Extending, TheExampleModelIsAnEnergyAndItsDerivatives) {
  const auto names = elastic_model_choices();
  EXPECT_EQ(names.find("saint_venant"), std::string_view::npos)
      << "the page's example is taken: choose another";
  const Lame lame = saint_venant::lame(Real(5), Real(0.3));
  test::Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 100; ++trial) {
    Vec3 rows[3];
    const Mat3 f = random.matrix(Real(1.2));
    for (int i = 0; i < 3; ++i) rows[i] = f.row(i);
    const auto at = [&] { return Mat3::from_columns({rows[0], rows[1], rows[2]}).transposed(); };
    const auto stress = [&] { return flattened(saint_venant::stress(at(), {}, lame)); };
    const double size = 1 + stress().norm();
    test::expect_near(
        stress(), test::difference_gradient(rows, 3, [&] { return saint_venant::energy(at(), {}, lame); }),
        20 * test::kDifferenceError * size);
    test::expect_near(test::dense(dense(saint_venant::derivative(svd3(f), lame))),
                      test::difference_jacobian(rows, 3, stress), 50 * test::kDifferenceError * size);
  }
}

}  // namespace
}  // namespace stickslip

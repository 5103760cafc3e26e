#include "gpu/energy/elasticity.h"

#include "tests/energy/numeric.h"

namespace stickslip::test {
namespace {

#define STICKSLIP_MODEL(name, ...) ElasticModel::name,
constexpr ElasticModel kModels[] = {STICKSLIP_ELASTIC_MODELS(STICKSLIP_MODEL) ElasticModel::orthogonality};
#undef STICKSLIP_MODEL
constexpr Lame kLame{Real(0.7), Real(1.9)};

/// For energies that forbid inversion, difference quotients lose their digits near J = 0.
bool is_defined(ElasticModel model, const Mat3& f) {
  return !forbids_inversion(model) || determinant(f) > Real(0.2);
}

Column flattened(const Mat3& a) {
  return Eigen::Map<const Eigen::Matrix<Real, 9, 1>>(a.m).template cast<double>();
}

/// The rows of F serve as corners for the difference quotients: vec by rows.
struct Rows {
  Vec3 row[3];
  explicit Rows(const Mat3& f) {
    for (int i = 0; i < 3; ++i) row[i] = f.row(i);
  }
  Mat3 matrix() const { return Mat3::from_columns({row[0], row[1], row[2]}).transposed(); }
};

/// Away from s_1 + s_2 = 0, where the rotation of F is not unique and the corotated energies have a kink.
bool has_unique_rotation(const Mat3& f) {
  const Svd3<Real> svd = svd3(f);
  return svd.s[1] + svd.s[2] > Real(0.3);
}

TEST(Elasticity, StressAndItsDerivativeMatchFiniteDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  int inverted = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Mat3 f = random.matrix(Real(1.2));
    if (!has_unique_rotation(f)) continue;
    inverted += determinant(f) < 0;
    for (const ElasticModel model : kModels) {
      if (!is_defined(model, f)) continue;
      SCOPED_TRACE(static_cast<int>(model));
      Rows rows(f);
      const Column p = flattened(first_piola(model, f, kLame));
      expect_near(
          p, difference_gradient(rows.row, 3, [&] { return energy_density(model, rows.matrix(), kLame); }),
          2 * kDifferenceError);
      const Dense h = dense(dense(stress_derivative(model, svd3(f), kLame)));
      expect_near(h,
                  difference_jacobian(rows.row, 3,
                                      [&] { return flattened(first_piola(model, rows.matrix(), kLame)); }),
                  20 * kDifferenceError);
    }
  }
  EXPECT_GT(inverted, 5);
}

TEST(Elasticity, ProjectionIsTheNearestSpdMatrix) {
  Random random;
  SCOPED_TRACE(random.trace());
  int indefinite = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Mat3 f = random.matrix(Real(1.2));
    if (!has_unique_rotation(f)) continue;
    for (const ElasticModel model : kModels) {
      if (!is_defined(model, f)) continue;
      const Dense h = dense(dense(stress_derivative(model, svd3(f), kLame)));
      indefinite += smallest_eigenvalue(h) < 0;
      expect_near(dense(hessian_spd(model, f, kLame)), nearest_spd(h), 10 * kRounding);
    }
  }
  EXPECT_GT(indefinite, 50);
}

TEST(Elasticity, ProjectedDerivativeIsSpdAndFiniteForDegenerateDeformations) {
  Random random;
  SCOPED_TRACE(random.trace());
  const Vec3 a = random.vector(), b = random.vector();
  const Mat3 r = random.rotation();
  Mat3 reflection = Mat3::identity(), line = Mat3::zero(), opposite = Mat3::identity();
  reflection(2, 2) = -1;
  line(0, 0) = 2;
  opposite(1, 1) = Real(0.5), opposite(2, 2) = Real(-0.5);
  const Mat3 cases[] = {Mat3::zero(),
                        Mat3::identity(),
                        Real(-1) * Mat3::identity(),
                        outer(a, b),
                        reflection,
                        r * line * r,
                        r * opposite * r,
                        Real(1e-6) * r,
                        Real(50) * r,
                        outer(a, a) + outer(b, b),
                        random.matrix(Real(1e-3)),
                        random.matrix(Real(20))};
  for (const Mat3& f : cases)
    for (const ElasticModel model : kModels) {
      if (!is_defined(model, f)) continue;
      const Dense whole = dense(dense(stress_derivative(model, svd3(f), kLame)));
      expect_spd(dense(hessian_spd(model, f, kLame)), whole.allFinite() ? whole.cwiseAbs().maxCoeff() : 1.0);
      EXPECT_TRUE(flattened(first_piola(model, f, kLame)).allFinite());
      EXPECT_TRUE(std::isfinite(energy_density(model, f, kLame)));
    }
}

TEST(Elasticity, ARotationHasNoEnergyAndNoForce) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 100; ++trial) {
    const Mat3 r = random.rotation(), f = Mat3::identity() + random.matrix(Real(0.5));
    for (const ElasticModel model : kModels) {
      if (!is_defined(model, f)) continue;
      EXPECT_NEAR(energy_density(model, r, kLame), 0, kRounding);
      expect_near(flattened(first_piola(model, r, kLame)), Column::Zero(9), kRounding);
      EXPECT_NEAR(energy_density(model, r * f, kLame), energy_density(model, f, kLame), kRounding);
      if (determinant(f) < Real(0.1)) continue;
      expect_near(flattened(first_piola(model, r * f, kLame)), flattened(r * first_piola(model, f, kLame)),
                  10 * kRounding);
    }
  }
}

TEST(Elasticity, EnergyIsSmallestAtRest) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 1000; ++trial) {
    const Mat3 f = random.matrix(Real(1.5));
    for (const ElasticModel model : kModels) EXPECT_GE(energy_density(model, f, kLame), -kRounding);
  }
}

TEST(Elasticity, NeoHookeanForbidsInversion) {
  const ElasticModel model = ElasticModel::neo_hookean;
  Mat3 f = Mat3::identity();
  Real last = 0;
  for (Real thickness = Real(0.5); thickness > Real(1e-12); thickness *= Real(0.1)) {
    f(2, 2) = thickness;
    const Real energy = energy_density(model, f, kLame);
    EXPECT_GT(energy, last);
    last = energy;
  }
  EXPECT_TRUE(std::isfinite(last));
  for (const Real thickness : {Real(0), Real(-1e-9), Real(-1)}) {
    f(2, 2) = thickness;
    EXPECT_EQ(energy_density(model, f, kLame), std::numeric_limits<Real>::infinity());
  }
}

TEST(Elasticity, OrthogonalityMeasuresHowFarColumnsAreFromOrthonormal) {
  const ElasticModel model = ElasticModel::orthogonality;
  Mat3 f = Mat3::identity();
  f(0, 1) = Real(0.5);  // F'F - I has 1/2 twice off the diagonal, and 1/4 on it
  EXPECT_NEAR(energy_density(model, f, kLame), kLame.mu / 4 * (2 * Real(0.25) + Real(0.0625)), kRounding);
  for (const Real thickness : {Real(0), Real(-1)}) {
    f(2, 2) = thickness;
    EXPECT_EQ(energy_density(model, f, kLame), std::numeric_limits<Real>::infinity());
  }
}

TEST(Elasticity, SmallStrainIsLinearElasticity) {
  Random random;
  SCOPED_TRACE(random.trace());
  const Real young = Real(3), poisson = Real(0.35);
  for (const ElasticModel model : kModels) {
    const Lame lame = lame_parameters(model, young, poisson);
    const StressDerivative c = stress_derivative(model, svd3(Mat3::identity()), lame);
    const Mat3 df = random.matrix(), strain = Real(0.5) * (df + df.transposed());
    const Mat3 expected = Real(2) * lame.mu * strain + lame.lambda * trace(strain) * Mat3::identity();
    expect_near(flattened(c(df)), flattened(expected), kRounding);
    // A bar pulled along x contracts by nu and has stiffness E.
    const Real nu = lame.lambda > 0 ? poisson : Real(0);
    Mat3 pull = Mat3::zero();
    pull(0, 0) = 1, pull(1, 1) = pull(2, 2) = -nu;
    Mat3 stress = Mat3::zero();
    stress(0, 0) = young;
    expect_near(flattened(c(pull)), flattened(stress), kRounding);
  }
}

}  // namespace
}  // namespace stickslip::test

// Elements of rods with copies of their own: derivatives by finite differences, and minima.
#include "gpu/energy/rod_copies.h"

#include "tests/energy/numeric.h"

namespace stickslip::test {
namespace {

/// An element with strains of up to 0.5 and weights of its stiffness to ten times that.
template <class Copies>
struct RandomCopies {
  CopyProblem<Copies> problem;
  Vec3 z0[Copies::copies], z[Copies::copies];

  explicit RandomCopies(Random& random) {
    const int edges = Copies::copies / 2;
    const Vec3 along{0, 0, 1};
    for (int c = 0; c < edges; ++c) {
      z0[c] = random.uniform(Real(0.8), Real(1.2)) * normalized(along + random.vector(Real(0.3)));
      const Vec3 across = normalized(cross(z0[c], Vec3{1, Real(0.2), 0} + random.vector(Real(0.3))));
      z0[edges + c] =
          random.uniform(Real(0.3), Real(0.5)) * across + random.uniform(-Real(0.1), Real(0.1)) * z0[c];
    }
    for (int c = 0; c < Copies::copies; ++c) z[c] = z0[c] + random.vector(Real(0.03));
    CopyEnergy& energy = problem.energy;
    Vec3 g[3][Copies::copies];
    const Vec3 strain = Copies::strain(z0, g);
    for (int k = 0; k < 3; ++k) {
      energy.stiffness[k] = random.uniform(Real(0.5), 2);
      energy.rest[k] = strain[k] + random.uniform(-Real(0.4), Real(0.4));
      energy.still[k] = strain[k] + random.uniform(-Real(0.1), Real(0.1));
    }
    energy.rate = random.uniform(0, 1);
    for (PairMetric& metric : problem.metric) {
      metric = {random.uniform(4, 20), 0, random.uniform(4, 20)};
      if (!Copies::stiffens) metric.b = random.uniform(-Real(0.3), Real(0.3));
    }
  }
  double value() const { return static_cast<double>(problem.at(z, z0).value); }
  Column gradient() const {
    Vec3 out[Copies::copies];
    problem.gradient(problem.at(z, z0), out);
    return flat(out, Copies::copies);
  }
};

template <class Copies>
class RodCopies : public ::testing::Test {};
using CopyKinds = ::testing::Types<SegmentCopies, VertexCopies>;
TYPED_TEST_SUITE(RodCopies, CopyKinds);

TYPED_TEST(RodCopies, GradientsMatchFiniteDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 100; ++trial) {
    RandomCopies<TypeParam> element(random);
    expect_near(element.gradient(),
                difference_gradient(element.z, TypeParam::copies, [&] { return element.value(); }),
                200 * kDifferenceError);
  }
}

TYPED_TEST(RodCopies, StrainsAreThoseOfTheNodes) {
  Random random;
  SCOPED_TRACE(random.trace());
  Vec3 x[TypeParam::nodes], z[TypeParam::copies], g[3][TypeParam::copies];
  for (Vec3& p : x) p = random.vector();
  TypeParam::of_nodes(x, z);
  const Vec3 strain = TypeParam::strain(z, g);
  if constexpr (TypeParam::nodes == 3) {
    const SegmentStrain want = segment_strain(rod_frame(x[0], x[1], x[2]));
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(strain[k], want.s[k], kRounding);
  } else {
    const VertexStrain want = vertex_strain(rod_frame(x[0], x[1], x[3]), rod_frame(x[1], x[2], x[4]));
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(strain[k], want.s[k], 100 * kRounding);
  }
}

// The gradient vanishes at the minimum found, and no point near it is lower.
TYPED_TEST(RodCopies, MinimaHaveNoGradient) {
  Random random;
  SCOPED_TRACE(random.trace());
  const Real tolerance = sizeof(Real) == 8 ? Real(1e-11) : Real(1e-4);
  int steps = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    RandomCopies<TypeParam> element(random);
    steps += element.problem.minimise(element.z0, tolerance, element.z);
    EXPECT_LT(element.gradient().template lpNorm<Eigen::Infinity>(), sizeof(Real) == 8 ? 1e-8 : 1e-2)
        << trial;
    const double least = element.value();
    for (int k = 0; k < 20; ++k) {
      RandomCopies<TypeParam> near = element;
      for (Vec3& z : near.z) z += random.vector(Real(1e-2));
      EXPECT_GE(near.value(), least - kRounding) << trial;
    }
  }
  EXPECT_LT(steps, 20 * kTrials);
}

// Lanes find the minima that elements find by themselves.
TYPED_TEST(RodCopies, LanesHaveTheSameMinima) {
  if constexpr (std::is_same_v<Real, double>) {
    Random random;
    SCOPED_TRACE(random.trace());
    constexpr int n = TypeParam::copies;
    for (int trial = 0; trial < 20; ++trial) {
      CopyProblem<TypeParam, WideLanes> lanes;
      Vec<WideLanes, 3> z0[n], z[n];
      Vec3 want[kLaneCount][n];
      for (int l = 0; l < kLaneCount; ++l) {
        RandomCopies<TypeParam> element(random);
        const auto put = [l](Vec<WideLanes, 3>& of, const Vec3& value) {
          for (int i = 0; i < 3; ++i) of[i].v[l] = value[i];
        };
        put(lanes.energy.stiffness, element.problem.energy.stiffness);
        put(lanes.energy.rest, element.problem.energy.rest);
        put(lanes.energy.still, element.problem.energy.still);
        lanes.energy.rate.v[l] = element.problem.energy.rate;
        for (int m = 0; m < TypeParam::pairs; ++m) {
          lanes.metric[m].a.v[l] = element.problem.metric[m].a;
          lanes.metric[m].b.v[l] = element.problem.metric[m].b;
          lanes.metric[m].c.v[l] = element.problem.metric[m].c;
        }
        for (int c = 0; c < n; ++c) {
          put(z0[c], element.z0[c]);
          put(z[c], element.z[c]);
        }
        element.problem.minimise(element.z0, 1e-11, element.z);
        for (int c = 0; c < n; ++c) want[l][c] = element.z[c];
      }
      lanes.minimise(z0, 1e-11, z);
      for (int l = 0; l < kLaneCount; ++l)
        for (int c = 0; c < n; ++c)
          for (int i = 0; i < 3; ++i) EXPECT_NEAR(z[c][i].v[l], want[l][c][i], 1e-9) << l;
    }
  }
}

// A stretched edge without forces on its ghost has a closed solution: the length between those of the energy
// and of z0, by their weights.
TEST(RodCopies, AStretchedEdgeHasTheWeightedLength) {
  CopyProblem<SegmentCopies> problem;
  problem.energy.rate = 0;
  problem.energy.stiffness = {3, Real(1e-3), Real(1e-3)};
  problem.energy.rest = problem.energy.still = {1, Real(0.25), 0};
  problem.metric[0] = {Real(0.5), 0, Real(0.5)};
  const Vec3 z0[2] = {{0, Real(1.7), 0}, {Real(0.25), 0, 0}};
  Vec3 z[2] = {{Real(0.3), Real(0.9), Real(0.1)}, {Real(0.25), Real(0.1), 0}};
  problem.minimise(z0, Real(1e-12), z);
  EXPECT_NEAR(norm(z[0]), (3 * 1 + 0.5 * 1.7) / 3.5, sizeof(Real) == 8 ? 1e-10 : 1e-5);
  EXPECT_NEAR(z[0][0], 0, 1e-5);
}

}  // namespace
}  // namespace stickslip::test

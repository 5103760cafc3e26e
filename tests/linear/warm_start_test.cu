#include "gpu/linear/warm_start.cuh"

#include "tests/backend_test.h"
#include "tests/linear/device_system.cuh"

#include <Eigen/Dense>
#include <numeric>

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr Real kTight = sizeof(Real) == 8 ? Real(1e-11) : Real(1e-6);

/// Contacts a hundred and ten thousand times stiffer than the bodies: nodes of several decades of stiffness.
test::System stiff_system(test::Random& random) {
  test::System system = test::make_system(random, 6, 7, 6, 25, Real(100));
  for (int k = 0; k < 12; ++k)
    add_element(system.stencils, random, random.stencil(system.node_count, 1 + k % 4), 1, Real(1e4), Real(0));
  return system;
}

/// e by its definition: every element of k nodes adds three times the mean of its 3k eigenvalues to each of
/// its nodes.
std::vector<double> assembled_eigenvalues(const test::System& system) {
  std::vector<double> e(system.node_count);
  for (std::size_t i = 0; i < e.size(); ++i) e[i] = 3 * system.diagonal[i];
  for (const test::Elements* elements : {&system.tets, &system.stencils})
    for (std::size_t s = 0; s < elements->nodes.size(); ++s) {
      std::vector<int> corners;
      for (int a = 0; a < 4; ++a)
        if (elements->nodes[s][a] >= 0) corners.push_back(a);
      Eigen::MatrixXd h(3 * corners.size(), 3 * corners.size());
      for (std::size_t a = 0; a < corners.size(); ++a)
        for (std::size_t b = 0; b <= a; ++b) {
          const Mat3& block = elements->blocks[kCornerBlocks * s + corner_block(corners[a], corners[b])];
          for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) h(3 * b + c, 3 * a + r) = h(3 * a + r, 3 * b + c) = block(r, c);
        }
      const double mean = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(h).eigenvalues().mean();
      for (const int a : corners) e[elements->nodes[s][a]] += 3 * mean;
    }
  return e;
}

/// A without the blocks between nodes of different groups.
test::Sparse without_coupling(const test::Sparse& a, const std::vector<NodeGroup>& group) {
  test::Sparse cut = a;
  cut.prune([&](Eigen::Index i, Eigen::Index j, double) { return group[i / 3] == group[j / 3]; });
  return cut;
}

struct Grouped {
  Grouped(Context& ctx, test::Random& random) : system(stiff_system(random)), device(make(ctx, system)) {
    warm_start.group(ctx, device.matrix.stiffness(), nullptr, system.node_count);
    group.resize(system.node_count);
    copy_to_host(ctx, group.data(), warm_start.group_of_node(), group.size());
  }
  static DeviceSystem make(Context& ctx, const test::System& system) {
    DeviceSystem device(ctx, system);
    device.matrix.keep_stiffness(true);
    device.assemble(ctx, system);
    return device;
  }
  test::System system;
  DeviceSystem device;
  WarmStart warm_start;
  std::vector<NodeGroup> group;
};

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(WarmStart, StiffnessIsTheAssembledMeanOfEigenvalues) {
  FRESH_SEED(seed);
  test::Random random(seed);
  Grouped g(ctx, random);
  const std::vector<double> want = assembled_eigenvalues(g.system);
  std::vector<Real> got(want.size());
  copy_to_host(ctx, got.data(), g.device.matrix.stiffness(), got.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 100 * test::kRounding * want[i]) << "node " << i;
  EXPECT_NEAR(std::accumulate(got.begin(), got.end(), 0.0), g.system.matrix().diagonal().sum(),
              100 * test::kRounding * g.system.matrix().diagonal().sum());
}

BACKEND_TEST(WarmStart, GroupsPartitionTheNodesThatMove) {
  FRESH_SEED(seed);
  test::Random random(seed);
  Grouped g(ctx, random);
  std::vector<std::uint8_t> fixed(g.system.node_count);
  for (std::uint8_t& f : fixed) f = random.index(4) == 0 ? 1 : 0;
  const Buffer<std::uint8_t> flags(ctx, fixed);
  g.warm_start.group(ctx, g.device.matrix.stiffness(), flags.data(), g.system.node_count);
  std::vector<Real> e(g.system.node_count);
  copy_to_host(ctx, e.data(), g.device.matrix.stiffness(), e.size());

  double least = std::numeric_limits<double>::infinity(), most = 0;
  std::vector<StiffnessGroup> want;
  for (std::size_t i = 0; i < e.size(); ++i) {
    if (fixed[i] != 0) continue;
    least = std::min(least, double(e[i])), most = std::max(most, double(e[i]));
    const int exponent = static_cast<int>(std::floor(std::log10(e[i])));
    const auto found = std::find_if(want.begin(), want.end(),
                                    [&](const StiffnessGroup& group) { return group.exponent == exponent; });
    if (found != want.end()) ++found->nodes;
    else want.push_back({exponent, 1});
  }
  std::sort(want.begin(), want.end(),
            [](const StiffnessGroup& a, const StiffnessGroup& b) { return a.exponent < b.exponent; });
  ASSERT_GE(want.size(), 3U);
  ASSERT_EQ(g.warm_start.groups().size(), want.size());
  for (std::size_t k = 0; k < want.size(); ++k) {
    EXPECT_EQ(g.warm_start.groups()[k].exponent, want[k].exponent);
    EXPECT_EQ(g.warm_start.groups()[k].nodes, want[k].nodes);
  }
  EXPECT_NEAR(g.warm_start.condition(), most / least, 1e-5 * most / least);
}

// Thirty decades: those below the sixteen stiffest share a group.
BACKEND_TEST(WarmStart, TheSoftestShareAGroup) {
  std::vector<Real> e;
  for (int k = 0; k < 30; ++k) e.push_back(static_cast<Real>(std::pow(10.0, k - 15 + 0.5)));
  const Buffer<Real> stiffness(ctx, e);
  WarmStart warm_start;
  warm_start.group(ctx, stiffness.data(), nullptr, e.size());
  ASSERT_EQ(warm_start.groups().size(), static_cast<std::size_t>(WarmStart::kGroups));
  EXPECT_EQ(warm_start.groups().front().nodes, 15);
  EXPECT_EQ(warm_start.groups().back().exponent, 14);
  EXPECT_EQ(warm_start.groups().back().nodes, 1);
}

BACKEND_TEST(WarmStart, ProductSkipsBlocksBetweenGroups) {
  FRESH_SEED(seed);
  test::Random random(seed);
  Grouped g(ctx, random);
  const std::vector<Vec3> x = random.vectors(g.system.node_count);
  const Buffer<Vec3> from(ctx, x);
  Buffer<Vec3> to(ctx, x.size());
  Buffer<Real> dot(ctx, 1);
  g.device.matrix.multiply(ctx, from.data(), to.data(), dot.data(), nullptr, g.warm_start.group_of_node());
  const test::Sparse a = g.system.matrix(), cut = without_coupling(a, g.group);
  ASSERT_GT((a - cut).norm(), 0.1 * a.norm() * 1e-3);
  const test::Vector in = test::to_eigen(x), want = cut * in, got = test::to_eigen(to.download(ctx));
  EXPECT_LE((got - want).norm(), 10 * test::kRounding * a.norm() * in.norm());
  EXPECT_NEAR(read_back(ctx, dot.data()), in.dot(want), 10 * test::kRounding * a.norm() * in.squaredNorm());
}

BACKEND_TEST(WarmStart, EqualsTheExactGroupSolves) {
  FRESH_SEED(seed);
  test::Random random(seed);
  Grouped g(ctx, random);
  const std::size_t n = g.system.node_count;
  const std::vector<Vec3> b = random.vectors(n);
  const Buffer<Vec3> rhs(ctx, b);
  Buffer<Vec3> x(ctx, random.vectors(n));
  g.warm_start.solve(ctx, g.device.matrix, rhs.data(), x.data(), {kTight, 5000});
  const test::Vector got = test::to_eigen(x.download(ctx));

  const Eigen::MatrixXd a = g.system.matrix();
  for (int number = 0; number < WarmStart::kGroups; ++number) {
    std::vector<int> rows;
    for (std::size_t i = 0; i < 3 * n; ++i)
      if (g.group[i / 3] == number) rows.push_back(static_cast<int>(i));
    if (rows.empty()) continue;
    const test::Vector all = test::to_eigen(b);
    const test::Vector want = a(rows, rows).llt().solve(all(rows));
    const test::Vector error = got(rows) - want;
    EXPECT_LE(std::sqrt(error.dot(a(rows, rows) * error)),
              1e3 * kTight * std::sqrt(want.dot(a(rows, rows) * want)))
        << "group " << number << " of " << rows.size() / 3 << " nodes";
  }
}

// A group's iterations do not depend on the right-hand sides of the other groups.
BACKEND_TEST(WarmStart, GroupsDoNotDependOnEachOther) {
  FRESH_SEED(seed);
  test::Random random(seed);
  Grouped g(ctx, random);
  const std::size_t n = g.system.node_count;
  const std::vector<Vec3> b = random.vectors(n);
  std::vector<Vec3> alone = b;
  const NodeGroup chosen = g.group[random.index(n)];
  for (std::size_t i = 0; i < n; ++i)
    if (g.group[i] != chosen) alone[i] = Vec3::zero();
  std::vector<Vec3> results[2];
  for (int k = 0; k < 2; ++k) {
    const Buffer<Vec3> rhs(ctx, k == 0 ? b : alone);
    Buffer<Vec3> x(ctx, n);
    g.warm_start.solve(ctx, g.device.matrix, rhs.data(), x.data(), {Real(1e-2), 20});
    results[k] = x.download(ctx);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (g.group[i] == chosen) {
      EXPECT_LE(norm(results[0][i] - results[1][i]), 1e-6 * (1e-6 + norm(results[0][i]))) << "node " << i;
    } else {
      EXPECT_EQ(results[1][i], Vec3::zero()) << "node " << i;
    }
  }
}

BACKEND_TEST(WarmStart, FixedNodesStay) {
  test::Random random(11);
  Grouped g(ctx, random);
  const std::size_t n = g.system.node_count;
  std::vector<std::uint8_t> fixed(n);
  for (std::uint8_t& f : fixed) f = random.index(4) == 0 ? 1 : 0;
  const Buffer<std::uint8_t> flags(ctx, fixed);
  const Buffer<Vec3> rhs(ctx, random.vectors(n));
  Buffer<Vec3> x(ctx, random.vectors(n));
  g.warm_start.group(ctx, g.device.matrix.stiffness(), flags.data(), n);
  EXPECT_GT(g.warm_start.solve(ctx, g.device.matrix, rhs.data(), x.data(), {}, flags.data()), 1);
  const std::vector<Vec3> moved = x.download(ctx);
  for (std::size_t i = 0; i < n; ++i)
    if (fixed[i] != 0) {
      EXPECT_EQ(moved[i], Vec3::zero()) << "node " << i;
    }
}

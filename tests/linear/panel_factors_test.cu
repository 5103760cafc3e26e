#include "gpu/linear/panel_factors.cuh"

#include "gpu/linear/pcg.cuh"
#include "tests/backend_test.h"
#include "tests/linear/device_system.cuh"
#include "tests/linear/solve_part.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr std::int64_t kPlenty = 100'000'000;
constexpr double kSingle = 1e-5;  // rounding errors of well-conditioned factors in single precision

/// Two lattices of tets, and nodes that nothing couples.
struct TwoSolids {
  test::Random random;
  test::System system;
  std::size_t lattice = 0;  // nodes of the first

  TwoSolids(unsigned seed, int nx, int ny, int nz) : random(seed) {
    const std::vector<Vec4i> tets = test::lattice_tets(nx, ny, nz);
    lattice = static_cast<std::size_t>(nx * ny * nz);
    system.node_count = 2 * lattice + 3;
    for (int copy = 0; copy < 2; ++copy)
      for (Vec4i tet : tets) {
        for (int c = 0; c < 4; ++c) tet[c] += copy * static_cast<std::int32_t>(lattice);
        add_element(system.tets, random, tet, 3, Real(10), 0);
      }
    system.diagonal.assign(system.node_count, Real(1));
  }
};

/// z of the factors at the residual r.
std::vector<Vec3> solved(Context& ctx, PanelFactors& factors, const std::vector<Vec3>& r) {
  const Buffer<Vec3> residual(ctx, r);
  const Buffer<std::int32_t> skip(ctx, std::vector<std::int32_t>{0});
  factors.solve(ctx, residual.data(), skip.data());
  Buffer<Vec3> out(ctx, r.size());
  copy(ctx, out.data(), factors.z(), r.size());
  return out.download(ctx);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

// All but one node of the first lattice and a few of the second are members; three nodes are fixed. Couplings
// of contacts are left out, their diagonals are not.
BACKEND_TEST(PanelFactors, InvertTheMatrixOfTheirMembers) {
  for (const int size : {1, 2, 4, 6, 9}) {
    TwoSolids input(3, size, size + 1, 3);
    const std::size_t n = input.system.node_count;
    const auto last = static_cast<std::int32_t>(input.lattice) - 1;
    add_element(input.system.stencils, input.random, {0, last, last + 1, last + 2}, 3, Real(5), 0);
    DeviceSystem device(ctx, input.system);
    std::vector<std::uint8_t> member(n, 1), fixed(n, 0);
    member[0] = member[n - 1] = member[input.lattice + 3] = 0;
    fixed[1] = fixed[input.lattice + 1] = fixed[n - 2] = 1;
    const Buffer<std::uint8_t> flags(ctx, fixed);
    std::vector<Vec3> r = input.random.vectors(n);
    for (std::size_t i = 0; i < n; ++i)
      if (fixed[i] != 0) r[i] = Vec3::zero();
    PanelFactors factors;
    factors.set_plan(ctx, member, device.matrix.download_entries(ctx), kPlenty);
    ASSERT_TRUE(factors.has_plan());
    factors.build(ctx, device.matrix, flags.data());
    const std::vector<Vec3> z = solved(ctx, factors, r);

    std::vector<int> rows;
    for (std::size_t i = 0; i < n; ++i)
      if (member[i] != 0 && fixed[i] == 0)
        for (int c = 0; c < 3; ++c) rows.push_back(static_cast<int>(3 * i) + c);
    const Eigen::MatrixXd with = to_eigen(n, input.system.tets, input.system.stencils, input.system.diagonal);
    const Eigen::MatrixXd without = to_eigen(n, input.system.tets, {}, input.system.diagonal);
    const Eigen::VectorXd want = test::solve_part(with, without, rows, r);
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_NEAR(z[static_cast<std::size_t>(rows[i] / 3)][rows[i] % 3], want[static_cast<int>(i)], kSingle);
    for (std::size_t i = 0; i < n; ++i)
      if (member[i] == 0 || fixed[i] != 0) {
        EXPECT_EQ(z[i], Vec3::zero());
      }
  }
}

// The second matrix has the pattern of the first, and nothing of its values is left.
BACKEND_TEST(PanelFactors, FollowTheMatrix) {
  TwoSolids input(5, 3, 3, 3);
  const std::size_t n = input.system.node_count;
  DeviceSystem device(ctx, input.system);
  const std::vector<std::uint8_t> member(n, 1);
  PanelFactors reused, fresh;
  for (PanelFactors* factors : {&reused, &fresh})
    factors->set_plan(ctx, member, device.matrix.download_entries(ctx), kPlenty);
  reused.build(ctx, device.matrix, nullptr);
  input.system.diagonal.assign(n, Real(7));
  device.diagonal.upload(ctx, input.system.diagonal);
  device.assemble(ctx, input.system);
  const std::vector<Vec3> r = input.random.vectors(n);
  for (PanelFactors* factors : {&reused, &fresh}) factors->build(ctx, device.matrix, nullptr);
  EXPECT_EQ(solved(ctx, reused, r), solved(ctx, fresh, r));
}

BACKEND_TEST(PanelFactors, TooManyValuesMeanNoPlan) {
  TwoSolids input(7, 3, 3, 3);
  DeviceSystem device(ctx, input.system);
  PanelFactors factors;
  factors.set_plan(ctx, std::vector<std::uint8_t>(input.system.node_count, 1),
                   device.matrix.download_entries(ctx), 1000);
  EXPECT_FALSE(factors.has_plan());
}

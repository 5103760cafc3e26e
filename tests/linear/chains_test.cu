#include "gpu/linear/chains.cuh"

#include <initializer_list>
#include <numeric>
#include <utility>

#include "gpu/linear/pcg.cuh"
#include "tests/backend_test.h"
#include "tests/linear/device_system.cuh"
#include "tests/linear/solve_part.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Chain = std::vector<std::int32_t>;

constexpr std::initializer_list<std::size_t> kTwo{40, 25};
/// Enough for packs of lanes, the last of them not full, of unequal lengths.
constexpr std::initializer_list<std::size_t> kTen{8, 11, 6, 9, 10, 7, 9, 12, 8, 6};

/// Chains of nodes in random order, and a few nodes of no chain. Stiff elements couple neighbours of a
/// chain, soft ones any nodes of different chains.
struct ChainSystem {
  test::Random random;
  test::System system;
  std::vector<Chain> chains;

  ChainSystem(unsigned seed, bool coupled, std::initializer_list<std::size_t> lengths = kTwo) : random(seed) {
    const std::size_t members = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    const std::size_t count = members + 5;
    system.node_count = count;
    Chain nodes(count);
    std::iota(nodes.begin(), nodes.end(), 0);
    for (std::size_t i = count - 1; i > 0; --i) std::swap(nodes[i], nodes[random.index(i + 1)]);
    auto from = nodes.begin();
    for (const std::size_t length : lengths) {
      const auto to = from + static_cast<std::ptrdiff_t>(length);
      chains.emplace_back(from, to);
      from = to;
    }
    for (const Chain& chain : chains)
      for (std::size_t i = 0; i + 4 < chain.size(); ++i) {
        // x0, x1, x2 and a ghost: nodes 0, 2, 4 and 1 of the five.
        add_element(system.tets, random, {chain[i], chain[i + 4], chain[i + 2], chain[i + 1]}, 3, Real(10),
                    0);
        add_element(system.tets, random, {chain[i + 3], chain[i + 1], -1, -1}, 2, Real(10), 0);
      }
    const std::int32_t outside = nodes[members + 1];
    if (coupled) {
      add_element(system.tets, random, {outside, chains[0][3], chains[1][7], -1}, 3, Real(0.1), 0);
      const std::int32_t far[2] = {chains[0][chains[0].size() * 3 / 4], chains[1][chains[1].size() * 4 / 5]};
      add_element(system.stencils, random, {chains[0][2], far[0], chains[1][1], far[1]}, 2, Real(0.1), 0);
    }
    system.diagonal.assign(count, Real(1));
  }
};

/// Compares with the dense inverse of each chain's part.
void check_inverse(Context& ctx, ChainSystem input) {
  const std::size_t n = input.system.node_count;
  DeviceSystem device(ctx, input.system);
  std::vector<std::uint8_t> fixed(n, 0);
  fixed[static_cast<std::size_t>(input.chains[0][5])] = fixed[static_cast<std::size_t>(input.chains[1][0])] =
      1;
  const Buffer<std::uint8_t> flags(ctx, fixed);
  std::vector<Vec3> r = input.random.vectors(n);
  for (std::size_t i = 0; i < n; ++i)
    if (fixed[i] != 0) r[i] = Vec3::zero();
  const Buffer<Vec3> residual(ctx, r);
  const Buffer<std::int32_t> skip(ctx, std::vector<std::int32_t>{0});
  Chains chains;
  chains.set_plan(ctx, input.chains, device.matrix.download_entries(ctx), n);
  chains.build(ctx, device.matrix, flags.data());
  chains.solve(ctx, residual.data(), skip.data());
  Buffer<Vec3> copy(ctx, n);
  const Vec3* solved = chains.z();
  Vec3* to = copy.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { to[i] = solved[i]; });
  const std::vector<Vec3> z = copy.download(ctx);

  // Of the whole matrix less the couplings of contacts.
  const Eigen::MatrixXd with = to_eigen(n, input.system.tets, input.system.stencils, input.system.diagonal);
  const Eigen::MatrixXd without = to_eigen(n, input.system.tets, {}, input.system.diagonal);
  std::vector<bool> checked(n, false);
  for (const Chain& chain : input.chains) {
    std::vector<int> rows;
    for (const std::int32_t node : chain)
      if (fixed[static_cast<std::size_t>(node)] == 0)
        for (int c = 0; c < 3; ++c) rows.push_back(3 * node + c);
    const Eigen::VectorXd want = test::solve_part(with, without, rows, r);
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_NEAR(z[static_cast<std::size_t>(rows[i] / 3)][rows[i] % 3], want[static_cast<int>(i)],
                  1e3 * test::kRounding);
    for (const std::int32_t node : chain) checked[static_cast<std::size_t>(node)] = true;
  }
  for (std::size_t i = 0; i < n; ++i)
    if (!checked[i] || fixed[i] != 0) {
      EXPECT_EQ(z[i], Vec3::zero());
    }
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Chains, InvertTheirPartOfTheMatrix) {
  check_inverse(ctx, ChainSystem(3, true));
  check_inverse(ctx, ChainSystem(4, true, kTen));
}

// Without couplings between chains the preconditioner is the inverse; with soft ones it nearly is.
BACKEND_TEST(Chains, PcgAlongChainsTakesFewIterations) {
  for (const auto& [lengths, coupled] :
       {std::pair{kTwo, false}, std::pair{kTwo, true}, std::pair{kTen, false}, std::pair{kTen, true}}) {
    ChainSystem input(5, coupled, lengths);
    const std::size_t n = input.system.node_count;
    DeviceSystem device(ctx, input.system);
    const Buffer<Vec3> b(ctx, input.random.vectors(n));
    Buffer<Vec3> x(ctx, n);
    PcgSettings settings;
    settings.tolerance = Real(1e-4);
    Pcg pcg;
    const PcgResult plain = pcg.solve(ctx, device.matrix, b.data(), x.data(), settings);
    const std::vector<Vec3> want = x.download(ctx);
    pcg.set_chains(input.chains);
    const PcgResult result = pcg.solve(ctx, device.matrix, b.data(), x.data(), settings);
    EXPECT_EQ(result.stop, PcgStop::converged);
    EXPECT_LE(result.iterations, coupled ? plain.iterations / 3 : 2);
    const std::vector<Vec3> got = x.download(ctx);
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      difference += double(norm2(got[i] - want[i]));
      size += double(norm2(want[i]));
    }
    EXPECT_LT(std::sqrt(difference / size), 0.02);
  }
}

/// As a spring between two points of a strand couples them: the band leaves that out, and PCG takes it up.
BACKEND_TEST(Chains, CouplingsAcrossAChainAreLeftToPcg) {
  ChainSystem input(7, false);
  add_element(input.system.tets, input.random, {input.chains[0][0], input.chains[0][9], -1, -1}, 2, Real(10),
              0);
  const std::size_t n = input.system.node_count;
  DeviceSystem device(ctx, input.system);
  const Buffer<Vec3> b(ctx, input.random.vectors(n));
  Buffer<Vec3> x(ctx, n);
  PcgSettings settings;
  settings.tolerance = Real(1e-4);
  Pcg pcg;
  pcg.set_chains(input.chains);
  const PcgResult result = pcg.solve(ctx, device.matrix, b.data(), x.data(), settings);
  EXPECT_EQ(result.stop, PcgStop::converged);
  EXPECT_LE(result.iterations, 20);
  const Eigen::MatrixXd a = to_eigen(n, input.system.tets, {}, input.system.diagonal);
  const std::vector<Vec3> got = x.download(ctx), load = b.download(ctx);
  Eigen::VectorXd wanted(3 * n), found(3 * n);
  for (std::size_t i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c) {
      wanted[static_cast<int>(3 * i) + c] = load[i][c];
      found[static_cast<int>(3 * i) + c] = got[i][c];
    }
  EXPECT_LT((found - a.ldlt().solve(wanted)).norm(), 0.02 * found.norm());
}

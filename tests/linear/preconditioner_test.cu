#include "gpu/linear/preconditioner.cuh"

#include "gpu/linear/node_groups.h"
#include "gpu/linear/pcg.cuh"
#include "tests/backend_test.h"
#include "tests/linear/device_system.cuh"

#include <Eigen/Dense>
#include <numeric>

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Matrix = Eigen::MatrixXd;

constexpr PreconditionerSettings kAll[] = {
    {PreconditionerKind::none, AdditiveBlocks::b3_27},
    {PreconditionerKind::block_jacobi, AdditiveBlocks::b3_27},
    {PreconditionerKind::additive, AdditiveBlocks::b3_9},
    {PreconditionerKind::additive, AdditiveBlocks::b3_27},
    {PreconditionerKind::additive, AdditiveBlocks::b9_27},
    {PreconditionerKind::additive, AdditiveBlocks::b3_9_27},
    {PreconditionerKind::multilevel, AdditiveBlocks::b3_27},
    {PreconditionerKind::multilevel_contacts, AdditiveBlocks::b3_27},
    {PreconditionerKind::factors, AdditiveBlocks::b3_27},
    {PreconditionerKind::automatic, AdditiveBlocks::b3_27},
    {PreconditionerKind::two_level, AdditiveBlocks::b3_27},
};

std::string describe(const PreconditionerSettings& settings) {
  return "preconditioner " + std::to_string(static_cast<int>(settings.kind)) + ", blocks " +
         std::to_string(static_cast<int>(settings.additive_blocks));
}

/// Adds sum_d R_d' (R_d A R_d')^-1 R_d to `sum`, over the domains d of one level. R_d sums the nodes with the
/// same slot. `a` is zero at fixed nodes; their rows are omitted.
void add_level(Matrix& sum, const Matrix& a, const std::vector<std::int32_t>& slot, std::int32_t size,
               const std::vector<std::uint8_t>& fixed) {
  const auto n = static_cast<int>(slot.size());
  const std::int32_t slots = *std::max_element(slot.begin(), slot.end()) + 1;
  for (std::int32_t first = 0; first < slots; first += size) {
    std::vector<int> place(size, -1);
    int rows = 0;
    for (int i = 0; i < n; ++i) {
      const std::int32_t local = slot[i] - first;
      if (local < 0 || local >= size || fixed[i] != 0 || place[local] >= 0) continue;
      place[local] = 3 * rows++;
    }
    if (rows == 0) continue;
    Matrix r = Matrix::Zero(3 * rows, 3 * n);
    for (int i = 0; i < n; ++i) {
      const std::int32_t local = slot[i] - first;
      if (local < 0 || local >= size || fixed[i] != 0) continue;
      r.block<3, 3>(place[local], 3 * i).setIdentity();
    }
    const Matrix coarse = r * a * r.transpose();
    sum += r.transpose() * coarse.llt().solve(r);
  }
}

/// Z (Z'A Z)^+ Z', where the columns of Z are the affine motions of groups of free nodes.
Matrix coarse_part(const Matrix& a, const std::vector<std::int32_t>& group,
                   const std::vector<Vec3>& positions, const std::vector<std::uint8_t>& fixed) {
  const std::int32_t groups = *std::max_element(group.begin(), group.end()) + 1;
  Matrix z = Matrix::Zero(a.rows(), 12 * groups);
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group[i] < 0 || fixed[i] != 0) continue;
    for (int c = 0; c < 3; ++c) {
      const auto row = static_cast<Eigen::Index>(3 * i + c), column = Eigen::Index{12} * group[i] + c;
      z(row, column) = 1;
      for (int k = 0; k < 3; ++k) z(row, column + 3 + 3 * k) = positions[i][k];
    }
  }
  // By eigenvalues, for the compile time: an orthogonal decomposition instantiates as much as the rest of the
  // file.
  const Matrix coarse = z.transpose() * a * z;
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(coarse);
  const Matrix basis = z * eigen.eigenvectors();
  Eigen::VectorXd weights = eigen.eigenvalues();
  const double least = 1e-12 * weights.maxCoeff();
  for (double& weight : weights) weight = weight > least ? 1 / weight : 0;
  return basis * weights.asDiagonal() * basis.transpose();
}

/// Pairs of nodes that contact stencils couple, by stencil.
std::vector<Vec2i> stencil_links(const test::System& system) {
  std::vector<Vec2i> links;
  for (const Vec4i& nodes : system.stencils.nodes)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < a; ++b)
        if (nodes[a] >= 0 && nodes[b] >= 0) links.push_back({nodes[a], nodes[b]});
  return links;
}

/// P^-1 by its definition. `mesh`: `a` less the couplings of contacts.
Matrix dense_preconditioner(const PreconditionerSettings& settings, const Matrix& a, const Matrix& mesh,
                            const std::vector<std::int32_t>& order, const DomainPlan& levels,
                            const DomainPlan& linked, const Matrix& coarse,
                            const std::vector<std::uint8_t>& fixed) {
  const auto n = static_cast<std::int32_t>(order.size());
  Matrix p = Matrix::Zero(3 * n, 3 * n);
  std::vector<std::int32_t> slot(n);
  for (std::int32_t s = 0; s < n; ++s) slot[order[s]] = s;
  const auto additive = [&](std::int32_t size) { add_level(p, a, slot, size, fixed); };
  const auto add_levels = [&](const DomainPlan& plan) {
    for (std::size_t l = 0; l < plan.levels(); ++l) {
      for (std::int32_t i = 0; i < n; ++i) slot[i] = plan.slot_of_node[l * n + i] - plan.level_begin[l];
      add_level(p, a, slot, plan.domain_size, fixed);
    }
  };
  switch (settings.kind) {
    case PreconditionerKind::none:
      for (std::int32_t i = 0; i < n; ++i)
        if (fixed[i] == 0) p.block<3, 3>(3 * i, 3 * i).setIdentity();
      break;
    case PreconditionerKind::automatic:
    case PreconditionerKind::block_jacobi:
      additive(1);
      break;
    case PreconditionerKind::two_level:
      additive(1);
      p += coarse;
      break;
    case PreconditionerKind::factors:
      slot.assign(n, 0);
      for (std::int32_t i = 0; i < n; ++i) slot[i] = i;
      add_level(p, mesh, slot, n, fixed);
      break;
    case PreconditionerKind::additive:
      if (settings.additive_blocks != AdditiveBlocks::b9_27) additive(1);
      if (settings.additive_blocks != AdditiveBlocks::b3_27) additive(3);
      if (settings.additive_blocks != AdditiveBlocks::b3_9) additive(9);
      break;
    case PreconditionerKind::multilevel:
      add_levels(levels);
      break;
    case PreconditionerKind::multilevel_contacts:
      add_levels(linked);
      break;
  }
  return p;
}

/// P^-1 column by column.
Matrix applied(Context& ctx, Preconditioner& preconditioner, const std::vector<std::uint8_t>& fixed) {
  const std::size_t n = fixed.size();
  Matrix p(3 * n, 3 * n);
  Buffer<Vec3> r(ctx, n), z(ctx, n);
  Buffer<Real> dot(ctx, 1);
  const Buffer<std::int32_t> skip(ctx, std::vector<std::int32_t>{0});
  for (std::size_t column = 0; column < 3 * n; ++column) {
    std::vector<Vec3> unit(n, Vec3::zero());
    if (fixed[column / 3] == 0) unit[column / 3][static_cast<int>(column % 3)] = 1;
    r.upload(ctx, unit);
    Vec3 *in = r.data(), *out = z.data();
    const auto local = preconditioner.local();
    launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { out[i] = local.apply(i, in[i]); });
    preconditioner.add_domains(ctx, in, out, dot.data(), skip.data());
    p.col(column) = test::to_eigen(z.download(ctx));
  }
  return p;
}

struct FixedNodeProblem {
  FixedNodeProblem(Context& ctx, test::Random& random, const Vec3i& size = {4, 5, 3})
      : system(test::make_system(random, size[0], size[1], size[2], 40, 100)),
        device(ctx, system),
        positions(random.vectors(system.node_count)),
        fixed(system.node_count) {
    for (std::uint8_t& f : fixed) f = random.index(5) == 0 ? 1 : 0;
  }
  test::System system;
  DeviceSystem device;
  std::vector<Vec3> positions;
  std::vector<std::uint8_t> fixed;
};

// A free block of springs with little mass: what PCG finds last are translations and uniform strain.
struct FreeBlock {
  static constexpr int kSide = 8;
  test::System system;
  std::vector<Vec3> positions;
  DeviceSystem device;
  AffineModes modes;

  explicit FreeBlock(Context& ctx) : system(springs()), positions(grid()), device(ctx, system) {
    const Buffer<Vec3> at(ctx, positions);
    modes.load(ctx, std::vector<Vec2i>{{0, static_cast<std::int32_t>(system.node_count)}});
    modes.build(ctx, device.matrix, at.data(), nullptr);
  }

  static test::System springs() {
    test::System block;
    block.node_count = static_cast<std::size_t>(kSide) * kSide * kSide;
    test::add_springs(block, 0, kSide, kSide, kSide);
    block.diagonal.assign(block.node_count, Real(1e-3));
    return block;
  }
  static std::vector<Vec3> grid() {
    std::vector<Vec3> at;
    for (int z = 0; z < kSide; ++z)
      for (int y = 0; y < kSide; ++y)
        for (int x = 0; x < kSide; ++x) at.push_back({Real(x), Real(y), Real(z)});
    return at;
  }
};

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Preconditioner, EqualsItsDefinition) {
  FRESH_SEED(seed);
  test::Random random(seed);
  FixedNodeProblem problem(ctx, random);
  const Buffer<std::uint8_t> flags(ctx, problem.fixed);
  const std::vector<Vec2i> pairs = problem.device.matrix.download_entries(ctx);
  const std::vector<std::int32_t> order = morton_order(problem.positions, pairs);
  const DomainPlan levels = make_domain_plan(order, pairs, 16, 4);
  ASSERT_GE(levels.levels(), 2U);
  const std::vector<Vec2i> links = stencil_links(problem.system);
  std::vector<Vec2i> all = pairs;
  all.insert(all.end(), links.begin(), links.end());
  const DomainPlan linked =
      make_domain_plan(linked_order(problem.system.node_count, all, 16), pairs, 16, 4, links);
  const Matrix a = problem.system.matrix();
  const Buffer<Vec3> at(ctx, problem.positions);
  const Matrix coarse =
      coarse_part(a, make_node_groups(problem.positions, pairs, 48), problem.positions, problem.fixed);
  test::Elements none;
  Matrix mesh = to_eigen(problem.system.node_count, problem.system.tets, none, problem.system.diagonal);
  for (Eigen::Index i = 0; i < mesh.rows(); i += 3) mesh.block<3, 3>(i, i) = a.block<3, 3>(i, i);
  Preconditioner preconditioner;
  preconditioner.set_positions(problem.positions);
  for (const PreconditionerSettings& settings : kAll) {
    SCOPED_TRACE(describe(settings));
    preconditioner.build(ctx, problem.device.matrix, settings, flags.data(), at.data());
    const Matrix got = applied(ctx, preconditioner, problem.fixed);
    const Matrix want = dense_preconditioner(settings, a, mesh, order, levels, linked, coarse, problem.fixed);
    const double tolerance = 1e4 * test::kRounding;
    // Domains are stored, and on processors applied, in single precision; panels are computed in it, too.
    const bool panels = settings.kind == PreconditionerKind::factors;
    const bool domains = settings.kind == PreconditionerKind::additive ||
                         settings.kind == PreconditionerKind::multilevel ||
                         settings.kind == PreconditionerKind::multilevel_contacts;
    const double stored = domains || panels ? 50 * std::numeric_limits<float>::epsilon() : 0;
    // Affine motions of a few nodes are nearly dependent: errors of their solves grow with the condition.
    const double dependent = settings.kind == PreconditionerKind::two_level ? 1e-6 : 0;
    EXPECT_LE((got - want).norm(), std::max({tolerance, stored, dependent}) * want.norm());
    const bool applied_in_single = panels || (domains && !STICKSLIP_ON_CUDA);
    EXPECT_LE((got - got.transpose()).norm(),
              std::max({tolerance, applied_in_single ? stored : 0, dependent}) * want.norm());
    const auto moving = 3 * std::count(problem.fixed.begin(), problem.fixed.end(), 0);
    const Eigen::VectorXd eigenvalues = Eigen::SelfAdjointEigenSolver<Matrix>(got).eigenvalues();
    EXPECT_GT(eigenvalues[eigenvalues.size() - moving], 0);
    EXPECT_LE(std::abs(eigenvalues[0]), tolerance * want.norm());  // of the fixed nodes
  }
}

// Four groups and more, which springs and contacts couple, some of whose nodes do not move.
BACKEND_TEST(Preconditioner, TheCoarseSpaceEqualsItsDefinition) {
  FRESH_SEED(seed);
  test::Random random(seed);
  FixedNodeProblem problem(ctx, random, {6, 7, 5});
  const Buffer<std::uint8_t> flags(ctx, problem.fixed);
  const Buffer<Vec3> at(ctx, problem.positions);
  const Matrix a = problem.system.matrix();
  const std::vector<std::int32_t> group =
      make_node_groups(problem.positions, problem.device.matrix.download_entries(ctx), 48);
  ASSERT_GE(*std::ranges::max_element(group), 3);
  Preconditioner preconditioner;
  preconditioner.set_positions(problem.positions);
  preconditioner.build(ctx, problem.device.matrix, {PreconditionerKind::block_jacobi, {}}, flags.data());
  const Matrix blocks = applied(ctx, preconditioner, problem.fixed);
  preconditioner.build(ctx, problem.device.matrix, {PreconditionerKind::two_level, {}}, flags.data(),
                       at.data());
  const Matrix got = applied(ctx, preconditioner, problem.fixed) - blocks;
  const Matrix want = coarse_part(a, group, problem.positions, problem.fixed);
  EXPECT_LE((got - want).norm(), (sizeof(Real) == 8 ? 5e-6 : 2e-2) * want.norm())
      << "the condition of random systems reaches 1e9";
}

BACKEND_TEST(Preconditioner, EveryKindLeadsToTheSameSolution) {
  FRESH_SEED(seed);
  test::Random random(seed);
  FixedNodeProblem problem(ctx, random);
  const Buffer<std::uint8_t> flags(ctx, problem.fixed);
  const std::size_t n = problem.system.node_count;
  const std::vector<Vec3> b = random.vectors(n);
  const Buffer<Vec3> rhs(ctx, b), at(ctx, problem.positions);
  Matrix a = problem.system.matrix();
  test::Vector masked = test::to_eigen(b);
  for (std::size_t i = 0; i < 3 * n; ++i) {
    if (problem.fixed[i / 3] == 0) continue;
    a.row(i).setZero();
    a.col(i).setZero();
    a(i, i) = 1;
    masked[i] = 0;
  }
  const test::Vector want = a.llt().solve(masked);
  Pcg pcg;
  pcg.set_positions(problem.positions);
  for (const PreconditionerSettings& preconditioner : kAll) {
    SCOPED_TRACE(describe(preconditioner));
    PcgSettings settings;
    settings.tolerance = sizeof(Real) == 8 ? Real(1e-11) : Real(1e-5);
    settings.preconditioner = preconditioner;
    settings.positions = at.data();
    Buffer<Vec3> x(ctx, n);
    const PcgResult result =
        pcg.solve(ctx, problem.device.matrix, rhs.data(), x.data(), settings, flags.data());
    EXPECT_EQ(result.stop, PcgStop::converged) << result.residual;
    EXPECT_LE((test::to_eigen(x.download(ctx)) - want).norm(), 1e4 * settings.tolerance * want.norm());
  }
}

// A long chain of tets held only by a small mass. Its error extends over the whole length: coarse levels
// reduce it, blocks do not.
BACKEND_TEST(Preconditioner, CoarseLevelsShortenAStiffChain) {
  const int length = 300;
  test::System chain;
  chain.node_count = static_cast<std::size_t>(4) * length;
  std::vector<Vec3> positions;
  for (int z = 0; z < length; ++z)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 2; ++x) positions.push_back({Real(x), Real(y), Real(z)});
  test::add_springs(chain, 0, 2, 2, length);
  chain.diagonal.assign(chain.node_count, Real(1e-2));
  DeviceSystem device(ctx, chain);
  test::Random random(8);
  const Buffer<Vec3> b(ctx, random.vectors(chain.node_count)), at(ctx, positions);
  Buffer<Vec3> x(ctx, chain.node_count);
  Pcg pcg;
  pcg.set_positions(positions);
  const auto iterations = [&](PreconditionerSettings preconditioner) {
    PcgSettings settings;
    settings.tolerance = Real(1e-5);
    settings.preconditioner = preconditioner;
    settings.positions = at.data();
    const PcgResult result = pcg.solve(ctx, device.matrix, b.data(), x.data(), settings);
    EXPECT_EQ(result.stop, PcgStop::converged);
    return result.iterations;
  };
  const int blocks = iterations({PreconditionerKind::block_jacobi, {}});
  EXPECT_LT(iterations({PreconditionerKind::multilevel, {}}), 0.25 * blocks);
  EXPECT_LT(iterations({PreconditionerKind::multilevel_contacts, {}}), 0.25 * blocks);
  EXPECT_LT(iterations({PreconditionerKind::two_level, {}}), 0.15 * blocks);
}

BACKEND_TEST(Preconditioner, AffineModesShortenAFreeBlock) {
  FreeBlock block(ctx);
  test::Random random(12);
  const Buffer<Vec3> b(ctx, random.vectors(block.system.node_count));
  Buffer<Vec3> x(ctx, block.system.node_count);
  Pcg pcg;
  PcgSettings settings;
  settings.tolerance = Real(1e-5);
  const auto iterations = [&] {
    const PcgResult result = pcg.solve(ctx, block.device.matrix, b.data(), x.data(), settings);
    EXPECT_EQ(result.stop, PcgStop::converged);
    return result.iterations;
  };
  const int without = iterations();
  pcg.set_modes(&block.modes);
  EXPECT_LT(iterations(), 0.6 * without);
}

BACKEND_TEST(Preconditioner, BalanceLeavesNoAffinePartOfTheResidual) {
  FreeBlock block(ctx);
  test::Random random(14);
  const std::size_t n = block.system.node_count;
  const std::vector<Vec3> b = random.vectors(n);
  Buffer<Vec3> x(ctx, random.vectors(n));
  Buffer<Vec3> r(ctx, n);
  // Sum and first moments of b - A x.
  const auto affine_part = [&] {
    block.device.matrix.multiply(ctx, x.data(), r.data());
    std::vector<Vec3> left = r.download(ctx);
    Vec<double, 12> sum = Vec<double, 12>::zero();
    for (std::size_t i = 0; i < n; ++i) {
      left[i] = b[i] - left[i];
      for (int a = 0; a < 3; ++a) {
        sum[a] += static_cast<double>(left[i][a]);
        for (int k = 0; k < 3; ++k)
          sum[3 + 3 * k + a] += static_cast<double>(left[i][a]) * static_cast<double>(block.positions[i][k]);
      }
    }
    r.upload(ctx, left);
    return std::sqrt(norm2(sum));
  };
  const double before = affine_part();
  block.modes.balance(ctx, r.data(), x.data());
  EXPECT_LE(affine_part(), (sizeof(Real) == 8 ? 1e-8 : 1e-2) * before);
}

BACKEND_TEST(Preconditioner, SteadyUseAllocatesNothing) {
  test::Random random(9);
  FixedNodeProblem problem(ctx, random);
  Preconditioner preconditioner;
  preconditioner.set_positions(problem.positions);
  const Buffer<Vec3> at(ctx, problem.positions);
  for (const PreconditionerSettings& settings : kAll) {
    preconditioner.build(ctx, problem.device.matrix, settings, nullptr, at.data());
    ctx.counters() = {};
    preconditioner.build(ctx, problem.device.matrix, settings, nullptr, at.data());
    EXPECT_EQ(ctx.counters().allocations, 0U);
  }
  AffineModes modes;
  modes.load(ctx, std::vector<Vec2i>{{0, 20}});
  modes.build(ctx, problem.device.matrix, at.data(), nullptr);
  ctx.counters() = {};
  modes.build(ctx, problem.device.matrix, at.data(), nullptr);
  EXPECT_EQ(ctx.counters().allocations, 0U);
}

// Two objects that A does not couple, with nodes of none between and after them, each of more than one chunk.
BACKEND_TEST(Preconditioner, WithAffineModesEqualsItsDefinition) {
  FRESH_SEED(seed);
  test::Random random(seed);
  test::System system;
  test::add_springs(system, 0, 4, 4, 3);
  test::add_springs(system, 50, 3, 4, 3);
  const std::vector<Vec2i> objects = {{0, 48}, {50, 86}};
  const std::int32_t n = 88;
  system.node_count = static_cast<std::size_t>(n);
  for (std::int32_t i = 0; i < n; ++i)
    system.diagonal.push_back(Real(0.1) + Real(0.01) * Real(random.index(9)));
  DeviceSystem device(ctx, system);
  const std::vector<Vec3> positions = random.vectors(system.node_count);
  std::vector<std::uint8_t> fixed(system.node_count);
  for (std::uint8_t& f : fixed) f = random.index(5) == 0 ? 1 : 0;
  const Buffer<std::uint8_t> flags(ctx, fixed);
  const Buffer<Vec3> at(ctx, positions);
  Matrix want = Matrix::Zero(3 * n, 3 * n);
  const Matrix a = system.matrix();
  std::vector<std::int32_t> slot(n);
  std::iota(slot.begin(), slot.end(), 0);
  add_level(want, a, slot, 1, fixed);
  for (const Vec2i& object : objects) {
    Matrix z = Matrix::Zero(3 * n, 12);
    for (std::int32_t i = object[0]; i < object[1]; ++i) {
      if (fixed[i] != 0) continue;
      z.block<3, 3>(3 * i, 0).setIdentity();
      for (int k = 0; k < 3; ++k)
        z.block<3, 3>(3 * i, 3 + 3 * k).diagonal().setConstant(static_cast<double>(positions[i][k]));
    }
    want += z * (z.transpose() * a * z).llt().solve(z.transpose());
  }
  const double tolerance = sizeof(Real) == 8 ? 1e-7 : 1e-2;
  // Processors multiply few objects and many in two ways; those without nodes add nothing.
  for (const int empty : {0, 5}) {
    SCOPED_TRACE(std::to_string(empty) + " objects without nodes");
    std::vector<Vec2i> all = objects;
    all.insert(all.end(), static_cast<std::size_t>(empty), Vec2i{86, 86});
    AffineModes modes;
    modes.load(ctx, all);
    modes.build(ctx, device.matrix, at.data(), flags.data());
    Preconditioner preconditioner;
    preconditioner.set_modes(&modes);
    preconditioner.build(ctx, device.matrix, {PreconditionerKind::block_jacobi, {}}, flags.data());
    const Matrix got = applied(ctx, preconditioner, fixed);
    EXPECT_LE((got - want).norm(), tolerance * want.norm());
    EXPECT_LE((got - got.transpose()).norm(), tolerance * want.norm());
  }
}

// Objects of one node or none that moves have fewer motions than twelve.
BACKEND_TEST(Preconditioner, AffineModesOfFewFreeNodesDoNoHarm) {
  test::Random random(11);
  FixedNodeProblem problem(ctx, random);
  const std::size_t n = problem.system.node_count;
  problem.fixed.assign(n, 0);
  for (std::size_t i = 0; i < 40; ++i) problem.fixed[i] = i != 7;
  const Buffer<std::uint8_t> flags(ctx, problem.fixed);
  const Buffer<Vec3> at(ctx, problem.positions), b(ctx, random.vectors(n));
  AffineModes modes;
  modes.load(ctx, std::vector<Vec2i>{{0, 20}, {20, 40}, {40, 43}});
  modes.build(ctx, problem.device.matrix, at.data(), flags.data());
  Pcg pcg;
  PcgSettings settings;
  settings.tolerance = sizeof(Real) == 8 ? Real(1e-11) : Real(1e-5);
  Buffer<Vec3> x(ctx, n), plain(ctx, n);
  EXPECT_EQ(pcg.solve(ctx, problem.device.matrix, b.data(), plain.data(), settings, flags.data()).stop,
            PcgStop::converged);
  pcg.set_modes(&modes);
  EXPECT_EQ(pcg.solve(ctx, problem.device.matrix, b.data(), x.data(), settings, flags.data()).stop,
            PcgStop::converged);
  const test::Vector want = test::to_eigen(plain.download(ctx));
  EXPECT_LE((test::to_eigen(x.download(ctx)) - want).norm(), 1e4 * settings.tolerance * want.norm());
}

BACKEND_TEST(Preconditioner, RequiresPositionsForDomains) {
  test::Random random(10);
  FixedNodeProblem problem(ctx, random);
  Preconditioner preconditioner;
  EXPECT_THROW(
      preconditioner.build(ctx, problem.device.matrix, {PreconditionerKind::multilevel, {}}, nullptr),
      std::logic_error);
  preconditioner.set_positions(problem.positions);
  EXPECT_THROW(preconditioner.build(ctx, problem.device.matrix, {PreconditionerKind::two_level, {}}, nullptr),
               std::logic_error);
}

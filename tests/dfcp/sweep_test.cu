// Gauss-Seidel sweeps: order, storage and threads.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "gpu/contact_lab.h"
#include "gpu/core/reduce.h"
#include "gpu/dfcp/problem/generators.h"
#include "gpu/dfcp/solvers/exact_sweep.cuh"
#include "gpu/dfcp/solvers/prox_sweep.cuh"
#include "gpu/dfcp/solvers/row_sweep.cuh"
#include "gpu/model/report.h"
#include "tests/backend_test.h"
#include "tests/fixtures/contact_problems.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Impulses = std::vector<Vec<double, 3>>;

std::vector<ContactLaw<3>> laws_of(const ContactProblem& problem) {
  std::vector<ContactLaw<3>> laws(problem.blocks());
  for (std::size_t c = 0; c < laws.size(); ++c)
    laws[c] = {{problem.laws[c].mu[0], problem.laws[c].mu[1]}, problem.laws[c].set, problem.laws[c].flow};
  return laws;
}

/// Inputs of a solver, for sweeps in the test.
struct Bench {
  Context& ctx;
  LabParams params;
  Delassus<3> W;
  Buffer<ContactLaw<3>> law;
  Buffer<Vec<double, 3>> r;
  Colouring colouring;
  std::unique_ptr<Monitor<3>> monitor;
  std::unique_ptr<System<3>> system;

  Bench(Context& context, const ContactProblem& problem, const LabParams& p) : ctx(context), params(p) {
    W.build(ctx, problem, p.storage == DelassusStorage::factored);
    law.upload(ctx, laws_of(problem));
    r.upload(ctx, Impulses(problem.blocks(), Vec<double, 3>::zero()));
    monitor = std::make_unique<Monitor<3>>(ctx, W, law.data(), Monitor<3>::Limits{});
    system =
        std::make_unique<System<3>>(System<3>{ctx, W, law.data(), params, *monitor, colouring, r.data()});
  }

  template <class Sweep>
  Impulses sweep(int times) {
    Sweep sweep(*system);
    sweep.refresh(r.data());
    for (int k = 0; k < times; ++k) sweep.run(r.data());
    return r.download(ctx);
  }
};

double largest_gap(const Impulses& a, const Impulses& b) {
  double most = 0, size = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    most = std::max(most, norm(a[c] - b[c]));
    size = std::max(size, norm(b[c]));
  }
  return most / size;
}

bool same_bits(const Impulses& a, const Impulses& b) { return a == b; }

/// Rows of a local problem swept on the host, in the order given.
Impulses swept_on_the_host(const ContactProblem& local, const std::vector<std::int32_t>& order, int times) {
  std::vector<double> r(local.size(), 0.0);
  for (int sweep = 0; sweep < times; ++sweep)
    for (const std::int32_t c : order)
      for (int i = 0; i < 3; ++i) {
        const auto row = static_cast<std::size_t>(3 * c + i);
        double u = local.q[row], diagonal = 0;
        for (std::int32_t k = local.W.offsets[row]; k < local.W.offsets[row + 1]; ++k) {
          const auto column = static_cast<std::size_t>(local.W.indices[static_cast<std::size_t>(k)]);
          u += local.W.values[static_cast<std::size_t>(k)] * r[column];
          if (column == row) diagonal = local.W.values[static_cast<std::size_t>(k)];
        }
        const double bound =
            i == 0 ? 0
                   : local.laws[static_cast<std::size_t>(c)].mu[i - 1] * r[row - static_cast<std::size_t>(i)];
        const double next = r[row] - u / diagonal;
        r[row] = i == 0 ? std::max(0.0, next) : std::clamp(next, -bound, bound);
      }
  Impulses blocks(local.blocks());
  for (std::size_t row = 0; row < r.size(); ++row) blocks[row / 3][static_cast<int>(row % 3)] = r[row];
  return blocks;
}

LabParams with_order(SweepOrder order, DelassusStorage storage = DelassusStorage::assembled) {
  LabParams params;
  params.ordering = order;
  params.storage = storage;
  return params;
}

template <class Sweep>
void expect_storages_agree(Context& ctx, const ContactProblem& problem, const LabParams& params) {
  LabParams factored = params;
  factored.storage = DelassusStorage::factored;
  Bench a(ctx, problem, params), b(ctx, problem, factored);
  ASSERT_TRUE(b.W.factored());
  ASSERT_FALSE(a.W.factored());
  const Impulses expected = a.sweep<Sweep>(7), result = b.sweep<Sweep>(7);
  EXPECT_LT(largest_gap(result, expected), 1e-10);
}

template <class Sweep>
void expect_threads_agree(Context& ctx, const ContactProblem& problem, const LabParams& params) {
  const Impulses expected = Bench(ctx, problem, params).sweep<Sweep>(3);
  for (const int threads : {1, 2, 4}) {
    Context other(threads);
    EXPECT_TRUE(same_bits(Bench(other, problem, params).sweep<Sweep>(3), expected)) << threads << " threads";
  }
}

/// The same problem with its blocks stored the other way round.
ContactProblem from_the_top(const ContactProblem& p) {
  ContactProblem q = p;
  q.jacobian.clear();
  q.block_start = {0};
  for (std::size_t k = 0; k < p.blocks(); ++k) {
    const std::size_t c = p.blocks() - 1 - k;
    q.laws[k] = p.laws[c];
    for (std::size_t i = 0; i < 3; ++i) q.w[3 * k + i] = p.w[3 * c + i];
    q.jacobian.insert(q.jacobian.end(), p.jacobian.begin() + p.block_start[c],
                      p.jacobian.begin() + p.block_start[c + 1]);
    q.block_start.push_back(static_cast<std::int32_t>(q.jacobian.size()));
  }
  return q;
}

/// What the host launches in ten sweeps that follow the first five.
template <class Sweep>
std::size_t later_launches(Context& ctx, const ContactProblem& problem, const LabParams& params) {
  Bench bench(ctx, problem, params);
  Sweep sweep(*bench.system);
  sweep.refresh(bench.r.data());
  for (int k = 0; k < 5; ++k) sweep.run(bench.r.data());
  const std::size_t before = ctx.counters().launches;
  for (int k = 0; k < 10; ++k) sweep.run(bench.r.data());
  return ctx.counters().launches - before;
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Sweep, VisitsRowsInTheirOrder) {
  const ContactProblem problem = to_local(random_stacks(12, 3, 5));
  for (const SweepOrder order : {SweepOrder::natural, SweepOrder::coloured}) {
    Bench bench(ctx, problem, with_order(order));
    const Impulses result = bench.sweep<RowSweep<3>>(4);
    std::vector<std::int32_t> turns(problem.blocks());
    for (std::size_t c = 0; c < turns.size(); ++c) turns[c] = static_cast<std::int32_t>(c);
    if (bench.colouring.built()) copy_to_host(ctx, turns.data(), bench.colouring.order(), turns.size());
    EXPECT_LT(largest_gap(result, swept_on_the_host(problem, turns, 4)), 1e-12);
  }
}

BACKEND_TEST(Sweep, VisitsRunsInTheirOrderOnAnyNumberOfThreads) {
  const ContactProblem problem = granular_column(6000, 3);
  Bench bench(ctx, problem, with_order(SweepOrder::coloured));
  const Impulses result = bench.sweep<RowSweep<3>>(2);
  EXPECT_EQ(bench.colouring.run_length() > 1, !STICKSLIP_ON_CUDA);
  std::vector<std::int32_t> turns(problem.blocks());
  copy_to_host(ctx, turns.data(), bench.colouring.order(), turns.size());
  EXPECT_LT(largest_gap(result, swept_on_the_host(to_local(problem), turns, 2)), 1e-12);

  LabParams params = with_order(SweepOrder::coloured);
  params.symmetric_sweeps = true;
  for (const DelassusStorage storage : {DelassusStorage::assembled, DelassusStorage::factored}) {
    params.storage = storage;
    expect_threads_agree<ExactSweep<3>>(ctx, problem, params);
  }
}

BACKEND_TEST(Sweep, FactoredAndAssembledAgree) {
  for (const SweepOrder order : {SweepOrder::natural, SweepOrder::coloured}) {
    const LabParams params = with_order(order);
    for (const ContactProblem& problem : {random_stacks(12, 3, 5), tasora_b1(20, 1), tasora_b4(20)}) {
      expect_storages_agree<RowSweep<3>>(ctx, problem, params);
      expect_storages_agree<ExactSweep<3>>(ctx, problem, params);
      expect_storages_agree<ProxSweep<3>>(ctx, problem, params);
    }
  }
}

BACKEND_TEST(Sweep, IsTheSameForAnyNumberOfThreads) {
  const ContactProblem problem = granular_column(4000, 3);
  for (const DelassusStorage storage : {DelassusStorage::assembled, DelassusStorage::factored}) {
    const LabParams params = with_order(SweepOrder::coloured, storage);
    expect_threads_agree<ExactSweep<3>>(ctx, problem, params);
    expect_threads_agree<ProxSweep<3>>(ctx, problem, params);
  }
}

BACKEND_TEST(Sweep, OrdersConvergeToTheSameVelocities) {
  for (const char* name : {"hyperstatic_grid", "hyperstatic_sliding", "block_below", "pendulum"}) {
    SCOPED_TRACE(name);
    const fixtures::KnownContact known = fixtures::known_contact(name);
    const auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
    lab->load(known.problem);
    for (const SweepOrder order : {SweepOrder::natural, SweepOrder::coloured})
      for (const bool symmetric : {false, true}) {
        LabParams params = with_order(order);
        params.symmetric_sweeps = symmetric;
        const SolveReport report = lab->solve("nsgs", params);
        ASSERT_TRUE(report.converged);
        for (std::size_t i = 0; i < known.u.size(); ++i)
          EXPECT_NEAR(report.u[i], known.u[i], known.tolerance);
        EXPECT_EQ(report.colouring.colours > 0, order == SweepOrder::coloured || STICKSLIP_ON_CUDA);
      }
  }
}

namespace stickslip::STICKSLIP_BACKEND {

/// Contacts of a running scene: each between one body of its own and body 0.
inline void put_star(Context& ctx, std::size_t contacts, const Buffer<BodyInverse>& inverse,
                     const Buffer<double>& free, Delassus<3>& W) {
  const BlockWriter<3> writer = W.begin(ctx, contacts, inverse.data(), free.data(), contacts + 1);
  launch(ctx, contacts, [=] SS_LAMBDA(std::size_t c) {
    ConstraintBlock<3> block{};
    block.body[0] = static_cast<std::int32_t>(c) + 1;
    for (int i = 0; i < 3; ++i) {
      block.jacobian[0][i][i] = 1;
      block.jacobian[1][i][i] = -1;
    }
    writer.put(c, block);
  });
  W.finish(ctx);
}

}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Sweep, MoreConflictsThanInt32CountsAreRefused) {
  constexpr std::size_t kContacts = 50'000;
  const Buffer<BodyInverse> inverse(ctx, std::vector<BodyInverse>(kContacts + 1, {1, {1, 1, 1, 0, 0, 0}}));
  const Buffer<double> free(ctx, std::vector<double>(6 * (kContacts + 1), 0.0));
  const Buffer<ContactLaw<3>> law(ctx, std::vector<ContactLaw<3>>(kContacts));
  Buffer<Vec<double, 3>> r(ctx, Impulses(kContacts, Vec<double, 3>::zero()));
  Delassus<3> W;
  put_star(ctx, kContacts, inverse, free, W);
  Monitor<3> monitor(ctx, W, law.data(), Monitor<3>::Limits{});
  Colouring colouring;
  const LabParams params = with_order(SweepOrder::coloured);
  System<3> system{ctx, W, law.data(), params, monitor, colouring, r.data()};
  EXPECT_THROW(colour_conflicts(system), SimulationError);
  EXPECT_FALSE(colouring.built());
}

BACKEND_TEST(Sweep, AnEmptyOneDoesNothing) {
  Bench bench(ctx, ContactProblem{}, with_order(SweepOrder::coloured));
  EXPECT_TRUE(bench.sweep<ExactSweep<3>>(2).empty());
  EXPECT_EQ(bench.colouring.colours(), 0);
}

BACKEND_TEST(Sweep, RestingBlocksAreSkipped) {
  const ContactProblem problem = random_stacks(12, 3, 5);
  LabParams params = with_order(SweepOrder::natural);
  const Impulses awake = Bench(ctx, problem, params).sweep<ExactSweep<3>>(200);
  params.sleep = 1;
  params.tolerance = 1e-6;
  EXPECT_FALSE(same_bits(Bench(ctx, problem, params).sweep<ExactSweep<3>>(200), awake));
  const auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
  lab->load(problem);
  for (const char* solver : {"nsgs", "prox_gs", "nncg"})
    EXPECT_TRUE(lab->solve(solver, params).converged) << solver;
}

// Fails where a key has padding: its undefined bytes make each sweep look new.
BACKEND_TEST(Sweep, RecordsItsLaunchesOnce) {
  const ContactProblem problem = random_stacks(60, 6, 3);
  for (const DelassusStorage storage : {DelassusStorage::assembled, DelassusStorage::factored})
    for (const bool both_ways : {false, true}) {
      LabParams params = with_order(SweepOrder::coloured, storage);
      params.symmetric_sweeps = both_ways;
      for (const std::size_t launches : {later_launches<ExactSweep<3>>(ctx, problem, params),
                                         later_launches<RowSweep<3>>(ctx, problem, params),
                                         later_launches<ProxSweep<3>>(ctx, problem, params)})
        EXPECT_EQ(launches == 0, STICKSLIP_ON_CUDA == 1) << launches;
    }
}

#if !STICKSLIP_ON_CUDA
/// Every order of the blocks has the same solution; other orders take other paths.
BACKEND_TEST(Sweeps, OrdersAgree) {
  const auto lab = make_contact_lab(Backend::cpu);
  for (const DelassusStorage storage : {DelassusStorage::assembled, DelassusStorage::factored}) {
    lab->load(tasora_b2(60, 3));  // without friction: velocities are unique
    std::vector<double> u;
    std::set<long> counts;
    for (const SweepOrder order : {SweepOrder::natural, SweepOrder::random, SweepOrder::gap,
                                   SweepOrder::impulse, SweepOrder::height}) {
      if (order == SweepOrder::height && storage == DelassusStorage::assembled) continue;  // refused
      for (const bool symmetric : {false, true}) {
        LabParams params;
        params.ordering = order;
        params.storage = storage;
        params.symmetric_sweeps = symmetric;
        params.check_interval = 1;
        const SolveReport report = lab->solve("nsgs", params);
        ASSERT_TRUE(report.converged);
        counts.insert(report.iterations);
        if (u.empty()) u = report.u;
        for (std::size_t i = 0; i < u.size(); ++i) ASSERT_NEAR(u[i], report.u[i], 1e-6);
      }
    }
    EXPECT_GE(counts.size(), 6U);
  }
}

/// Heights of a column of nodes are their places in it, whatever the order of storage; what nothing holds is
/// the highest.
BACKEND_TEST(Sweeps, HeightsOfAColumn) {
  ContactProblem column =
      fixtures::node_column("column", {1, 2, 3, 4, 5}, std::vector<std::array<double, 3>>(5), 0.5);
  Delassus<3> W;
  W.build(ctx, column, true);
  EXPECT_EQ(block_levels(W), (std::vector<std::int32_t>{0, 1, 2, 3, 4}));
  W.build(ctx, from_the_top(column), true);
  EXPECT_EQ(block_levels(W), (std::vector<std::int32_t>{4, 3, 2, 1, 0}));
  // Without the first contact, on the ground.
  column.laws.erase(column.laws.begin());
  column.w.resize(column.size());
  column.jacobian.erase(column.jacobian.begin());
  column.block_start.erase(column.block_start.begin());
  for (std::int32_t& start : column.block_start) --start;
  W.build(ctx, column, true);
  const auto floating = block_levels(W);
  EXPECT_EQ(floating.size(), 4U);
  for (const std::int32_t level : floating) EXPECT_EQ(level, std::numeric_limits<std::int32_t>::max());
}

/// A column that is stored from the top down is swept from the ground up, as one that is stored so.
BACKEND_TEST(Sweeps, HeightIsTheOrderFromTheGround) {
  const auto iterations = [&](const ContactProblem& problem, SweepOrder order) {
    const auto lab = make_contact_lab(Backend::cpu);
    lab->load(problem);
    LabParams params = with_order(order, DelassusStorage::factored);
    params.check_interval = 1;
    params.tolerance = 1e-6;
    const SolveReport report = lab->solve("nsgs", params);
    EXPECT_TRUE(report.converged);
    return report.iterations;
  };
  std::vector<std::array<double, 3>> velocities(6, {-1, 0.3, 0});
  const ContactProblem column = fixtures::node_column("column", {1, 2, 1, 3, 1, 2}, velocities, 0.5);
  const long upwards = iterations(column, SweepOrder::natural);
  EXPECT_EQ(iterations(from_the_top(column), SweepOrder::height), upwards);
  EXPECT_NE(iterations(from_the_top(column), SweepOrder::natural), upwards);
}

/// Heights need bodies.
BACKEND_TEST(Sweeps, HeightIsRefusedWithoutBodies) {
  const auto lab = make_contact_lab(Backend::cpu);
  lab->load(to_local(random_stacks(8, 1, 3)));
  LabParams params;
  params.ordering = SweepOrder::height;
  const SolveReport report = lab->solve("nsgs", params);
  EXPECT_EQ(report.end, SolveEnd::refused);
  EXPECT_NE(report.message.find("given by bodies"), std::string::npos);
  EXPECT_NE(lab->solve("newton_ac", params).end, SolveEnd::refused);  // which has no order
}
#endif

/// Joints as one block reach the solution of joints one by one, in fewer sweeps along a chain.
BACKEND_TEST(Sweeps, JointsAsOneBlock) {
  const auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
  for (const DelassusStorage storage : {DelassusStorage::assembled, DelassusStorage::factored}) {
    lab->load(tasora_b1(60, 2));
    for (const char* solver : {"nsgs", "pgs"}) {
      LabParams params;
      params.storage = storage;
      params.check_interval = 1;
      const SolveReport apart = lab->solve(solver, params);
      params.joint_block = true;
      const SolveReport together = lab->solve(solver, params);
      ASSERT_TRUE(apart.converged) << apart.message;
      ASSERT_TRUE(together.converged) << together.message << " " << together.judgement.residual;
      EXPECT_LT(5 * together.iterations, apart.iterations);
      for (std::size_t i = 0; i < apart.u.size(); ++i) ASSERT_NEAR(apart.u[i], together.u[i], 1e-6);
    }
  }
}

/// Without joints nothing changes, bit by bit.
BACKEND_TEST(Sweeps, JointBlockNeedsJoints) {
  const auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
  lab->load(random_stacks(8, 2, 3));
  LabParams params;
  params.max_iterations = 20;
  const SolveReport plain = lab->solve("nsgs", params);
  params.joint_block = true;
  EXPECT_TRUE(plain.r == lab->solve("nsgs", params).r);
}

/// The printed test takes the growth of a sweep from zero for divergence, or ends where the largest impulse
/// shrinks; it does not check the law. The test of changes ends where sweeps have settled.
BACKEND_TEST(Sweeps, TestsForContraction) {
  const auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
  lab->load(tasora_b2(60, 3));
  for (const char* solver : {"pgs", "pgs_jacobi"}) {
    SCOPED_TRACE(solver);
    LabParams params;
    params.check_interval = 1;
    const SolveReport plain = lab->solve(solver, params);
    ASSERT_TRUE(plain.converged);
    params.contraction_test = ContractionTest::printed;
    const SolveReport printed = lab->solve(solver, params);
    EXPECT_EQ(printed.end, SolveEnd::stalled);
    EXPECT_LE(printed.iterations, 2);
    EXPECT_GT(printed.judgement.residual, 1e-3);
    EXPECT_NE(printed.message.find("test for contraction"), std::string::npos) << printed.message;
    params.contraction_test = ContractionTest::change;
    params.contraction_threshold = 1e-3;
    const SolveReport change = lab->solve(solver, params);
    EXPECT_EQ(change.end, SolveEnd::stalled);
    EXPECT_LT(change.iterations, plain.iterations);
    params.contraction_threshold = 1e-12;
    EXPECT_TRUE(lab->solve(solver, params).converged);
  }
}

/// A chain whose ends are joined by joints that contradict each other has no solution, and the block does not
/// run away: the impulses stay of the size that sweeps give.
BACKEND_TEST(Sweeps, JointsThatContradictEachOtherAreLeftToSweeps) {
  const auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
  ContactProblem p = fixtures::node_column("loop", {1, 1}, {{0, 0, 0}, {0, 0, 0}}, 0);
  for (BlockLaw& law : p.laws) law.set = FrictionSet::bilateral;
  // The first joint once more, with another velocity.
  p.laws.push_back(p.laws[0]);
  p.jacobian.push_back(p.jacobian[0]);
  p.block_start.push_back(static_cast<std::int32_t>(p.jacobian.size()));
  p.w.resize(9, 0.0);
  p.w[6] = 1;
  lab->load(p);
  LabParams params;
  params.max_iterations = 200;
  params.joint_block = true;
  for (const DelassusStorage storage : {DelassusStorage::assembled, DelassusStorage::factored}) {
    params.storage = storage;
    const SolveReport report = lab->solve("nsgs", params);
    EXPECT_FALSE(report.converged);
    for (const double r : report.r) EXPECT_LT(std::fabs(r), 1e3);
  }
}

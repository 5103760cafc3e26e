// Gauss-Seidel sweeps: order, storage and threads.
#include <algorithm>
#include <cmath>
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
    for (const SweepOrder order :
         {SweepOrder::natural, SweepOrder::random, SweepOrder::gap, SweepOrder::impulse})
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
    EXPECT_GE(counts.size(), 6U);
  }
}
#endif

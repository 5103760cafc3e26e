#include <cstdio>
#include <string>
#include <vector>

#include "bench/benches.cuh"
#include "bench/counted.h"
#include "gpu/dfcp/problem/generators.h"
#include "gpu/dfcp/solvers/exact_sweep.cuh"
#include "gpu/dfcp/solvers/prox_sweep.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

constexpr int kRows = 3;  // of a block
using Row = Vec<double, kRows>;
using Block = Mat<double, kRows>;

constexpr int kContactRepetitions = 5, kColouringRuns = 3;
constexpr std::uint64_t kSeed = 1;

/// Number of iterations timed in a row: enough for the clock, few enough for a short run.
int iterations_in_a_row(long contacts) { return static_cast<int>(std::clamp(2'000'000 / contacts, 2L, 50L)); }

/// Bytes that one iteration must move: every array that it uses read once, and written once where it changes.
/// Cache misses are not counted. Each entry of a gathered array counts once.
class Traffic {
 public:
  explicit Traffic(const Delassus<kRows>& W)
      : factored_(W.factored()),
        blocks_(static_cast<double>(W.blocks())),
        entries_(static_cast<double>(factored_ ? W.body_start().back() : W.pattern_start().back())),
        bodies_(static_cast<double>(W.bodies())),
        dofs_(W.body_dofs()) {}

  /// y = W x, with or without q.
  double apply(bool with_q) const {
    const double out = blocks_ * ((with_q ? 3 : 2) * kRow);  // x, y, q
    if (!factored_) return rows() + out;
    // Body velocities: the gather's lists, A^-1 H', x, v; then rows of H, v, the compliance and x again.
    const double velocities = bodies_ * (kIndex + velocity()) + entries_ * (2 * kIndex + half_entry());
    return velocities + blocks_ * (2 * kRow + kIndex) + entries_ * (kIndex + half_entry()) +
           bodies_ * velocity() + out;
  }
  /// A sweep by colours in which each block reads `data` bytes and updates `state` bytes of its own.
  double sweep(double data, double state) const {
    const double block = kIndex + kRow + 2 * kRow + kLaw + sizeof(Block) + data + 2 * state;  // order, q, r
    if (!factored_) return rows() + blocks_ * block;
    return blocks_ * (block + kIndex + kRow) + entries_ * (kIndex + 2 * half_entry()) +
           bodies_ * 2 * velocity();
  }
  double nsgs() const { return sweep(sizeof(LocalData<kRows>), sizeof(double)); }
  double prox_gs() const { return sweep(sizeof(ProxBlock<kRows>) - sizeof(double), sizeof(double)); }
  double prox_jacobi() const {
    // The step: law, factors and their multiplier, r, u. The adaptive rule: its reduction reads r and two
    // others, then the three are read again and two of them written.
    return apply(true) +
           blocks_ * (kLaw + sizeof(ProxBlock<kRows>) + sizeof(double) + 3 * kRow + (3 + 5) * kRow);
  }
  double spg() const {
    // x, u, shift, law, scale -> d; A d; x, u, d, A d, shift, law, scale -> sums; x, u, d, A d -> x, u.
    return apply(false) + blocks_ * (2 * (kLaw + 2 * sizeof(double)) + (2 + 1 + 4 + 4 + 2) * kRow);
  }
  /// The pattern of W, or the entries of bodies and blocks, read once from either side;
  /// colours and order written.
  double colouring() const { return (3 * blocks_ + (factored_ ? 2 : 1) * entries_) * kIndex; }
  double check() const { return apply(true) + blocks_ * (kLaw + sizeof(double) + 2 * kRow); }

 private:
  static constexpr double kRow = sizeof(Row), kLaw = sizeof(ContactLaw<kRows>), kIndex = sizeof(std::int32_t);
  double velocity() const { return dofs_ * sizeof(double); }
  double half_entry() const { return kRows * velocity(); }  // of H, or of A^-1 H'
  double rows() const { return blocks_ * kIndex + entries_ * (kIndex + sizeof(Block)); }

  bool factored_;
  double blocks_, entries_, bodies_;
  int dofs_;
};

LabParams sweep_params() {
  LabParams params;
  params.ordering = SweepOrder::coloured;
  params.de_saxce = false;  // spg: one convex problem, so that all iterations cost the same
  return params;
}

/// One granular column with W stored in one way, and the impulses from which timed iterations start.
class Column {
 public:
  Column(Context& ctx, const ContactProblem& problem, bool factored) : ctx_(ctx), params_(sweep_params()) {
    const Timer timer;
    W_.build(ctx, problem, factored);
    ctx.synchronize();
    build_seconds_ = timer.seconds();
    std::vector<ContactLaw<kRows>> laws(problem.blocks());
    for (std::size_t c = 0; c < laws.size(); ++c)
      laws[c] = {{problem.laws[c].mu[0], problem.laws[c].mu[1]}, problem.laws[c].set, problem.laws[c].flow};
    law_.upload(ctx, laws);
    r_.resize(ctx, problem.blocks());
    start_.resize(ctx, problem.blocks());
    fill(ctx, r_.data(), r_.size(), Row::zero());
  }

  const Delassus<kRows>& W() const { return W_; }
  const Colouring& colouring() const { return colouring_; }
  double build_seconds() const { return build_seconds_; }
  /// From W to colours, as in a step.
  double colouring_seconds() const { return colouring_seconds_; }

  /// From the graph in backend memory to colours. Only where W is assembled.
  double graph_colouring_seconds() {
    const Buffer<std::int32_t> start(ctx_, W_.pattern_start()), column(ctx_, W_.pattern_column());
    Colouring other;
    return best_seconds(ctx_, kColouringRuns, [&] {
      other.build(ctx_, {W_.blocks(), start.data(), column.data()});
    });
  }

  /// Colours the blocks, and sweeps until impulses have spread through the column.
  void settle() {
    Monitor<kRows> monitor(ctx_, W_, law_.data(), {});
    System<kRows> s = system(monitor);
    colouring_seconds_ = best_seconds(
        ctx_, kColouringRuns, [&] { colouring_.clear(); }, [&] { colour_conflicts(s); });
    ExactSweep<kRows> sweep(s);
    sweep.refresh();
    for (int k = 0; k < 20; ++k) sweep.run();
    copy(ctx_, start_.data(), r_.data(), r_.size());
  }

  /// Seconds of one sweep; the repetitions run the same sweeps, from the start.
  template <class Sweep>
  double sweep_seconds(int sweeps) {
    Monitor<kRows> monitor(ctx_, W_, law_.data(), {});
    System<kRows> s = system(monitor);
    Sweep sweep(s);
    return best_seconds(
               ctx_, kContactRepetitions,
               [&] {
                 restore();
                 sweep.refresh(r_.data());
               },
               [&] {
                 for (int k = 0; k < sweeps; ++k) sweep.run(r_.data());
               }) /
           sweeps;
  }

  /// Seconds of one iteration of a solver. Subtracts the time of a short solve, to remove costs before the
  /// first and after the last iteration.
  template <class Solve>
  double iteration_seconds(int iterations, Solve solve) {
    const auto seconds_of = [&](int count) {
      return best_seconds(
          ctx_, kContactRepetitions, [&] { restore(); }, [&] { run_for(count, solve); });
    };
    constexpr int few = 2;
    return (seconds_of(few + iterations) - seconds_of(few)) / iterations;
  }

  double apply_seconds(int products) {
    Buffer<Row> y(ctx_, r_.size());
    return best_seconds(ctx_, kContactRepetitions,
                        [&] {
                          for (int k = 0; k < products; ++k) W_.apply(ctx_, start_.data(), y.data(), false);
                        }) /
           products;
  }

  /// Seconds of one check, for impulses no better than the best, so that none are stored.
  double check_seconds(int checks) {
    Monitor<kRows> monitor(ctx_, W_, law_.data(), {});
    monitor.check(start_.data());
    return best_seconds(ctx_, kContactRepetitions,
                        [&] {
                          for (int k = 0; k < checks; ++k) monitor.check(start_.data());
                        }) /
           checks;
  }

 private:
  System<kRows> system(Monitor<kRows>& monitor) {
    return {ctx_, W_, law_.data(), params_, monitor, colouring_, r_.data()};
  }
  void restore() { copy(ctx_, r_.data(), start_.data(), r_.size()); }
  template <class Solve>
  void run_for(int iterations, Solve solve) {
    Monitor<kRows> monitor(ctx_, W_, law_.data(), {0, iterations, 0, 1'000'000'000, nullptr, false});
    System<kRows> s = system(monitor);
    solve(s);
    if (monitor.iterations() != iterations)
      throw std::runtime_error("contacts: a solver stopped early: " + monitor.message());
  }

  Context& ctx_;
  LabParams params_;
  Delassus<kRows> W_;
  Buffer<ContactLaw<kRows>> law_;
  Buffer<Row> r_, start_;
  Colouring colouring_;
  double build_seconds_ = 0, colouring_seconds_ = 0;
};

void add_rates(Column& column, const std::string& name, int iterations, double triad, BenchResult& result) {
  const Traffic traffic(column.W());
  const auto add = [&](const char* what, double seconds, double bytes) {
    char floor[64];
    std::snprintf(floor, sizeof floor, "%.4g MB at triad bandwidth", 1e-6 * bytes);
    result.figures.push_back({name + ", " + what, 1 / seconds, "iterations/s", triad / bytes, floor});
  };
  add("nsgs sweep", column.sweep_seconds<ExactSweep<kRows>>(iterations), traffic.nsgs());
  add("prox_gs sweep", column.sweep_seconds<ProxSweep<kRows>>(iterations), traffic.prox_gs());
  add("prox_jacobi", column.iteration_seconds(iterations, solve_prox_jacobi<kRows>), traffic.prox_jacobi());
  add("spg", column.iteration_seconds(iterations, solve_spg<kRows>), traffic.spg());
  add("W x", column.apply_seconds(iterations), traffic.apply(false));
  add("check by the judge", column.check_seconds(iterations), traffic.check());
  const auto add_time = [&](const char* what, double seconds) {
    result.figures.push_back({name + ", " + what, 1e3 * seconds, "ms", 1e3 * traffic.colouring() / triad,
                              "the adjacency of the contacts, read once at triad bandwidth"});
  };
  add_time("colouring", column.colouring_seconds());
  if (!column.W().factored()) add_time("colouring of the graph", column.graph_colouring_seconds());
}

void add_colours(const Column& column, const std::string& name, BenchResult& result) {
  const ColouringReport report = column.colouring().report();
  const auto add = [&](const char* what, double value, const char* unit) {
    result.figures.push_back({name + ", " + what, value, unit});
  };
  add("colours", report.colours, "colours");
  add("smallest colour", static_cast<double>(report.smallest), "blocks");
  add("largest colour", static_cast<double>(report.largest), "blocks");
}

}  // namespace

void add_contact_figures(Context& ctx, long contacts, double triad, BenchResult& result) {
  const ContactProblem problem = granular_column(contacts, kSeed);
  const int iterations = iterations_in_a_row(contacts);
  const std::string name_of_size = counted(static_cast<double>(contacts));
  for (const bool factored : {false, true}) {
    Column column(ctx, problem, factored);
    column.settle();
    // The conflict graph is the same in either form, and so are the colours.
    if (!factored) {
      add_colours(column, name_of_size, result);
      result.figures.push_back(
          {name_of_size + ", blocks of W a row",
           static_cast<double>(column.W().pattern_start().back()) / static_cast<double>(contacts), "blocks"});
    }
    const std::string name = name_of_size + (factored ? " factored" : " assembled");
    result.figures.push_back({name + ", building W", 1e3 * column.build_seconds(), "ms"});
    add_rates(column, name, iterations, triad, result);
  }
}

BenchResult bench_contacts(Context& ctx, bool full) {
  BenchResult result;
  const double triad = triad_bandwidth(ctx);
  result.figures.push_back({"triad 16M f64", 1e-9 * triad, "GB/s"});
  for (const long contacts : {10'000L, 100'000L, 1'000'000L})
    if (contacts < 1'000'000 || full) add_contact_figures(ctx, contacts, triad, result);
  if (!full) result.notes.emplace_back("contacts: 1M with --full");
  return result;
}

}  // namespace stickslip::STICKSLIP_BACKEND

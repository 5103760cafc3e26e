#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "bench/benches.cuh"
#include "bench/counted.h"
#include "bench/lattice.h"
#include "gpu/energy/tet_terms.cuh"
#include "gpu/linear/split_matrix.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Gradients at the corners of a batch of tets; zero at the others.
struct BatchCorners {
  IndexRange tets;
  const Vec3* corner;  // from the first tet of the batch on

  SS_HD Vec3 operator()(std::size_t c) const {
    return tets.has(c / 4) ? corner[c - 4 * tets.begin] : Vec3::zero();
  }
};

}  // namespace

/// The linearised elasticity of a bent block of tets: gradient by node, Hessian as a SplitMatrix, in batches
/// as in a Newton iteration.
class AssemblyBench {
 public:
  AssemblyBench(Context& ctx, std::int32_t side) : ctx_(ctx) {
    const std::vector<Vec4i> tets = lattice_tets(side);
    std::vector<Vec<double, 3>> rest;
    std::vector<Vec3> now;
    const double cell = 1.0 / (side - 1);
    for (int z = 0; z < side; ++z)
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
          const Vec<double, 3> at = Vec<double, 3>{double(x), double(y), double(z)} * cell;
          rest.push_back(at);
          // Stretched, sheared and compressed in turn, so that every branch of the projections runs.
          now.push_back(
              (at + 0.2 * Vec<double, 3>{std::sin(5 * at[1]), std::sin(4 * at[2]), std::sin(6 * at[0])} +
               0.1 * cell * Vec<double, 3>{std::sin(77 * at[2]), std::sin(91 * at[0]), std::sin(83 * at[1])})
                  .cast<Real>());
        }
    const std::vector<std::int32_t> material(tets.size(), 0);
    solid_.emplace(ctx, TermElements{rest, tets, material, {}});
    solid_->set_materials(ctx, std::vector<Material>(1));
    hessian_.set_pattern(ctx, rest.size(), tets);
    x_.upload(ctx, now);
    gradient_.resize(ctx, rest.size());
    batch_ = std::max<std::size_t>(1, (tets.size() + kBatches - 1) / kBatches);
    corners_.resize(ctx, 4 * batch_);
    blocks_.resize(ctx, kCornerBlocks * batch_);
  }

  std::size_t tets() const { return solid_->size(); }
  const SplitMatrix& hessian() const { return hessian_; }
  std::vector<Vec3> gradient() const { return gradient_.download(ctx_); }

  void run() {
    fill(ctx_, gradient_.data(), gradient_.size(), Vec3::zero());
    for_batches([&](IndexRange tets) {
      elements(tets);
      hessian_.assemble_batch(ctx_, blocks_.data(), tets);
      gather(tets);
    });
  }
  void run_elements() {
    for_batches([&](IndexRange tets) { elements(tets); });
  }
  void run_gradient() {
    fill(ctx_, gradient_.data(), gradient_.size(), Vec3::zero());
    for_batches([&](IndexRange tets) {
      solid_->gradient(ctx_, {x_.data(), x_.data(), kStep}, tets, corners_.data());
      gather(tets);
    });
  }

  /// Bytes: rest data of every tet and positions of every node read, gradient and blocks written, each once.
  double bytes() const {
    return gradient_bytes() + static_cast<double>(gradient_.size()) * sizeof(Mat3) +
           static_cast<double>(hessian_.pair_count()) * sizeof(Mat3);
  }
  double gradient_bytes() const {
    constexpr double per_tet = sizeof(Vec4i) + sizeof(Mat3) + sizeof(Real) + sizeof(std::int32_t);
    return static_cast<double>(tets()) * per_tet + static_cast<double>(gradient_.size()) * 2 * sizeof(Vec3);
  }

 private:
  static constexpr std::size_t kBatches = 16;  // as IncrementalPotential
  static constexpr Real kStep = Real(0.01);    // [s]; without damping it has no effect

  void elements(IndexRange tets) {
    solid_->gradient_and_hessian(ctx_, {x_.data(), x_.data(), kStep}, tets, corners_.data(), blocks_.data());
  }
  void gather(IndexRange tets) {
    hessian_.element_gather().sum(ctx_, BatchCorners{tets, corners_.data()}, gradient_.data());
  }
  template <class F>
  void for_batches(F work) {
    for (std::size_t begin = 0; begin < tets(); begin += batch_)
      work(IndexRange{begin, std::min(tets(), begin + batch_)});
  }

  Context& ctx_;
  std::optional<TetTerm> solid_;
  SplitMatrix hessian_;
  std::size_t batch_ = 1;
  Buffer<Vec3> x_, gradient_, corners_;
  Buffer<Mat3> blocks_;
};

void add_assembly_figures(Context& ctx, std::int32_t side, double triad, BenchResult& result) {
  constexpr int runs = 5;
  AssemblyBench bench(ctx, side);
  const std::string name = counted(static_cast<double>(bench.tets())) + " tets, ";
  const auto add = [&](const char* what, double seconds, double bytes) {
    result.figures.push_back({name + what, 1e3 * seconds, "ms", bytes > 0 ? 1e3 * bytes / triad : 0,
                              bytes > 0 ? "bytes moved at triad bandwidth" : ""});
  };
  const double whole = best_seconds(ctx, runs, [&] { bench.run(); });
  const double elements = best_seconds(ctx, runs, [&] { bench.run_elements(); });
  add("gradient and Hessian", whole, bench.bytes());
  add("gradient alone", best_seconds(ctx, runs, [&] { bench.run_gradient(); }), bench.gradient_bytes());
  // Elements write their corners and blocks, and assembly reads them again: gathering
  // at once would save this.
  add("of that elements alone", elements, 0);
}

BenchResult bench_assembly(Context& ctx) {
  BenchResult result;
  add_assembly_figures(ctx, 56, triad_bandwidth(ctx), result);
  return result;
}

}  // namespace stickslip::STICKSLIP_BACKEND

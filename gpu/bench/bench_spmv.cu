#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/bench/benches.cuh"
#include "gpu/bench/lattice.h"
#include "gpu/bench/sparse_peer.h"
#include "gpu/core/buffer.h"
#include "gpu/linear/pcg.cuh"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

constexpr int kRepetitions = 25;
constexpr Real kMass = Real(1e-4);
constexpr std::size_t kStencils = 100'000;

/// A vector Laplacian with a little mass: positive definite, and slow enough for PCG to be timed.
void assemble(Context& ctx, SplitMatrix& matrix) {
  matrix.assemble_from(ctx, [=] SS_LAMBDA(std::size_t i) {
    const int k = static_cast<int>(i % kCornerBlocks);
    const bool on_diagonal = k == 0 || k == 2 || k == 5 || k == 9;
    return Mat3::identity() * (on_diagonal ? Real(3) : Real(-1));
  });
  Buffer<Real> mass(ctx, matrix.node_count());
  fill(ctx, mass.data(), mass.size(), kMass);
  matrix.add_diagonal(ctx, mass.data());
}

/// Springs between two far parts of the mesh, as contacts are.
void add_stencils(Context& ctx, SplitMatrix& matrix) {
  const auto n = static_cast<std::int32_t>(matrix.node_count());
  Buffer<Vec4i> nodes(ctx, kStencils);
  Buffer<Mat3> blocks(ctx, kCornerBlocks * kStencils);
  Vec4i* node = nodes.data();
  Mat3* block = blocks.data();
  launch(ctx, kStencils, [=] SS_LAMBDA(std::size_t s) {
    const auto first = static_cast<std::int32_t>(3 * s % static_cast<std::size_t>(n / 2));
    node[s] = {first, first + 1, first + n / 2, first + n / 2 + 1};
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b <= a; ++b)
        block[kCornerBlocks * s + corner_block(a, b)] =
            Mat3::identity() * (a / 2 == b / 2 ? Real(1) : Real(-1));
  });
  matrix.set_stencils(ctx, nodes.data(), kStencils, blocks.data());
}

/// What one product must move: every block and index of D, L and C once, x and y once.
double product_bytes(const SplitMatrix& matrix) {
  const double nodes = static_cast<double>(matrix.node_count()),
               pairs = static_cast<double>(matrix.pair_count());
  const double stencils = static_cast<double>(matrix.stencil_count());
  return nodes * (sizeof(Mat3) + 2 * sizeof(Vec3) + sizeof(std::int32_t)) +
         pairs * (sizeof(Mat3) + sizeof(std::int32_t)) + stencils * (6 * sizeof(Mat3) + sizeof(Vec4i));
}

/// A PCG iteration adds: x, r, p read and written, z written and read, q and the preconditioner read.
double iteration_bytes(const SplitMatrix& matrix) {
  return product_bytes(matrix) +
         static_cast<double>(matrix.node_count()) * (9 * sizeof(Vec3) + sizeof(Symmetric3));
}

void fill_right_hand_side(Context& ctx, Buffer<Vec3>& b) {
  Vec3* values = b.data();
  launch(ctx, b.size(), [=] SS_LAMBDA(std::size_t i) {
    const Real t = static_cast<Real>(i % 1009);
    values[i] = {t, Real(1) - t, Real(0.5) * t};
  });
}

struct Vectors {
  Vectors(Context& ctx, std::size_t n) : b(ctx, n), x(ctx, n) { fill_right_hand_side(ctx, b); }
  Buffer<Vec3> b, x;
};

#if !STICKSLIP_ON_CUDA
/// The matrix of assemble() with both halves, as another program would hold it.
BlockRows whole_matrix(std::size_t node_count, const std::vector<Vec4i>& tets) {
  // A row's columns may repeat until they are sorted and merged.
  std::vector<std::vector<std::int32_t>> neighbours(node_count);
  for (const Vec4i& tet : tets)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b) neighbours[tet[a]].push_back(tet[b]);
  BlockRows rows;
  rows.begin.push_back(0);
  for (std::size_t i = 0; i < node_count; ++i) {
    std::vector<std::int32_t>& all = neighbours[i];
    std::sort(all.begin(), all.end());
    for (auto at = all.begin(); at != all.end();) {
      const std::int32_t column = *at;
      const auto next = std::find_if(at, all.end(), [=](std::int32_t c) { return c != column; });
      const auto uses = static_cast<Real>(next - at);
      const bool on_diagonal = column == static_cast<std::int32_t>(i);
      rows.column.push_back(column);
      rows.block.push_back(Mat3::identity() * (on_diagonal ? 3 * uses + kMass : -uses));
      at = next;
    }
    rows.begin.push_back(static_cast<std::int32_t>(rows.column.size()));
    std::vector<std::int32_t>().swap(all);
  }
  return rows;
}

/// Eigen's product of the same matrix and vector; its result must be ours.
void add_peer(Context& ctx, SplitMatrix& matrix, Vectors& vectors, BenchResult& result) {
  const double ours =
      best_seconds(ctx, kRepetitions, [&] { matrix.multiply(ctx, vectors.b.data(), vectors.x.data()); });
  if (!eigen_present()) {
    result.notes.emplace_back("spmv: no peer, this build has no Eigen");
    return;
  }
  std::vector<Vec3> y(matrix.node_count());
  const double theirs = eigen_product_seconds(whole_matrix(matrix.node_count(), lattice_tets(100)),
                                              vectors.b.data(), y.data(), ctx.threads(), 7);
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!(norm(y[i] - vectors.x.data()[i]) <= Real(1e-3) * (1 + norm(y[i]))))
      throw std::runtime_error("the products of SplitMatrix and Eigen differ at node " + std::to_string(i));
  result.figures.push_back({"spmv 1M nodes, one product", 1e3 * ours, "ms", 0, "", 1e3 * theirs,
                            "Eigen SparseMatrix, row-major, both halves"});
}
#endif

double product_rate(Context& ctx, SplitMatrix& matrix, Vectors& vectors) {
  const double seconds =
      best_seconds(ctx, kRepetitions, [&] { matrix.multiply(ctx, vectors.b.data(), vectors.x.data()); });
  return 1e-9 * product_bytes(matrix) / seconds;
}

/// Seconds of one iteration, with the start of the solve shared among `iterations`.
double iteration_seconds(Context& ctx, SplitMatrix& matrix, Vectors& vectors, int iterations) {
  Pcg pcg;
  return best_seconds(ctx, kRepetitions,
                      [&] {
                        pcg.solve(ctx, matrix, vectors.b.data(), vectors.x.data(), {Real(0), iterations});
                      }) /
         iterations;
}

}  // namespace

BenchResult bench_spmv(Context& ctx) {
  BenchResult result;
  const double triad = triad_bandwidth(ctx);
  const auto add_rate = [&](const std::string& name, double rate) {
    result.figures.push_back({name, rate, "GB/s", 1e-9 * triad, "triad of this run"});
  };
  const auto add_iteration = [&](const std::string& name, double seconds, double bytes) {
    result.figures.push_back(
        {name, 1e6 * seconds, "us", 1e6 * bytes / triad, "bytes moved at triad bandwidth"});
  };
  {
    SplitMatrix matrix;
    matrix.set_pattern(ctx, 1'000'000, lattice_tets(100));
    assemble(ctx, matrix);
    Vectors vectors(ctx, matrix.node_count());
    add_rate("spmv 1M nodes", product_rate(ctx, matrix, vectors));
    add_iteration("pcg iteration 1M nodes", iteration_seconds(ctx, matrix, vectors, 10),
                  iteration_bytes(matrix));
#if !STICKSLIP_ON_CUDA
    add_peer(ctx, matrix, vectors, result);
#endif
    add_stencils(ctx, matrix);
    add_rate("spmv 1M nodes, 100k contacts", product_rate(ctx, matrix, vectors));
  }
  {
    SplitMatrix matrix;
    matrix.set_pattern(ctx, 22 * 22 * 22, lattice_tets(22));
    assemble(ctx, matrix);
    Vectors vectors(ctx, matrix.node_count());
    add_iteration("pcg iteration 10.6k nodes", iteration_seconds(ctx, matrix, vectors, 60),
                  iteration_bytes(matrix));
  }
  return result;
}

}  // namespace stickslip::STICKSLIP_BACKEND

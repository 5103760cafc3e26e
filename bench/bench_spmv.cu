#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/benches.cuh"
#include "bench/counted.h"
#include "bench/laplacian.cuh"
#include "bench/lattice.h"
#include "bench/sparse_peer.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

constexpr int kProductRuns = 25;

#if !STICKSLIP_ON_CUDA
/// The matrix of set_laplacian() with both halves, in another library's format.
BlockCsr whole_matrix(std::size_t node_count, const std::vector<Vec4i>& tets) {
  // A row's columns may repeat until they are sorted and merged.
  std::vector<std::vector<std::int32_t>> neighbours(node_count);
  for (const Vec4i& tet : tets)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b) neighbours[tet[a]].push_back(tet[b]);
  BlockCsr rows;
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
      rows.block.push_back(Mat3::identity() * (on_diagonal ? 3 * uses + kLaplacianMass : -uses));
      at = next;
    }
    rows.begin.push_back(static_cast<std::int32_t>(rows.column.size()));
    std::vector<std::int32_t>().swap(all);
  }
  return rows;
}

/// Eigen's product of the same matrix and vector; its result must agree with ours.
void add_product_peer(Context& ctx, std::int32_t side, SplitMatrix& matrix, LaplacianVectors& vectors,
                      BenchResult& result) {
  const double ours =
      best_seconds(ctx, kProductRuns, [&] { matrix.multiply(ctx, vectors.b.data(), vectors.x.data()); });
  if (!eigen_present()) {
    result.notes.emplace_back("spmv: no peer, this build has no Eigen");
    return;
  }
  std::vector<Vec3> y(matrix.node_count());
  const double theirs = eigen_product_seconds(whole_matrix(matrix.node_count(), lattice_tets(side)),
                                              vectors.b.data(), y.data(), ctx.threads(), 7);
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!(norm(y[i] - vectors.x.data()[i]) <= Real(1e-3) * (1 + norm(y[i]))))
      throw std::runtime_error("the products of SplitMatrix and Eigen differ at node " + std::to_string(i));
  result.figures.push_back({"spmv " + counted(static_cast<double>(y.size())) + " nodes, one product",
                            1e3 * ours, "ms", 0, "", 1e3 * theirs,
                            "Eigen SparseMatrix, row-major, both halves"});
}
#endif

double product_rate(Context& ctx, SplitMatrix& matrix, LaplacianVectors& vectors) {
  const double seconds =
      best_seconds(ctx, kProductRuns, [&] { matrix.multiply(ctx, vectors.b.data(), vectors.x.data()); });
  return 1e-9 * product_bytes(matrix) / seconds;
}

}  // namespace

void add_product_figures(Context& ctx, std::int32_t side, double triad, BenchResult& result) {
  SplitMatrix matrix;
  set_laplacian(ctx, side, matrix);
  LaplacianVectors vectors(ctx, matrix.node_count());
  const std::size_t springs = matrix.node_count() / 10;
  const std::string name = "spmv " + counted(static_cast<double>(matrix.node_count())) + " nodes";
  const auto add = [&](const std::string& what) {
    result.figures.push_back(
        {name + what, product_rate(ctx, matrix, vectors), "GB/s", 1e-9 * triad, "triad of this run"});
  };
  add("");
#if !STICKSLIP_ON_CUDA
  add_product_peer(ctx, side, matrix, vectors, result);
#endif
  add_springs(ctx, springs, matrix);
  add(", " + counted(static_cast<double>(springs)) + " contacts");
}

BenchResult bench_spmv(Context& ctx) {
  BenchResult result;
  add_product_figures(ctx, 100, triad_bandwidth(ctx), result);
  return result;
}

}  // namespace stickslip::STICKSLIP_BACKEND

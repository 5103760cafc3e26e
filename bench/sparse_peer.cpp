#include "bench/sparse_peer.h"

#if STICKSLIP_HAS_EIGEN
#include <Eigen/Sparse>
#include <algorithm>
#include <limits>

#include "gpu/core/timer.h"
#endif

namespace stickslip {

#if STICKSLIP_HAS_EIGEN

bool eigen_present() { return true; }

double eigen_product_seconds(const BlockCsr& matrix, const Vec3* x, Vec3* y, int threads, int repetitions) {
  using Scalar = Real;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  const auto rows = static_cast<Eigen::Index>(3 * (matrix.begin.size() - 1));
  // Through a view, so that entries are written once: insertion would take longer than everything else.
  std::vector<int> begin(rows + 1, 0), column(9 * matrix.column.size());
  std::vector<Scalar> value(column.size());
  for (std::size_t i = 0, k = 0; i + 1 < matrix.begin.size(); ++i)
    for (int r = 0; r < 3; ++r) {
      for (std::int32_t b = matrix.begin[i]; b < matrix.begin[i + 1]; ++b)
        for (int c = 0; c < 3; ++c, ++k) {
          column[k] = 3 * matrix.column[b] + c;
          value[k] = matrix.block[b](r, c);
        }
      begin[3 * i + r + 1] = static_cast<int>(k);
    }
  using Sparse = Eigen::SparseMatrix<Scalar, Eigen::RowMajor, int>;
  const Eigen::Map<const Sparse> a(rows, rows, static_cast<Eigen::Index>(value.size()), begin.data(),
                                   column.data(), value.data());
  Eigen::Map<const Vector> in(x->v, rows);
  Eigen::Map<Vector> out(y->v, rows);
  Eigen::setNbThreads(threads);
  double best = std::numeric_limits<double>::infinity();
  for (int r = 0; r < repetitions; ++r) {
    const Timer timer;
    out.noalias() = a * in;
    best = std::min(best, timer.seconds());
  }
  return best;
}

#else

bool eigen_present() { return false; }
double eigen_product_seconds(const BlockCsr&, const Vec3*, Vec3*, int, int) { return 0; }

#endif

}  // namespace stickslip

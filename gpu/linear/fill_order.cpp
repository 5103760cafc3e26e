#include "gpu/linear/fill_order.h"

#include <algorithm>

#if STICKSLIP_HAS_EIGEN
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#endif

namespace stickslip {

#if STICKSLIP_HAS_EIGEN

std::vector<std::int32_t> fill_reducing_order(std::span<const std::int32_t> start,
                                              std::span<const std::int32_t> column) {
  const auto n = static_cast<Eigen::Index>(start.size()) - 1;
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  if (n == 0) return order;
  // Eigen eliminates rows without a diagonal entry last.
  Eigen::SparseMatrix<char, Eigen::ColMajor, std::int32_t> pattern(n, n);
  pattern.resizeNonZeros(static_cast<Eigen::Index>(column.size()) + n);
  std::int32_t* begin = pattern.outerIndexPtr();
  std::int32_t* row = pattern.innerIndexPtr();
  std::int32_t count = 0;
  for (std::int32_t c = 0; c < static_cast<std::int32_t>(n); ++c) {
    begin[c] = count;
    row[count++] = c;
    for (std::int32_t k = start[c]; k < start[c + 1]; ++k)
      if (column[k] != c) row[count++] = column[k];
  }
  begin[n] = count;
  pattern.resizeNonZeros(count);
  std::fill_n(pattern.valuePtr(), count, char{1});
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, std::int32_t> permutation;
  Eigen::internal::minimum_degree_ordering(pattern, permutation);
  std::copy_n(permutation.indices().data(), n, order.begin());
  return order;
}

#else

std::vector<std::int32_t> fill_reducing_order(std::span<const std::int32_t> start,
                                              std::span<const std::int32_t> column) {
  const std::size_t n = start.size() - 1;
  std::vector<std::int32_t> order, seeds(n);
  order.reserve(n);
  const auto degree = [&](std::int32_t c) {
    return start[static_cast<std::size_t>(c) + 1] - start[static_cast<std::size_t>(c)];
  };
  const auto by_degree = [&](std::int32_t a, std::int32_t b) {
    return degree(a) != degree(b) ? degree(a) < degree(b) : a < b;
  };
  for (std::size_t c = 0; c < n; ++c) seeds[c] = static_cast<std::int32_t>(c);
  std::sort(seeds.begin(), seeds.end(), by_degree);
  std::vector<char> seen(n, 0);
  for (const std::int32_t seed : seeds) {
    if (seen[static_cast<std::size_t>(seed)] != 0) continue;
    seen[static_cast<std::size_t>(seed)] = 1;
    order.push_back(seed);
    for (std::size_t next = order.size() - 1; next < order.size(); ++next) {
      const std::size_t first = order.size();
      const auto c = static_cast<std::size_t>(order[next]);
      for (std::int32_t k = start[c]; k < start[c + 1]; ++k) {
        const std::int32_t d = column[static_cast<std::size_t>(k)];
        if (seen[static_cast<std::size_t>(d)] != 0) continue;
        seen[static_cast<std::size_t>(d)] = 1;
        order.push_back(d);
      }
      std::sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.end(), by_degree);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

#endif

}  // namespace stickslip

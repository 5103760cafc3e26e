// Continuous collision queries with a known answer, and the results of each method of gpu/ccd.
#pragma once

#include <string>
#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

enum class PairKind { edge_edge, vertex_face };

/// Corners that move on straight lines within [0, 1]: {a0, a1, b0, b1} of two edges or {p, t0, t1, t2}.
struct CcdQuery {
  Vec<double, 3> start[4], end[4];
  bool collides;
};

/// The score of one method in one scalar type. A method answers "collides" unless it proves
/// that the pair stays apart.
struct CcdScore {
  std::string method, scalar;
  std::size_t queries = 0, false_negatives = 0, false_positives = 0;
  double seconds = 0;      // of all queries in a row on one thread
  std::vector<double> ns;  // of each single query

  void add(const CcdScore& other);
  double mean_ns() const;
  double median_ns() const;
  double max_ns() const;
};

/// Every method in double and in float; in float the query is that of the rounded coordinates. The
/// first one is the default.
std::vector<CcdScore> judge_ccd(PairKind kind, const std::vector<CcdQuery>& queries);

}  // namespace stickslip

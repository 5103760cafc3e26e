#include "bench/ccd_truth.h"

#include <algorithm>
#include <limits>

#include "gpu/ccd/cubic.h"
#include "gpu/ccd/inclusion.h"
#include "gpu/ccd/multivariate.h"
#include "gpu/core/timer.h"

namespace stickslip {
namespace {

template <class T>
struct Ends {
  Vec<T, 3> start[4], end[4];
};

struct Additive {
  static constexpr const char* name = "additive";
  template <class Pair, class T>
  static bool collides(const Ends<T>& ends) {
    return additive::may_touch<Pair>(ends.start, ends.end);
  }
};
struct CubicRoots {
  static constexpr const char* name = "cubic";
  template <class Pair, class T>
  static bool collides(const Ends<T>& ends) {
    return cubic::may_touch<Pair>(ends.start, ends.end);
  }
};
struct Multivariate {
  static constexpr const char* name = "multivariate";
  template <class Pair, class T>
  static bool collides(const Ends<T>& ends) {
    return multivariate::may_touch<Pair>(ends.start, ends.end);
  }
};
struct Inclusion {
  static constexpr const char* name = "inclusion";
  template <class Pair, class T>
  static bool collides(const Ends<T>& ends) {
    return inclusion::may_touch<Pair>(ends.start, ends.end);
  }
};

/// A wall time is the smallest of several: the one least disturbed by other programs.
template <class Method, class Pair, class T>
CcdScore judge(const std::vector<CcdQuery>& queries) {
  constexpr int kRepeats = 5;
  CcdScore score;
  score.method = Method::name;
  score.scalar = sizeof(T) == sizeof(double) ? "double" : "float";
  score.queries = queries.size();
  std::vector<Ends<T>> pairs(queries.size());
  for (std::size_t n = 0; n < queries.size(); ++n)
    for (int i = 0; i < 4; ++i) {
      pairs[n].start[i] = queries[n].start[i].cast<T>();
      pairs[n].end[i] = queries[n].end[i].cast<T>();
    }
  std::vector<char> answers(pairs.size());

  score.seconds = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kRepeats; ++k) {
    const Timer timer;
    for (std::size_t i = 0; i < pairs.size(); ++i) answers[i] = Method::template collides<Pair>(pairs[i]);
    score.seconds = std::min(score.seconds, timer.seconds());
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    score.false_negatives += queries[i].collides && !answers[i];
    score.false_positives += !queries[i].collides && answers[i];
    double ns = std::numeric_limits<double>::infinity();
    for (int k = 0; k < kRepeats; ++k) {
      const Timer timer;
      answers[i] = Method::template collides<Pair>(pairs[i]);
      ns = std::min(ns, 1e9 * timer.seconds());
    }
    score.ns.push_back(ns);
  }
  return score;
}

template <template <class> class Pair>
std::vector<CcdScore> judge_all(const std::vector<CcdQuery>& queries) {
  std::vector<CcdScore> scores;
  const auto add = [&]<class... Methods>(Methods...) {
    (scores.insert(scores.end(), {judge<Methods, Pair<double>, double>(queries),
                                  judge<Methods, Pair<float>, float>(queries)}),
     ...);
  };
  add(Additive{}, CubicRoots{}, Multivariate{}, Inclusion{});
  return scores;
}

}  // namespace

void CcdScore::add(const CcdScore& other) {
  queries += other.queries;
  false_negatives += other.false_negatives;
  false_positives += other.false_positives;
  seconds += other.seconds;
  ns.insert(ns.end(), other.ns.begin(), other.ns.end());
}
double CcdScore::mean_ns() const { return queries ? 1e9 * seconds / static_cast<double>(queries) : 0; }
double CcdScore::median_ns() const {
  if (ns.empty()) return 0;
  std::vector<double> sorted = ns;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}
double CcdScore::max_ns() const { return ns.empty() ? 0 : *std::max_element(ns.begin(), ns.end()); }

std::vector<CcdScore> judge_ccd(PairKind kind, const std::vector<CcdQuery>& queries) {
  return kind == PairKind::edge_edge ? judge_all<EdgeEdge>(queries) : judge_all<PointTriangle>(queries);
}

}  // namespace stickslip

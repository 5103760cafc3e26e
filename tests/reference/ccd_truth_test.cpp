// The time-of-impact methods compared with exact arithmetic and with published ground truth.
#include <gtest/gtest.h>

#include "bench/program/ccd_queries.h"
#include "gpu/ccd/inclusion.h"
#include "gpu/ccd/multivariate.h"
#include "tests/fixtures/shared_data.h"
#include "tests/reference/exact_ccd.h"
#include "tests/reference/random_queries.h"

namespace stickslip::testing {
namespace {

std::string describe(const CcdQuery& query) {
  std::string text;
  char number[32];
  for (const auto* x : {query.start, query.end})
    for (int i = 0; i < 4; ++i) {
      for (int a = 0; a < 3; ++a) {
        std::snprintf(number, sizeof number, "%s%a", a == 0 ? "{" : ", ", x[i][a]);
        text += number;
      }
      text += "}\n";
    }
  return text;
}

// The methods that must not miss a contact.
struct Additive {
  template <class Pair, class T>
  static bool may_touch(const Vec<T, 3> (&start)[4], const Vec<T, 3> (&end)[4]) {
    return additive::may_touch<Pair>(start, end);
  }
  template <class Pair, class T>
  static T contact_toi(const Pair& pair) {
    return additive::contact_toi(pair, T(1));
  }
  template <class Pair, class T>
  static T toi(const Pair& pair, T kept) {
    return additive::toi(pair, kept, T(1));
  }
};
struct Multivariate {
  template <class Pair, class T>
  static bool may_touch(const Vec<T, 3> (&start)[4], const Vec<T, 3> (&end)[4]) {
    return multivariate::may_touch<Pair>(start, end);
  }
  template <class Pair, class T>
  static T contact_toi(const Pair& pair) {
    return multivariate::contact_toi(pair, T(1));
  }
  template <class Pair, class T>
  static T toi(const Pair& pair, T kept) {
    return multivariate::toi(pair, kept, T(1));
  }
};
struct Inclusion {
  template <class Pair, class T>
  static bool may_touch(const Vec<T, 3> (&start)[4], const Vec<T, 3> (&end)[4]) {
    return inclusion::may_touch<Pair>(start, end);
  }
  template <class Pair, class T>
  static T contact_toi(const Pair& pair) {
    return inclusion::contact_toi(pair, T(1));
  }
  template <class Pair, class T>
  static T toi(const Pair& pair, T kept) {
    return inclusion::toi(pair, kept, T(1));
  }
};

template <class Method, template <class> class Pair, class T>
bool may_touch(const CcdQuery& query) {
  Vec<T, 3> start[4], end[4];
  for (int i = 0; i < 4; ++i) {
    start[i] = query.start[i].cast<T>();
    end[i] = query.end[i].cast<T>();
  }
  return Method::template may_touch<Pair<T>>(start, end);
}

bool collides(PairKind kind, const CcdQuery& query) {
  return ExactContact(kind, ExactMotion::between(query.start, query.end)).collides();
}

/// Checks every answer "stays apart", and enough other answers to bound the rate of false positives.
template <class Method, template <class> class Pair, class T>
void expect_no_miss(PairKind kind, int count) {
  constexpr int kMostAlarms = 2000;
  QueryGenerator generator(kind);
  SCOPED_TRACE(generator.trace());
  int missed = 0, apart = 0, alarms = 0, false_alarms = 0;
  for (int n = 0; n < count && missed < 3; ++n) {
    const CcdQuery query = generator.next<T>();
    const bool alarm = may_touch<Method, Pair, T>(query);
    if (alarm) {
      if (++alarms <= kMostAlarms) false_alarms += !collides(kind, query);
      continue;
    }
    ++apart;
    if (!collides(kind, query)) continue;
    ++missed;
    ADD_FAILURE() << "query " << n << " collides:\n" << describe(query);
  }
  EXPECT_GT(apart, count / 10);
  EXPECT_GT(alarms, count / 10);
  EXPECT_LT(false_alarms, std::min(alarms, kMostAlarms) / 4);
}

template <class Method, class T>
void expect_no_miss(int count) {
  expect_no_miss<Method, EdgeEdge, T>(PairKind::edge_edge, count);
  expect_no_miss<Method, PointTriangle, T>(PairKind::vertex_face, count);
}

template <class M>
class CcdTruthOf : public ::testing::Test {};
template <class M>
class LongCcdTruthOf : public ::testing::Test {};
using Methods = ::testing::Types<Additive, Multivariate, Inclusion>;
TYPED_TEST_SUITE(CcdTruthOf, Methods);
TYPED_TEST_SUITE(LongCcdTruthOf, Methods);

TYPED_TEST(CcdTruthOf, MissesNoContact) { expect_no_miss<TypeParam, double>(4000); }
TYPED_TEST(CcdTruthOf, MissesNoContactInFloat) { expect_no_miss<TypeParam, float>(4000); }
TYPED_TEST(LongCcdTruthOf, MissesNoContactOfAMillionQueries) { expect_no_miss<TypeParam, double>(500000); }
TYPED_TEST(LongCcdTruthOf, MissesNoContactInFloat) { expect_no_miss<TypeParam, float>(100000); }

/// The bound is at most the time of the first contact, and the positions stored there do not touch.
template <class Method, template <class> class Pair, class T>
void expect_safe_bounds(PairKind kind, int count) {
  QueryGenerator generator(kind);
  SCOPED_TRACE(generator.trace());
  int stopped = 0;
  for (int n = 0; n < count && !::testing::Test::HasFailure(); ++n) {
    CcdQuery query = generator.next<T>();
    Pair<T> pair;
    Vec<double, 3> x[4], p[4], stored[4];
    for (int i = 0; i < 4; ++i) {
      pair.x[i] = query.start[i].cast<T>();
      pair.p[i] = query.end[i].cast<T>() - pair.x[i];
      x[i] = pair.x[i].template cast<double>();
      p[i] = pair.p[i].template cast<double>();
    }
    if (const T free = Method::template contact_toi<Pair<T>, T>(pair); free > T(0)) {
      EXPECT_FALSE(ExactContact(kind, ExactMotion::along(x, p)).by(static_cast<double>(free)))
          << "query " << n << ": free of contact until " << free << "\n"
          << describe(query);
    }
    // A pair closer than rounding can distinguish may separate by any motion.
    T reach = T(0);
    for (int i = 0; i < 4; ++i) reach = larger_reach(pair.x[i], pair.p[i], reach);
    if (distance_at(pair, T(0)) < T(40) * std::numeric_limits<T>::epsilon() * reach) continue;
    const T t = Method::toi(pair, T(0.1));
    ASSERT_GE(t, T(0));
    ASSERT_LE(t, T(1));
    stopped += t < T(1);
    if (t == T(0)) continue;
    for (int i = 0; i < 4; ++i) stored[i] = Vec<T, 3>(pair.x[i] + t * pair.p[i]).template cast<double>();
    const bool hit = ExactContact(kind, ExactMotion::along(x, p)).by(static_cast<double>(t));
    EXPECT_FALSE(hit) << "query " << n << ": t = " << t << "\n" << describe(query);
    EXPECT_FALSE(ExactContact(kind, ExactMotion::between(stored, stored)).collides())
        << "query " << n << ": t = " << t << "\n"
        << describe(query);
  }
  EXPECT_GT(stopped, count / 10);
}

TYPED_TEST(CcdTruthOf, AStepBoundIsBeforeTheFirstContact) {
  expect_safe_bounds<TypeParam, EdgeEdge, double>(PairKind::edge_edge, 2000);
  expect_safe_bounds<TypeParam, PointTriangle, double>(PairKind::vertex_face, 2000);
  expect_safe_bounds<TypeParam, EdgeEdge, float>(PairKind::edge_edge, 2000);
  expect_safe_bounds<TypeParam, PointTriangle, float>(PairKind::vertex_face, 2000);
}
TYPED_TEST(LongCcdTruthOf, AStepBoundIsBeforeTheFirstContact) {
  expect_safe_bounds<TypeParam, EdgeEdge, double>(PairKind::edge_edge, 100000);
  expect_safe_bounds<TypeParam, PointTriangle, double>(PairKind::vertex_face, 100000);
}

/// The volume does not vanish while it is certified to be nonzero.
template <template <class> class Pair, class T>
void expect_certified_volumes(PairKind kind, int count) {
  QueryGenerator generator(kind);
  SCOPED_TRACE(generator.trace());
  int certified = 0;
  for (int n = 0; n < count; ++n) {
    const CcdQuery query = generator.next<T>();
    Vec<T, 3> x[4], p[4];
    Vec<double, 3> exact_x[4], exact_p[4];
    for (int i = 0; i < 4; ++i) {
      x[i] = query.start[i].cast<T>();
      p[i] = query.end[i].cast<T>() - x[i];
      exact_x[i] = x[i].template cast<double>();
      exact_p[i] = p[i].template cast<double>();
    }
    const auto t = static_cast<double>(Pair<T>::volume(x, p, T(0)).clear_until(T(0)));
    if (t == 0) continue;
    ++certified;
    const Polynomial volume = exact_volume(ExactMotion::along(exact_x, exact_p));
    ASSERT_NE(volume.sign_at(Dyadic::from(0)), 0) << describe(query);
    for (Root& root : Root::in_unit_interval(volume))
      ASSERT_GT(root.compare_to(Dyadic::from(t)), 0) << t << "\n" << describe(query);
  }
  EXPECT_GT(certified, count / 10);
}

TEST(CcdTruth, AVolumeIsCertifiedUpToItsFirstRootAtMost) {
  expect_certified_volumes<EdgeEdge, double>(PairKind::edge_edge, 10000);
  expect_certified_volumes<EdgeEdge, float>(PairKind::edge_edge, 10000);
  expect_certified_volumes<PointTriangle, double>(PairKind::vertex_face, 10000);
  expect_certified_volumes<PointTriangle, float>(PairKind::vertex_face, 10000);
}

TEST(CcdTruth, NoMethodButTheCubicMissesAContactOfOthersQueries) {
  const std::vector<std::filesystem::path> files = shared_files("ccd", ".csv");
  if (files.empty()) GTEST_SKIP() << "no query files at " << shared_data() / "ccd";
  std::vector<CcdScore> total;
  for (const auto& file : files) {
    const CcdQueryFile input = load_ccd_queries(file);
    const std::vector<CcdScore> scores = judge_ccd(input.kind, input.queries);
    if (total.empty()) total.resize(scores.size());
    for (std::size_t m = 0; m < scores.size(); ++m) {
      total[m].method = scores[m].method;
      total[m].scalar = scores[m].scalar;
      total[m].add(scores[m]);
    }
  }
  int certain = 0;
  for (const CcdScore& score : total) {
    if (score.method == "cubic" || score.scalar != "double") continue;
    SCOPED_TRACE(score.method);
    ++certain;
    EXPECT_EQ(score.false_negatives, 0u);
    EXPECT_LE(10 * score.false_positives, score.queries);
  }
  EXPECT_EQ(certain, 3);
}

}  // namespace
}  // namespace stickslip::testing

// The time-of-impact methods compared with exact arithmetic and with published ground truth.
#include <gtest/gtest.h>

#include "bench/program/ccd_queries.h"
#include "gpu/ccd/additive.h"
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

template <template <class> class Pair, class T>
bool may_touch(const CcdQuery& query) {
  Vec<T, 3> start[4], end[4];
  for (int i = 0; i < 4; ++i) {
    start[i] = query.start[i].cast<T>();
    end[i] = query.end[i].cast<T>();
  }
  return additive::may_touch<Pair<T>>(start, end);
}

bool collides(PairKind kind, const CcdQuery& query) {
  return ExactContact(kind, ExactMotion::between(query.start, query.end)).collides();
}

/// Checks every answer "stays apart", and enough other answers to bound the rate of false positives.
template <template <class> class Pair, class T>
void expect_no_miss(PairKind kind, int count) {
  constexpr int kMostAlarms = 2000;
  QueryGenerator generator(kind);
  SCOPED_TRACE(generator.trace());
  int missed = 0, apart = 0, alarms = 0, false_alarms = 0;
  for (int n = 0; n < count && missed < 3; ++n) {
    const CcdQuery query = generator.next<T>();
    const bool alarm = may_touch<Pair, T>(query);
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

TEST(CcdTruth, AdditiveMissesNoContact) {
  expect_no_miss<EdgeEdge, double>(PairKind::edge_edge, 4000);
  expect_no_miss<PointTriangle, double>(PairKind::vertex_face, 4000);
}
TEST(CcdTruth, AdditiveMissesNoContactInFloat) {
  expect_no_miss<EdgeEdge, float>(PairKind::edge_edge, 4000);
  expect_no_miss<PointTriangle, float>(PairKind::vertex_face, 4000);
}
TEST(LongCcdTruth, AdditiveMissesNoContactOfAMillionQueries) {
  expect_no_miss<EdgeEdge, double>(PairKind::edge_edge, 500000);
  expect_no_miss<PointTriangle, double>(PairKind::vertex_face, 500000);
}
TEST(LongCcdTruth, AdditiveMissesNoContactInFloat) {
  expect_no_miss<EdgeEdge, float>(PairKind::edge_edge, 100000);
  expect_no_miss<PointTriangle, float>(PairKind::vertex_face, 100000);
}

/// The bound is at most the time of the first contact, and the positions stored there do not touch.
template <template <class> class Pair, class T>
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
    if (const T free = additive::contact_toi(pair, T(1)); free > T(0)) {
      EXPECT_FALSE(ExactContact(kind, ExactMotion::along(x, p)).by(static_cast<double>(free)))
          << "query " << n << ": free of contact until " << free << "\n"
          << describe(query);
    }
    // A pair closer than rounding can distinguish may separate by any motion.
    T reach = T(0);
    for (int i = 0; i < 4; ++i) reach = larger_reach(pair.x[i], pair.p[i], reach);
    if (distance_at(pair, T(0)) < T(40) * std::numeric_limits<T>::epsilon() * reach) continue;
    const T t = additive::toi(pair, T(0.1), T(1));
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

TEST(CcdTruth, AStepBoundIsBeforeTheFirstContact) {
  expect_safe_bounds<EdgeEdge, double>(PairKind::edge_edge, 2000);
  expect_safe_bounds<PointTriangle, double>(PairKind::vertex_face, 2000);
  expect_safe_bounds<EdgeEdge, float>(PairKind::edge_edge, 2000);
  expect_safe_bounds<PointTriangle, float>(PairKind::vertex_face, 2000);
}
TEST(LongCcdTruth, AStepBoundIsBeforeTheFirstContact) {
  expect_safe_bounds<EdgeEdge, double>(PairKind::edge_edge, 100000);
  expect_safe_bounds<PointTriangle, double>(PairKind::vertex_face, 100000);
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

TEST(CcdTruth, TheDefaultMethodMissesNoContactOfOthersQueries) {
  const std::vector<std::filesystem::path> files = shared_files("ccd", ".csv");
  if (files.empty()) GTEST_SKIP() << "no query files at " << shared_data() / "ccd";
  CcdScore total;
  for (const auto& file : files) {
    const CcdQueryFile input = load_ccd_queries(file);
    total.add(judge_ccd(input.kind, input.queries).front());
  }
  EXPECT_EQ(total.false_negatives, 0u);
  EXPECT_LE(10 * total.false_positives, total.queries);
}

}  // namespace
}  // namespace stickslip::testing

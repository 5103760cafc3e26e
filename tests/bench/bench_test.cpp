#include "bench/bench.h"

#include <gtest/gtest.h>

#include <random>

#include "bench/sparse_peer.h"
#include "bench/tree_peer.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

BenchResult sample() {
  return {"lbvh",
          "cpu",
          "the \"best\" one",
          2,
          {{"build", 40, "Mtriangles/s", 100, "triad", 20, "Embree"},
           {"find", 5, "ms", 0, "", 20, "other"},
           {"build", 8, "ms", 5, "bytes"}},
          {"no peer"}};
}

TEST(BenchFormat, JsonHoldsEveryFieldAndNullForWhatIsNotThere) {
  EXPECT_EQ(bench_json(sample()),
            R"({"bench": "lbvh", "backend": "cpu", "device": "the \"best\" one", "threads": 2,
  "figures": [
    {"name": "build", "value": 40, "unit": "Mtriangles/s", "floor": 100, "floor_name": "triad", "peer": 20, "peer_name": "Embree"},
    {"name": "find", "value": 5, "unit": "ms", "floor": null, "floor_name": "", "peer": 20, "peer_name": "other"},
    {"name": "build", "value": 8, "unit": "ms", "floor": 5, "floor_name": "bytes", "peer": null, "peer_name": ""}],
  "notes": [
    "no peer"]})");
}

TEST(BenchFormat, TextGivesSharesAndWhichIsFaster) {
  const std::string text = bench_text(sample());
  EXPECT_NE(text.find("40.0% of 100 (triad)"), std::string::npos) << text;
  EXPECT_NE(text.find("1.60 times 5 (bytes)"), std::string::npos) << text;
  EXPECT_NE(text.find("2.00 times as fast as 20 (Embree)"), std::string::npos) << text;
  EXPECT_NE(text.find("4.00 times as fast as 20 (other)"), std::string::npos) << text;
  EXPECT_NE(text.find("no peer"), std::string::npos) << text;
}

TEST(Bench, RefusesAnUnknownName) { EXPECT_THROW(run_bench("lbhv", Backend::cpu, 1), std::invalid_argument); }

TEST(Peers, EigenMultipliesTheBlocksThatItIsGiven) {
  if (!eigen_present()) GTEST_SKIP() << "this build has no Eigen";
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 engine(seed);
  std::uniform_real_distribution<Real> draw(-1, 1);
  BlockCsr matrix;
  matrix.begin = {0, 2, 3, 5};
  matrix.column = {0, 2, 1, 0, 2};
  for (std::size_t b = 0; b < matrix.column.size(); ++b) {
    Mat3 block = Mat3::zero();
    for (Real& entry : block.m) entry = draw(engine);
    matrix.block.push_back(block);
  }
  std::vector<Vec3> x(3), y(3);
  for (Vec3& v : x) v = {draw(engine), draw(engine), draw(engine)};
  EXPECT_GT(eigen_product_seconds(matrix, x.data(), y.data(), 2, 3), 0);
  for (int i = 0; i < 3; ++i) {
    Vec3 expected{0, 0, 0};
    for (std::int32_t b = matrix.begin[i]; b < matrix.begin[i + 1]; ++b)
      expected += matrix.block[b] * x[matrix.column[b]];
    EXPECT_LE(norm(y[i] - expected), 1e-5);
  }
}

TEST(Peers, EmbreeBuildsBothTrees) {
  if (!embree_present()) GTEST_SKIP() << "this build has no Embree";
  std::vector<FloatBox> boxes;
  std::vector<float> x;
  std::vector<std::int32_t> corners;
  for (int i = 0; i < 100; ++i) {
    const auto at = static_cast<float>(i);
    boxes.push_back({{at, 0, 0}, {at + 1, 1, 0}});
    x.insert(x.end(), {at, 0, 0, at + 1, 0, 0, at, 1, 0});
    for (int c = 0; c < 3; ++c) corners.push_back(3 * i + c);
  }
  EXPECT_GT(embree_tree_seconds(boxes.data(), boxes.size(), 2, 2), 0);
  EXPECT_GT(embree_scene_seconds({x.data(), 300, corners.data(), 100}, 2, 2), 0);
}

}  // namespace
}  // namespace stickslip

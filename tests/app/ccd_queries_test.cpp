#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "app/io/file/input_error.h"
#include "bench/program/ccd_queries.h"

namespace stickslip {
namespace {

const std::string row = "1,2,-3,4,0,1,1\n";

std::string rows(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += row;
  return text;
}
std::string refusal(const std::string& text) {
  try {
    parse_ccd_queries(text, "q.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(CcdQueries, ReadsCornersAtBothEndsAndTheTruth) {
  // The smallest and the largest double, numbers beyond 64 bits, an unreduced quotient; CRLF, a blank line,
  // no line end after the last row.
  const std::string two_to_100 = "1267650600228229401496703205376",
                    two_to_99 = "633825300114114700748351602688";
  std::string text = "1,2,-3,4,0,1,1\r\n0,1," + two_to_100 + ",1,-" + two_to_100 + "," + two_to_99 + ",1\n\n";
  text += "9007199254740993,9007199254740992,1,1,00,1,1\n";
  EXPECT_NE(refusal(text).find("q.csv:4: a coordinate is not exactly a double"), std::string::npos);
  text = text.substr(0, text.find("9007")) + "9007199254740991,9007199254740992,1,1,007,1,1\n" + rows(4);
  text += "5,1,6,1,7,1,1\n" + rows(8);
  text.pop_back();
  const std::vector<CcdQuery> queries = parse_ccd_queries(text, "q.csv");
  ASSERT_EQ(queries.size(), 2u);
  EXPECT_TRUE(queries[0].collides);
  EXPECT_EQ(queries[0].start[0], (Vec<double, 3>{0.5, -0.75, 0}));
  EXPECT_EQ(queries[0].start[1], (Vec<double, 3>{0, 0x1p100, -2}));
  EXPECT_EQ(queries[0].start[2], (Vec<double, 3>{std::nextafter(1.0, 0.0), 1, 7}));
  EXPECT_EQ(queries[0].end[3], (Vec<double, 3>{5, 6, 7}));
}

TEST(CcdQueries, ReadsTheSmallestAndTheLargestDouble) {
  char smallest[512], largest[512];
  std::snprintf(smallest, sizeof smallest, "%.0Lf", std::ldexp(1.0L, 1074));
  std::snprintf(largest, sizeof largest, "%.0f", std::numeric_limits<double>::max());
  const std::string text = std::string("1,") + smallest + "," + largest + ",1,0,1,0\n";
  std::string all;
  for (int i = 0; i < 8; ++i) all += text;
  const std::vector<CcdQuery> queries = parse_ccd_queries(all, "q.csv");
  EXPECT_EQ(queries[0].start[0][0], std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(queries[0].start[0][1], std::numeric_limits<double>::max());
  EXPECT_FALSE(queries[0].collides);
}

TEST(CcdQueries, RefusesBadRowsWithTheirLine) {
  const auto bad = [](const std::string& line, const std::string& part) {
    const std::string message = refusal(rows(2) + line + "\n" + rows(5));
    EXPECT_NE(message.find("q.csv:3: "), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  bad("1,2,3,4,0,1", "too few");
  bad("1,2,3,4,0,1,1,1", "too many");
  bad("1,2,3,4,0,1,2", "0 or 1");
  bad("1,2,3,4,0,1,", "0 or 1");
  bad("1,2,3,4,0,1,0", "differs");
  bad("1,3,3,4,0,1,1", "power of two");
  bad("1,0,3,4,0,1,1", "power of two");
  bad("1,-2,3,4,0,1,1", "power of two");
  bad("1.5,2,3,4,0,1,1", "no whole number");
  bad("nan,2,3,4,0,1,1", "no whole number");
  bad("-,2,3,4,0,1,1", "no whole number");
  bad(",2,3,4,0,1,1", "no whole number");
  bad(" 1,2,3,4,0,1,1", "no whole number");
  bad("18014398509481985,2,3,4,0,1,1", "not exactly a double");
  bad("1" + std::string(350, '0') + ",1,3,4,0,1,1", "not exactly a double");
  bad("1" + std::string(500, '0') + ",1,3,4,0,1,1", "400 digits");
  bad(std::string("\0\xff\x80", 3), "no whole number");
}

TEST(CcdQueries, RefusesFilesThatEndEarlyOrSayNothing) {
  EXPECT_NE(refusal(rows(11)).find("3 of 8 rows"), std::string::npos);
  EXPECT_NE(refusal("\n\n").find("no queries"), std::string::npos);
}

TEST(CcdQueries, TheNameSaysTheKind) {
  const auto folder = std::filesystem::temp_directory_path() / ("stickslip_ccd_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder / "vertex-face");
  for (const char* name : {"a-edge-edge.csv", "vertex-face/data.csv", "data.csv"})
    std::ofstream(folder / name) << rows(8);
  EXPECT_EQ(load_ccd_queries(folder / "a-edge-edge.csv").kind, PairKind::edge_edge);
  EXPECT_EQ(load_ccd_queries(folder / "vertex-face" / "data.csv").kind, PairKind::vertex_face);
  EXPECT_THROW(load_ccd_queries(folder / "data.csv"), InputError);
  EXPECT_THROW(load_ccd_queries(folder / "none-edge-edge.csv"), InputError);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stickslip

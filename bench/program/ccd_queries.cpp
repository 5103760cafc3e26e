#include "bench/program/ccd_queries.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/io/file/byte_cursor.h"

namespace stickslip {
namespace {

constexpr const char* kRowForm = "a row is numerator,denominator of x, y and z, then 0 or 1";

/// One row; its errors name the line.
class Row {
 public:
  explicit Row(ByteCursor& file) : file_(file), begin_(file.offset()), rest_(file.line()) {}

  bool blank() const { return rest_.find_first_not_of(" \t") == std::string_view::npos; }
  [[noreturn]] void fail(const std::string& what) const { file_.fail_at(begin_, what); }

  std::string_view field() {
    if (ended_) fail(std::string("has too few values: ") + kRowForm);
    const std::size_t comma = rest_.find(',');
    const std::string_view text = rest_.substr(0, comma);
    ended_ = comma == std::string_view::npos;
    if (!ended_) rest_.remove_prefix(comma + 1);
    return text;
  }

  Vec<double, 3> point() {
    Vec<double, 3> x{};
    for (int axis = 0; axis < 3; ++axis) {
      const long double numerator = integer(), denominator = integer();
      int exponent = 0;
      if (!(denominator > 0) || std::frexp(denominator, &exponent) != 0.5L)
        fail("a denominator is not a power of two");
      x[axis] = static_cast<double>(numerator / denominator);
      if (!(static_cast<long double>(x[axis]) * denominator == numerator) || !std::isfinite(x[axis]))
        fail("a coordinate is not exactly a double");
    }
    return x;
  }

  bool truth() {
    const std::string_view text = field();
    if (!ended_) fail(std::string("has too many values: ") + kRowForm);
    if (text != "0" && text != "1") fail("the last value is the truth: 0 or 1");
    return text == "1";
  }

 private:
  /// A long double has enough digits and exponents for every quotient that is a double.
  long double integer() {
    constexpr std::size_t kMostDigits = 400;
    const std::string_view text = field();
    const std::size_t sign = text.starts_with('-') ? 1 : 0;
    if (text.size() == sign || text.find_first_not_of("0123456789", sign) != std::string_view::npos)
      fail(std::string("a value is no whole number: ") + kRowForm);
    if (text.size() > kMostDigits) fail("a number has more than 400 digits");
    const std::size_t leading = std::min(text.find_first_not_of('0', sign), text.size() - 1);
    long double value = 0;
    std::from_chars(text.data() + leading, text.data() + text.size(), value);
    // Printed with all digits and compared with the text, to detect lost digits.
    char digits[kMostDigits + 1];
    const char* end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, 0).ptr;
    if (text.substr(leading) != std::string_view(digits, end)) fail("a coordinate is not exactly a double");
    return sign ? -value : value;
  }

  ByteCursor& file_;
  std::size_t begin_;
  std::string_view rest_;
  bool ended_ = false;
};

}  // namespace

std::vector<CcdQuery> parse_ccd_queries(std::string_view bytes, const std::string& name) {
  ByteCursor file(bytes, name);
  file.skip_byte_order_mark();
  std::vector<CcdQuery> queries;
  int rows = 0;  // rows of the last query so far
  while (file.remaining() > 0) {
    Row row(file);
    if (row.blank()) continue;
    const Vec<double, 3> x = row.point();
    const bool truth = row.truth();
    if (rows == 0) queries.push_back({{}, {}, truth});
    CcdQuery& query = queries.back();
    if (truth != query.collides) row.fail("the truth differs from that of the query's first row");
    (rows < 4 ? query.start[rows] : query.end[rows - 4]) = x;
    rows = (rows + 1) % 8;
  }
  if (rows != 0) file.fail("the last query has " + std::to_string(rows) + " of 8 rows");
  if (queries.empty()) file.fail("has no queries");
  return queries;
}

CcdQueryFile load_ccd_queries(const std::filesystem::path& file) {
  const std::filesystem::path whole = std::filesystem::absolute(file);
  for (const std::string& name : {whole.filename().string(), whole.parent_path().filename().string()})
    for (const PairKind kind : {PairKind::edge_edge, PairKind::vertex_face})
      if (name.find(kind == PairKind::edge_edge ? "edge-edge" : "vertex-face") != std::string::npos)
        return {kind, parse_ccd_queries(read_bytes(file), file.string())};
  throw InputError(file.string() + ": its name or its folder's should say edge-edge or vertex-face");
}

}  // namespace stickslip

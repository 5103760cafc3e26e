// Checked access to a TOML file. An unknown key is an error with its line and the nearest known key; every
// number must be finite and in range.
#pragma once

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "app/io/file/input_error.h"
#include "gpu/math/vec.h"
#include "gpu/params/params.h"

namespace stickslip {

/// Bounds of a number, both inclusive.
struct Range {
  double low = -std::numeric_limits<double>::max();
  double high = std::numeric_limits<double>::max();

  static Range positive() { return {std::numeric_limits<double>::min(), std::numeric_limits<double>::max()}; }
  static Range not_negative() { return {0, std::numeric_limits<double>::max()}; }
};

/// One table of the file. Every `get` throws InputError for a value of the wrong type or out of range; a
/// `get` without a fallback also throws when the key is missing.
class TableReader {
 public:
  /// The root of a document. Throws InputError with the line of a syntax error. Messages call the document
  /// `file`.
  TableReader(const std::string& text, const std::filesystem::path& file);

  bool has(const std::string& key);
  /// True when the key exists and holds a list.
  bool is_list(const std::string& key);
  /// True when the key exists and holds a text.
  bool is_text(const std::string& key);
  std::string text(const std::string& key);
  std::string text(const std::string& key, const std::string& fallback);
  std::vector<std::string> texts(const std::string& key, std::size_t count);
  /// A list of at least one text.
  std::vector<std::string> texts(const std::string& key);
  bool flag(const std::string& key, bool fallback);
  double number(const std::string& key, Range range);
  double number(const std::string& key, Range range, double fallback);
  int whole(const std::string& key, int low, int high, int fallback);
  std::vector<double> numbers(const std::string& key, std::size_t count);
  /// A list of at least one number.
  std::vector<double> numbers(const std::string& key);
  Vec<double, 3> vec3(const std::string& key);
  Vec<double, 3> vec3(const std::string& key, const Vec<double, 3>& fallback);
  /// A list of triples; empty when the key is absent.
  std::vector<Vec<double, 3>> vec3s(const std::string& key);
  /// A list of whole numbers in [0, count).
  std::vector<std::int32_t> indices(const std::string& key, std::int32_t count);

  /// A sub-table, or nothing when the key is absent.
  std::optional<TableReader> table(const std::string& key);
  /// An array of tables, [[key]]; empty when the key is absent.
  std::vector<TableReader> tables(const std::string& key);

  /// Sets every row of `rows` that the table contains in `object` (a Params or Material).
  void settings(void* object, std::span<const ParamInfo> rows);

  /// Throws when the table has a key that was not read. Call after the last `get`.
  void finish() const;
  /// Throws InputError "file:line: [table] key: message"; with an empty key at the table itself.
  [[noreturn]] void fail(const std::string& key, const std::string& message) const;

 private:
  struct Node;
  explicit TableReader(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

  std::shared_ptr<const Node> node_;
  std::set<std::string> known_;
};

}  // namespace stickslip

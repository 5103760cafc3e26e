#include "app/io/scene/toml_reader.h"

#include <toml++/toml.h>

#include <cmath>
#include <cstdint>

#include "app/io/scene/toml_depth.h"

namespace stickslip {

struct TableReader::Node {
  std::shared_ptr<const toml::table> document;  // owns everything below
  const toml::table* table;
  std::filesystem::path file;
  std::string name;  // "[object]"; empty for the root

  const toml::node* find(const std::string& key) const { return table->get(key); }
  std::shared_ptr<const Node> child(const toml::table* sub, const std::string& child_name) const {
    return std::make_shared<const Node>(Node{document, sub, file, child_name});
  }
};

namespace {

std::string article_type(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::table:
      return "a table";
    default:
      return "a date or time";
  }
}

/// Converts a number to double; an integer to the nearest one. (node.value<double>() is empty for an integer
/// without an exact double.)
double to_double(const toml::node& node) {
  if (const toml::value<std::int64_t>* integer = node.as_integer())
    return static_cast<double>(integer->get());
  return node.as_floating_point()->get();
}

std::string short_number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", value);
  return buffer;
}

/// A number formatted for a message; integers in full.
std::string shown(const toml::node& node) {
  if (const toml::value<std::int64_t>* integer = node.as_integer()) return std::to_string(integer->get());
  return short_number(to_double(node));
}

std::string range_text(const Range& range) {
  const bool low = range.low > -std::numeric_limits<double>::max();
  const bool high = range.high < std::numeric_limits<double>::max();
  if (low && high) return "in [" + short_number(range.low) + ", " + short_number(range.high) + "]";
  if (low && range.low > 0 && range.low <= std::numeric_limits<double>::min()) return "positive";
  if (low) return "at least " + short_number(range.low);
  if (high) return "at most " + short_number(range.high);
  return "finite";
}

/// The numbers of an array of length `count`. Otherwise calls `refuse`, which throws, with a description of
/// the value.
template <class F>
std::vector<double> finite_numbers(const toml::node& node, std::size_t count, F&& refuse) {
  const toml::array* array = node.as_array();
  if (!array) refuse(", not " + article_type(node));
  if (array->size() != count) refuse(", not an array of " + std::to_string(array->size()));
  std::vector<double> values;
  for (const toml::node& entry : *array) {
    if (!entry.is_number()) refuse(", found " + article_type(entry));
    values.push_back(to_double(entry));
    if (!std::isfinite(values.back())) refuse(", found one that is not finite");
  }
  return values;
}

}  // namespace

TableReader::TableReader(const std::string& text, const std::filesystem::path& file) {
  check_toml_depth(text, file);
  try {
    auto document = std::make_shared<const toml::table>(toml::parse(text, file.string()));
    node_ = std::make_shared<const Node>(Node{document, document.get(), file, ""});
  } catch (const toml::parse_error& error) {
    throw InputError(file.string() + ":" + std::to_string(error.source().begin.line) + ": " +
                     std::string(error.description()));
  }
}

void TableReader::fail(const std::string& key, const std::string& message) const {
  const toml::node* at = key.empty() ? nullptr : node_->find(key);
  const auto line = (at ? at->source() : node_->table->source()).begin.line;
  std::string where = node_->file.string();
  if (line > 0) where += ":" + std::to_string(line);
  where += ": ";
  if (!node_->name.empty()) where += node_->name + " ";
  std::string whose;
  if (const auto name = (*node_->table)["name"].value<std::string>(); name && key != "name") {
    const std::string quoted = "'" + *name + "'";
    if (message.find(quoted) == std::string::npos) whose = " (" + quoted + ")";
  }
  throw InputError(where + (key.empty() ? "" : key + ": ") + message + whose);
}

bool TableReader::has(const std::string& key) {
  known_.insert(key);
  return node_->find(key) != nullptr;
}

bool TableReader::is_list(const std::string& key) { return has(key) && node_->find(key)->is_array(); }
bool TableReader::is_text(const std::string& key) { return has(key) && node_->find(key)->is_string(); }

std::string TableReader::text(const std::string& key) {
  known_.insert(key);
  const toml::node* node = node_->find(key);
  if (!node) fail("", "needs " + key + " = \"...\"");
  if (!node->is_string()) fail(key, "must be a string, not " + article_type(*node));
  return std::string(*node->value<std::string_view>());
}

std::string TableReader::text(const std::string& key, const std::string& fallback) {
  return has(key) ? text(key) : fallback;
}

bool TableReader::flag(const std::string& key, bool fallback) {
  known_.insert(key);
  const toml::node* node = node_->find(key);
  if (!node) return fallback;
  if (!node->is_boolean()) fail(key, "must be true or false, not " + article_type(*node));
  return *node->value<bool>();
}

double TableReader::number(const std::string& key, Range range) {
  known_.insert(key);
  const toml::node* node = node_->find(key);
  if (!node) fail("", "needs the number " + key);
  if (!node->is_number()) fail(key, "must be a number, not " + article_type(*node));
  const double value = to_double(*node);
  if (!(value >= range.low && value <= range.high))
    fail(key, shown(*node) + " is out of range: must be " + range_text(range));
  return value;
}

double TableReader::number(const std::string& key, Range range, double fallback) {
  return has(key) ? number(key, range) : fallback;
}

int TableReader::whole(const std::string& key, int low, int high, int fallback) {
  if (!has(key)) return fallback;
  const toml::node& node = *node_->find(key);
  const double value = number(key, {});
  if (!(value >= low && value <= high) || value != std::floor(value))
    fail(key, shown(node) + " must be a whole number in [" + std::to_string(low) + ", " +
                  std::to_string(high) + "]");
  return static_cast<int>(value);
}

std::vector<double> TableReader::numbers(const std::string& key, std::size_t count) {
  std::string wanted("[");
  wanted.append(std::to_string(count)).append(" numbers]");
  if (!has(key)) fail("", "needs " + key + " = " + wanted);
  return finite_numbers(*node_->find(key), count,
                        [&](const std::string& found) { fail(key, "must be " + wanted + found); });
}

std::vector<double> TableReader::numbers(const std::string& key) {
  const toml::array* array = has(key) ? node_->find(key)->as_array() : nullptr;
  if (!array || array->empty()) fail(key, "must be [numbers]");
  return numbers(key, array->size());
}

std::vector<std::string> TableReader::texts(const std::string& key, std::size_t count) {
  std::vector<std::string> values = texts(key);
  if (values.size() != count) fail(key, "must be [" + std::to_string(count) + " names]");
  return values;
}

std::vector<std::string> TableReader::texts(const std::string& key) {
  if (!has(key)) fail("", "needs " + key + " = [names]");
  const toml::array* array = node_->find(key)->as_array();
  if (!array || array->empty()) fail(key, "must be [names]");
  std::vector<std::string> values;
  for (const toml::node& entry : *array) {
    if (!entry.is_string()) fail(key, "must be [names]");
    values.push_back(*entry.value<std::string>());
  }
  return values;
}

std::vector<Vec<double, 3>> TableReader::vec3s(const std::string& key) {
  if (!has(key)) return {};
  const auto refuse = [&](const std::string& found) { fail(key, "must be a list of [3 numbers]" + found); };
  const toml::node* node = node_->find(key);
  const toml::array* array = node->as_array();
  if (!array) refuse(", not " + article_type(*node));
  if (array->empty()) refuse(", not an empty one");
  std::vector<Vec<double, 3>> values;
  for (const toml::node& entry : *array) {
    const std::vector<double> v = finite_numbers(entry, 3, refuse);
    values.push_back({v[0], v[1], v[2]});
  }
  return values;
}

Vec<double, 3> TableReader::vec3(const std::string& key) {
  const std::vector<double> v = numbers(key, 3);
  return {v[0], v[1], v[2]};
}

Vec<double, 3> TableReader::vec3(const std::string& key, const Vec<double, 3>& fallback) {
  return has(key) ? vec3(key) : fallback;
}

std::vector<std::int32_t> TableReader::indices(const std::string& key, std::int32_t count) {
  if (!has(key)) fail("", "needs " + key + " = [whole numbers]");
  const toml::array* array = node_->find(key)->as_array();
  if (!array || array->empty()) fail(key, "must be a list of whole numbers");
  std::vector<std::int32_t> values;
  for (const toml::node& entry : *array) {
    const auto value = entry.is_integer() ? *entry.value<std::int64_t>() : -1;
    if (value < 0 || value >= count)
      fail(key, "must be whole numbers from 0 to " + std::to_string(count - 1));
    values.push_back(static_cast<std::int32_t>(value));
  }
  return values;
}

std::optional<TableReader> TableReader::table(const std::string& key) {
  known_.insert(key);
  const toml::node* node = node_->find(key);
  if (!node) return std::nullopt;
  if (!node->is_table()) fail(key, "must be a table, not " + article_type(*node));
  const std::string name = node_->name.empty() ? "[" + key + "]" : node_->name + " " + key;
  return TableReader(node_->child(node->as_table(), name));
}

std::vector<TableReader> TableReader::tables(const std::string& key) {
  known_.insert(key);
  const toml::node* node = node_->find(key);
  if (!node) return {};
  const toml::array* array = node->as_array();
  if (!array) fail(key, "must be an array of tables, [[" + key + "]], not " + article_type(*node));
  std::vector<TableReader> readers;
  for (const toml::node& entry : *array) {
    if (!entry.is_table()) fail(key, "must be an array of tables, [[" + key + "]]");
    readers.push_back(TableReader(node_->child(entry.as_table(), "[[" + key + "]]")));
  }
  return readers;
}

void TableReader::settings(void* object, std::span<const ParamInfo> rows) {
  for (const ParamInfo& info : rows) {
    const std::string key(info.name);
    known_.insert(key);
    const toml::node* node = node_->find(key);
    if (!node) continue;
    try {
      if (node->is_string() && info.type == ParamType::choice) {
        set_param(object, info, *node->value<std::string_view>());
      } else if (node->is_boolean() && info.type == ParamType::boolean) {
        set_param(object, info, *node->value<bool>() ? 1.0 : 0.0);
      } else if (node->is_number() && (info.type == ParamType::real || info.type == ParamType::integer)) {
        set_param(object, info, to_double(*node));
      } else {
        const char* wanted = info.type == ParamType::choice    ? "a string"
                             : info.type == ParamType::boolean ? "true or false"
                                                               : "a number";
        fail(key, std::string("must be ") + wanted + ", not " + article_type(*node));
      }
    } catch (const std::invalid_argument& error) {
      fail(key, error.what());
    }
  }
}

void TableReader::finish() const {
  for (const auto& [key, node] : *node_->table) {
    const std::string name(key.str());
    if (known_.count(name)) continue;
    const std::vector<std::string_view> known(known_.begin(), known_.end());
    const std::string nearest = nearest_name(known, name);
    std::string message = "unknown key";
    if (!nearest.empty()) {
      message += "; did you mean '" + nearest + "'?";
    } else {
      message += "; known here:";
      for (const std::string_view k : known) message.append(" ").append(k);
    }
    fail(name, message);
  }
}

}  // namespace stickslip

// EditedText: a TOML document whose keys and tables are changed in its own text.
#pragma once

#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/io/file/input_error.h"

namespace stickslip {

/// A document and its changes, which are made at the end, from the last to the first, so that places in the
/// text stay those of the parser.
class EditedText {
 public:
  EditedText(const std::string& text, const std::filesystem::path& file) : file_(file) {
    std::string line;
    for (const char c : text) {
      if (c == '\n') lines_.push_back(std::exchange(line, {}));
      else line += c;
    }
    if (!line.empty()) lines_.push_back(line);
    try {
      document_ = toml::parse(text, file.string());
    } catch (const toml::parse_error& error) {
      throw InputError(file.string() + ":" + std::to_string(error.source().begin.line) + ": " +
                       std::string(error.description()));
    }
    add_headers(document_, headers_);
  }
  const toml::table& root() const { return document_; }

  void replace(const toml::node& node, const std::string& value) {
    const toml::source_region& at = node.source();
    if (at.begin.line != at.end.line || at.begin.line == 0 || at.begin.line > lines_.size())
      throw InputError(file_.string() + ":" + std::to_string(at.begin.line) +
                       ": a value of several lines cannot be changed");
    changes_[{at.begin.line, at.begin.column}] = {at.end.column, value};
  }
  /// Sets `key` in the table, whose header is a line of its own.
  void set(const toml::table& table, const std::string& key, const std::string& value) {
    if (const toml::node* node = table.get(key)) return replace(*node, value);
    if (table.is_inline())
      throw InputError(file_.string() + ":" + std::to_string(table.source().begin.line) +
                       ": a key cannot be added to an inline table");
    added_[table.source().begin.line].push_back(key + " = " + value);
  }
  void set_at_top(const std::string& key, const std::string& value) {
    if (const toml::node* node = document_.get(key)) return replace(*node, value);
    added_[0].push_back(key + " = " + value);
  }
  /// Takes a key of the document away, with its value, or a table [object.key]; nothing without either.
  void remove(const std::string& key) {
    for (const char* kind : {"object", "collider"})
      if (const toml::table* table = document_[kind][key].as_table()) {
        const auto [begin, end] = lines_of(*table);
        for (std::size_t k = begin; k <= end; ++k) removed_.insert(static_cast<unsigned>(k));
      }
    const toml::node* node = document_.get(key);
    if (node == nullptr) return;
    const toml::source_region& at = node->source();
    const bool is_known = at.begin.line > 0 && at.end.line <= lines_.size();
    const std::string line = is_known ? lines_[at.begin.line - 1] : std::string();
    if (const std::size_t first = line.find_first_not_of(" \t");
        line.compare(std::min(first, line.size()), key.size(), key) != 0)
      throw InputError(file_.string() + ": " + key + " has no line of its own");
    for (auto k = at.begin.line; k <= at.end.line; ++k) removed_.insert(k);
  }
  /// Sets `key` in the table [name], which is added at the end of the text if it is missing.
  void set(const std::string& name, const std::string& key, const std::string& value) {
    const toml::node* node = document_.get(name);
    if (node != nullptr && node->is_table()) return set(*node->as_table(), key, value);
    new_tables_[name].push_back(key + " = " + value);
  }

  /// Without the lines of a table, from its header up to the comments before the next one.
  std::string without(const toml::table& table) const {
    const auto [begin, end] = lines_of(table);
    return lines_except(begin, end);
  }
  /// Those lines, without its header.
  std::string only(const toml::table& table) const {
    const auto [begin, end] = lines_of(table);
    std::string out;
    for (std::size_t i = begin; i < end; ++i) out += lines_[i] + "\n";
    return out;
  }
  std::string text() const {
    std::vector<std::string> lines = lines_;
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
      const auto& [place, with] = *change;
      std::string& line = lines[place.first - 1];
      line = line.substr(0, bytes(line, place.second - 1)) + with.second +
             line.substr(bytes(line, with.first - 1));
    }
    std::string out;
    const auto add = [&](std::size_t line) {
      if (const auto found = added_.find(static_cast<unsigned>(line)); found != added_.end())
        for (const std::string& text : found->second) out += text + "\n";
    };
    add(0);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!removed_.contains(static_cast<unsigned>(i + 1))) out += lines[i] + "\n";
      add(i + 1);
    }
    for (const auto& [name, keys] : new_tables_) {
      out += "\n[" + name + "]\n";
      for (const std::string& key : keys) out += key + "\n";
    }
    return out;
  }

 private:
  /// The first line of a table, its header, counted from 1, and its last one.
  std::pair<std::size_t, std::size_t> lines_of(const toml::table& table) const {
    const std::size_t begin = table.source().begin.line;
    std::set<std::size_t> own;  // headers of tables in this one
    add_headers(table, own);
    std::size_t end = begin;
    const auto is_header = [&](std::size_t line) {
      const std::size_t at = lines_[line].find_first_not_of(" \t");
      return at != std::string::npos && lines_[line][at] == '[' && headers_.contains(line + 1) &&
             !own.contains(line + 1);
    };
    while (end < lines_.size() && !is_header(end)) ++end;
    while (end > begin && (lines_[end - 1].empty() || lines_[end - 1].front() == '#')) --end;
    return {begin, end};
  }
  std::string lines_except(std::size_t begin, std::size_t end) const {
    std::string out;
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (i + 1 < begin || i >= end) out += lines_[i] + "\n";
    return out;
  }

  /// Lines on which the tables of a node begin.
  static void add_headers(const toml::node& node, std::set<std::size_t>& lines) {
    if (const toml::array* array = node.as_array())
      for (const toml::node& entry : *array) add_headers(entry, lines);
    if (const toml::table* table = node.as_table()) {
      lines.insert(table->source().begin.line);
      for (const auto& [key, value] : *table) add_headers(value, lines);
    }
  }
  /// Bytes of the first `count` characters: columns of the parser count code points of UTF-8.
  static std::size_t bytes(const std::string& line, std::size_t count) {
    std::size_t at = 0;
    for (; count > 0 && at < line.size(); --count)
      for (++at; at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80;) ++at;
    return at;
  }

  std::filesystem::path file_;
  std::vector<std::string> lines_;
  toml::table document_;
  std::set<std::size_t> headers_;  // lines, from 1, on which tables begin
  std::map<std::pair<unsigned, unsigned>, std::pair<unsigned, std::string>> changes_;  // by line and column
  std::map<unsigned, std::vector<std::string>> added_;                                 // after this line
  std::map<std::string, std::vector<std::string>> new_tables_;
  std::set<unsigned> removed_;  // lines, from 1
};

}  // namespace stickslip

// What the user chooses of the view of a scene, one row each: for journals and scripts.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stickslip {

struct ViewState;

/// A check box of the view, a choice or a number.
struct ViewRow {
  enum class Kind { flag, choice, number };
  std::string name;
  Kind kind = Kind::flag;
  std::function<double(const ViewState&)> get;  // a flag is 0 or 1, a choice is its index
  std::function<void(ViewState&, double)> set;  // of a value that `checked` lets pass
  std::vector<std::string> choices = {};
  double low = 0, high = 1;
};

std::span<const ViewRow> view_table();
/// The row of this name. Throws std::invalid_argument, with the nearest name.
const ViewRow& view_row(std::string_view name);
/// The value, or that of a text: a number, true or false, the name of a choice. Throws std::invalid_argument
/// for what the row cannot have.
double checked(const ViewRow& row, double value);
double checked(const ViewRow& row, std::string_view text);

struct ViewChange {
  std::string_view name;  // of a row
  double value = 0;
};

}  // namespace stickslip

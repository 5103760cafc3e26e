// The rows of the view, by which journals and scripts change it.
#include "app/viewer/view_rows.h"

#include <gtest/gtest.h>

#include <set>

#include "app/viewer/panels/panel_context.h"

namespace stickslip {
namespace {

TEST(ViewRows, EachIsReadAsItWasSetAndChangesNoOther) {
  std::set<std::string> names;
  for (const ViewRow& row : view_table()) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(names.insert(row.name).second) << "two rows have this name";
    EXPECT_EQ(&view_row(row.name), &row);
    ViewState view;
    const double start = row.get(view);
    EXPECT_EQ(checked(row, start), start);
    const double high =
        row.kind == ViewRow::Kind::choice ? static_cast<double>(row.choices.size()) - 1 : row.high;
    const double other = start == high ? row.low : high;
    row.set(view, other);
    EXPECT_EQ(row.get(view), other);
    for (const ViewRow& untouched : view_table()) {
      if (&untouched == &row) continue;
      EXPECT_EQ(untouched.get(view), untouched.get(ViewState{})) << untouched.name;
    }
    EXPECT_THROW(checked(row, high + 1), std::invalid_argument);
    EXPECT_THROW(checked(row, row.low - 1), std::invalid_argument);
    EXPECT_THROW(checked(row, "no such value"), std::invalid_argument);
  }
  for (const OverlayInfo& overlay : overlay_table()) EXPECT_TRUE(names.contains(std::string(overlay.name)));
}

TEST(ViewRows, ChoicesAreWords) {
  for (const ViewRow& row : view_table())
    for (std::size_t i = 0; i < row.choices.size(); ++i) {
      EXPECT_EQ(row.choices[i].find(' '), std::string::npos) << row.choices[i];
      EXPECT_EQ(checked(row, row.choices[i]), static_cast<double>(i));
    }
}

}  // namespace
}  // namespace stickslip

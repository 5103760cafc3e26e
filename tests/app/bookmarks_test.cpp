// Marks on the timeline.
#include "app/viewer/bookmarks.h"

#include <gtest/gtest.h>

namespace stickslip {
namespace {

TEST(Bookmarks, AreFoundOnBothSides) {
  Bookmarks marks;
  EXPECT_FALSE(marks.before(10));
  EXPECT_FALSE(marks.after(10));
  for (const int frame : {20, 5, 12}) marks.toggle(frame);
  EXPECT_EQ(marks.before(5), std::nullopt);
  EXPECT_EQ(marks.before(6), 5);
  EXPECT_EQ(marks.before(12), 5);
  EXPECT_EQ(marks.after(5), 12);
  EXPECT_EQ(marks.after(20), std::nullopt);
  marks.toggle(12);
  EXPECT_EQ(marks.after(5), 20);
  marks.clear();
  EXPECT_TRUE(marks.frames().empty());
}

}  // namespace
}  // namespace stickslip

// Texts of numbers in panels.
#include "app/viewer/panels/widgets.h"

#include <gtest/gtest.h>

namespace stickslip {
namespace {

TEST(SiText, HasAPrefixOfTheNumbersSize) {
  EXPECT_EQ(si_text(0, "m"), "0 m");
  EXPECT_EQ(si_text(-0.0, "W"), "0 W");
  EXPECT_EQ(si_text(1.234, "m"), "1.23 m");
  EXPECT_EQ(si_text(-3400, "N"), "-3.4 kN");
  EXPECT_EQ(si_text(2.5e-3, "m"), "2.5 mm");
  EXPECT_EQ(si_text(2.5e-6, "m"), "2.5 \xC2\xB5m");
  EXPECT_EQ(si_text(7e12, "Pa"), "7 TPa");
}

TEST(SiText, HasPrefixesBelowNano) {
  EXPECT_EQ(si_text(2.08e-9, "N s"), "2.08 nN s");
  EXPECT_EQ(si_text(2.08e-12, "N s"), "2.08 pN s");
  EXPECT_EQ(si_text(-2.08e-15, "N s"), "-2.08 fN s");
}

TEST(SiText, BeyondThePrefixesIsAnExponentAlone) {
  EXPECT_EQ(si_text(2.08e-18, "N s"), "2.08e-18 N s");
  EXPECT_EQ(si_text(5e16, "N/m"), "5e+16 N/m");
}

TEST(SiText, RoundsIntoTheNextPrefix) {
  EXPECT_EQ(si_text(999.4, "m"), "999 m");
  EXPECT_EQ(si_text(999.5, "m"), "1 km");
  EXPECT_EQ(si_text(9.996e-4, "m"), "1 mm");
}

}  // namespace
}  // namespace stickslip

// Colours of surfaces.
#include "app/viewer/surface_colors.h"

#include <gtest/gtest.h>

namespace stickslip {
namespace {

TEST(SurfaceColorsTable, IsIndexedByItsEnum) {
  for (std::size_t i = 0; i < surface_colors_table().size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(surface_colors_table()[i].colors), i);
}

TEST(PlaceOnScale, IsTheShareOfTheLargest) {
  std::vector<float> places;
  place_on_scale(std::vector<float>{-1, 0, 5, 20}, 10, places);
  EXPECT_EQ(places, (std::vector<float>{-1, 0, 0.5f, 1}));
  place_on_scale(std::vector<float>{-1, 0}, 0, places);
  EXPECT_EQ(places, (std::vector<float>{-1, 0}));
}

}  // namespace
}  // namespace stickslip

// Small pictures of scenes.
#include "app/viewer/thumbnails.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "app/capture/png.h"
#include "app/io/scene/scene.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

class ThumbnailsTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  const fs::path folder = fs::temp_directory_path() / ("stickslip-thumbnails-" + std::to_string(getpid()));
};

TEST_F(ThumbnailsTest, APixelIsTheMeanOfThoseThatItCovers) {
  Image image;
  image.width = 4;
  image.height = 2;
  for (int i = 0; i < 8; ++i)
    for (const int value : {i % 4 < 2 ? 10 * (i + 1) : 200, 100, 0, 255})
      image.rgba.push_back(static_cast<std::uint8_t>(value));
  write_png(folder / "a.png", image);
  const auto small = load_thumbnail(folder / "a.png", 2, 1);
  ASSERT_TRUE(small);
  ASSERT_EQ(small->pixels.size(), 2u);
  EXPECT_EQ(small->pixels[0] & 255, 35u) << "of 10, 20, 50, 60";
  EXPECT_EQ(small->pixels[1] & 255, 200u);
  EXPECT_EQ(small->pixels[1] >> 8 & 255, 100u);
  EXPECT_EQ(small->pixels[1] >> 24, 255u);
  const auto large = load_thumbnail(folder / "a.png", 8, 4);
  ASSERT_TRUE(large) << "and of a smaller picture the pixel that is there";
  EXPECT_EQ(large->pixels[0] & 255, 10u);
}

TEST_F(ThumbnailsTest, WhatIsMissingOrNoPictureHasNone) {
  std::ofstream(folder / "text.png") << "no picture";
  Thumbnails thumbnails(folder);
  EXPECT_TRUE(thumbnails.any());
  EXPECT_EQ(thumbnails.of("none"), nullptr);
  EXPECT_EQ(thumbnails.of("text"), nullptr);
  Thumbnails nowhere(folder / "none");
  EXPECT_FALSE(nowhere.any());
  EXPECT_EQ(nowhere.of("text"), nullptr);
}

TEST_F(ThumbnailsTest, ShippedScenesHavePictures) {
  Thumbnails thumbnails(assets_folder() / "pictures");
  if (!thumbnails.any()) GTEST_SKIP() << "pictures are not installed";
  const Thumbnail* arch = thumbnails.of("arch");
  ASSERT_NE(arch, nullptr);
  EXPECT_EQ(arch->pixels.size(), static_cast<std::size_t>(Thumbnails::kWidth * Thumbnails::kHeight));
  EXPECT_EQ(thumbnails.of("arch"), arch) << "its file is read once";
}

}  // namespace
}  // namespace stickslip

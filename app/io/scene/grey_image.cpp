#include "app/io/scene/grey_image.h"

#include "app/io/file/byte_cursor.h"

namespace stickslip {
namespace {

/// The next number of the header or of a text image, behind comments.
std::int32_t next_whole(ByteCursor& in, const char* what, std::int32_t low, std::int32_t high) {
  while (in.remaining() > 0 && in.line_ended()) in.line();
  return static_cast<std::int32_t>(in.whole(what, low, high));
}

}  // namespace

GreyImage parse_pgm(std::string_view bytes, const std::string& name) {
  ByteCursor in(bytes, name);
  const bool text = bytes.starts_with("P2"), binary = bytes.starts_with("P5");
  if (!text && !binary) in.fail("is no portable graymap: those begin with P2 or P5");
  in.word();
  GreyImage image;
  image.columns = next_whole(in, "the number of columns", 1, kMostTexels);
  image.rows = next_whole(in, "the number of rows", 1, kMostTexels);
  image.white = next_whole(in, "the largest grey", 1, 65535);
  const auto count = static_cast<std::size_t>(image.columns) * static_cast<std::size_t>(image.rows);
  const bool wide = image.white > 255;
  if (binary) {
    if (in.remaining() == 0) in.fail("the file ends where the image should be");
    in.go_to(in.offset() + 1);
    in.set_binary(std::endian::native == std::endian::little);
  }
  in.check_count("greys", count, wide || text ? 2 : 1);
  image.grey.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t at = in.offset();
    const std::int32_t grey = text   ? next_whole(in, "a grey", 0, image.white)
                              : wide ? in.binary<std::uint16_t>("a grey")
                                     : in.binary<std::uint8_t>("a grey");
    if (grey > image.white)
      in.fail_at(at,
                 "grey " + std::to_string(grey) + " is above the largest, " + std::to_string(image.white));
    image.grey.push_back(static_cast<std::uint16_t>(grey));
  }
  return image;
}

GreyImage load_grey_image(const std::filesystem::path& file) {
  return parse_pgm(read_bytes(file), file.string());
}

}  // namespace stickslip

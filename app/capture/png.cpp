#include "app/capture/png.h"

#include <stb_image_write.h>

#include <sstream>
#include <utility>

#include "app/io/file/output_file.h"

namespace stickslip {
namespace {

/// `what`: the picture, in messages.
void encode_png(std::ostream& out, const Image& image, const std::string& what) {
  if (image.width <= 0 || image.height <= 0) throw OutputError("cannot write " + what + ": it has no pixels");
  const auto append = [](void* stream, void* bytes, int count) {
    static_cast<std::ostream*>(stream)->write(static_cast<const char*>(bytes), count);
  };
  if (stbi_write_png_to_func(append, &out, image.width, image.height, 4, image.rgba.data(),
                             4 * image.width) == 0)
    throw OutputError("cannot write " + what + ": out of memory");
}

}  // namespace

std::string png_bytes(const Image& image) {
  std::ostringstream bytes;
  encode_png(bytes, image, "the picture");
  return std::move(bytes).str();
}

void write_png(const std::filesystem::path& file, const Image& image) {
  OutputFile out(file);
  encode_png(out.stream(), image, "the picture '" + file.string() + "'");
  out.commit();
}

}  // namespace stickslip

#include "app/capture/png.h"

#include <stb_image_write.h>

#include <stdexcept>
#include <system_error>

namespace stickslip {

void write_png(const std::filesystem::path& file, const Image& image) {
  std::filesystem::path temporary = file;
  temporary += ".part";
  std::error_code error;
  const bool written = image.width > 0 && image.height > 0 &&
                       stbi_write_png(temporary.c_str(), image.width, image.height, 4, image.rgba.data(),
                                      4 * image.width) != 0;
  if (written) std::filesystem::rename(temporary, file, error);
  if (!written || error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw std::runtime_error("cannot write the picture '" + file.string() + "'" +
                             (error ? ": " + error.message() : std::string()));
  }
}

}  // namespace stickslip

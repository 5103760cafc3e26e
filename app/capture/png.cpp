#include "app/capture/png.h"

#include <stb_image_write.h>

#include "app/io/file/output_file.h"

namespace stickslip {

void write_png(const std::filesystem::path& file, const Image& image) {
  if (image.width <= 0 || image.height <= 0)
    throw OutputError("cannot write the picture '" + file.string() + "': it has no pixels");
  OutputFile out(file);
  const auto append = [](void* stream, void* bytes, int count) {
    static_cast<std::ostream*>(stream)->write(static_cast<const char*>(bytes), count);
  };
  if (stbi_write_png_to_func(append, &out.stream(), image.width, image.height, 4, image.rgba.data(),
                             4 * image.width) == 0)
    throw OutputError("cannot write the picture '" + file.string() + "': out of memory");
  out.commit();
}

}  // namespace stickslip

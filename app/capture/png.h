// Still pictures.
#pragma once

#include <filesystem>
#include <string>

#include "app/render/image.h"

namespace stickslip {

/// The bytes of a PNG file. Throws OutputError: no pixels, or no memory.
std::string png_bytes(const Image& image);
/// The file appears when it is complete. Throws InputError or OutputError with the path.
void write_png(const std::filesystem::path& file, const Image& image);

}  // namespace stickslip

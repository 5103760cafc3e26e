// Still pictures.
#pragma once

#include <filesystem>

#include "app/render/image.h"

namespace stickslip {

/// The file appears when it is complete. Throws InputError or OutputError with the path.
void write_png(const std::filesystem::path& file, const Image& image);

}  // namespace stickslip

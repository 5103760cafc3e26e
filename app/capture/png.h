// Still pictures.
#pragma once

#include <filesystem>

#include "app/render/image.h"

namespace stickslip {

/// Writes beside `file` under a temporary name, then renames. Throws std::runtime_error naming the file.
void write_png(const std::filesystem::path& file, const Image& image);

}  // namespace stickslip

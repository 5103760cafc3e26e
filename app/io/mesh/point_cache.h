// Point caches: the positions of a mesh's nodes at equal times, as modelling programs write them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/io/file/input_error.h"
#include "gpu/math/vec.h"

namespace stickslip {

struct PointCache {
  std::vector<std::vector<Vec<double, 3>>> samples;  // [m], all of one length
  double dt = 0;                                     // [s] from sample to sample; 0: the file does not say
};

/// PC2: "POINTCACHE2" and a zero; version 1, number of points, first frame, frames per sample, number of
/// samples; then the points. Little-endian, 4 bytes each number. Frames are no seconds, so `dt` stays 0.
/// Throws InputError with the byte.
PointCache parse_pc2(std::string_view bytes, const std::string& name);
/// MDD: number of samples, number of points, the samples' times [s], the points. Big-endian, 4 bytes each
/// number. Throws InputError with the byte, also where times are not equally far apart.
PointCache parse_mdd(std::string_view bytes, const std::string& name);

/// True for .pc2 and .mdd.
bool is_point_cache_name(const std::filesystem::path& file);
/// Reads either, by its extension.
PointCache load_point_cache(const std::filesystem::path& file);

}  // namespace stickslip

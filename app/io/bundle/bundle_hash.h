// Used by bundle*.cpp only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/io/checkpoint/checkpoint.h"

namespace stickslip {

/// The manifest's `format`.
inline constexpr const char* bundle_format = "stickslip bundle 1";

/// FNV-1a of a file's bytes, as 16 hexadecimal digits: finds damage, not forgery.
inline std::string bundle_hash(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash_text(hash);
}

}  // namespace stickslip

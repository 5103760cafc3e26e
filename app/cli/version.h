// What `stickslip --version` prints.
#pragma once

#include <string>

namespace stickslip {

/// Version, commit if it was known when the build was configured, backends that are compiled in, scalar.
std::string version_text();

}  // namespace stickslip

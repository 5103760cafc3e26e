// What most sources of the library read, for precompiled headers (STICKSLIP_PCH). No source includes it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/core/buffer.h"
#include "gpu/core/reduce.h"
#include "gpu/model/model.h"

// Headers that most tests of the library include, for precompiled headers (STICKSLIP_PCH). No source includes
// this file.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/core/buffer.h"
#include "gpu/core/reduce.h"
#include "gpu/model/element_group.h"
#include "gpu/model/model.h"

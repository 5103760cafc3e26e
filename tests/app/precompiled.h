// Headers that most tests of the program include, for precompiled headers (STICKSLIP_PCH). No source includes
// this file.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "app/io/file/input_error.h"
#include "app/io/mesh/mesh_gen.h"
#include "app/precompiled.h"

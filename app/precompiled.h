// Headers that most sources of the program include, for precompiled headers (STICKSLIP_PCH). No source
// includes this file.
#pragma once

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "app/io/scene/scene.h"
#include "gpu/engine.h"

// What most sources of the program read, for precompiled headers (STICKSLIP_PCH). No source includes it.
#pragma once

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "app/io/scene/scene.h"
#include "gpu/engine.h"

// Moved: see gpu/dfcp/constraint_block.h.
#pragma once

#include "gpu/dfcp/constraint_block.h"

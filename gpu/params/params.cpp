#include "gpu/params/params.h"

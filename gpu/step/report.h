#pragma once
#include "gpu/model/report.h"

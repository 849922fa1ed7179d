// Includes the newest version of the stable interface (tunesmith/stable/c), which the kernel implements.
#pragma once

#define TUNESMITH_STABLE_KERNEL
#include "tunesmith/stable/c/plugin.h"

// The stable interface (tunesmith/stable/c) as the kernel implements it: in its newest version.
#pragma once

#define TUNESMITH_STABLE_KERNEL
#include "tunesmith/stable/c/plugin.h"

// The kernel as plugins of the stable tier meet it.
#pragma once

#include "plugin/stable_interface.h"

namespace tunesmith::api {

extern const tunesmith_host k_host;

}  // namespace tunesmith::api

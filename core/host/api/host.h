// The kernel's implementation of the stable interface's host table.
#pragma once

#include "plugin/stable_interface.h"

namespace tunesmith::api {

extern const tunesmith_host k_host;

}  // namespace tunesmith::api

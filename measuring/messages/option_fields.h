// A target's options in a header, as the user wrote them.
#pragma once

#include <vector>

#include "tunesmith/plugin/options.h"
#include "tunesmith/schema/field.h"

namespace tunesmith {

nlohmann::json option_fields(const std::vector<RawOption>& options);
std::vector<RawOption> read_options(const Field& list);

}  // namespace tunesmith

// How the data sets were drawn, in a header.
#pragma once

#include <vector>

#include "tunesmith/schema/field.h"
#include "tunesmith/verification/data_sets.h"

namespace tunesmith {

/// One for each of kDataKinds.
nlohmann::json fill_fields(const std::vector<Fill>& fills);
std::vector<Fill> read_fills(const Field& list);

}  // namespace tunesmith

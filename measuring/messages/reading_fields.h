// A worker's reading of disturbances in a header.
#pragma once

#include "runner/disturbance.h"
#include "tunesmith/schema/field.h"

namespace tunesmith {

nlohmann::json reading_fields(const Reading& reading);
Reading read_reading(const Field& fields);

}  // namespace tunesmith

// How often a program is timed, as fields of tasks and jobs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tunesmith/schema/field.h"

namespace tunesmith {

struct Repeats {
  int min_repeats = 0;
  int max_repeats = 0;
  double min_total_seconds = 0.0;
};

void add_repeats(nlohmann::json& fields, const Repeats& repeats);
Repeats read_repeats(const Field& fields);

}  // namespace tunesmith

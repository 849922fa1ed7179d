#include "messages/repeats_fields.h"

#include <nlohmann/json.hpp>

#include "tunesmith/schema/limits.h"

namespace tunesmith {

void add_repeats(nlohmann::json& fields, const Repeats& repeats) {
  fields["min_repeats"] = repeats.min_repeats;
  fields["max_repeats"] = repeats.max_repeats;
  fields["min_total_seconds"] = repeats.min_total_seconds;
}

Repeats read_repeats(const Field& fields) {
  return {static_cast<int>(fields["min_repeats"].integer(0, kMaxRepeats)),
          static_cast<int>(fields["max_repeats"].integer(0, kMaxRepeats)),
          fields["min_total_seconds"].number(0.0, kMaxSeconds)};
}

}  // namespace tunesmith

#include "messages/reading_fields.h"

#include <nlohmann/json.hpp>

#include "messages/limits.h"

namespace tunesmith {

/// The share may be this large if the stretch was hardly longer than the clock's resolution.
constexpr double kMaxWaited = 1e15;

nlohmann::json reading_fields(const Reading& reading) {
  return {{"calibration", reading.calibration}, {"waited", reading.waited}};
}

Reading read_reading(const Field& fields) {
  return {fields["calibration"].number(0.0, kMaxSeconds), fields["waited"].number(0.0, kMaxWaited)};
}

}  // namespace tunesmith

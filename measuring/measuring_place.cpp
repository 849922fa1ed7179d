#include "tunesmith/measuring/measuring_place.h"

namespace tunesmith {

MeasuringPlace::~MeasuringPlace() = default;
size_t MeasuringPlace::rounds_at_once() const { return 1; }

}  // namespace tunesmith

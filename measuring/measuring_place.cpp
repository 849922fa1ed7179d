#include "tunesmith/measuring/measuring_place.h"

namespace tunesmith {

MeasuringPlace::~MeasuringPlace() = default;

}  // namespace tunesmith

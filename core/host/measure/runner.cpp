#include "tunesmith/measure/runner.h"

namespace tunesmith {

Runner::~Runner() = default;

}  // namespace tunesmith

#include "tunesmith/measure/runner.h"

namespace tunesmith {

Runner::~Runner() = default;

std::optional<CompiledKernel> Runner::as_candidate(const Trace& /*trace*/, uint64_t /*lowered_hash*/) const {
  return std::nullopt;
}

size_t Runner::at_once() const {
  constexpr size_t kFew = 8;
  return kFew;
}

}  // namespace tunesmith

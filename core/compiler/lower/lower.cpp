#include "tunesmith/lower/lower.h"

#include <fmt/format.h>

#include "tunesmith/lower/pipeline.h"

namespace tunesmith {

LowerError::LowerError(std::string_view pass, std::string_view reason, const std::string& detail)
    : Error(fmt::format("{}: {}{}{}", pass, reason, detail.empty() ? "" : ": ", detail)), reason_(reason) {}
LowerError::~LowerError() = default;

LoweredProgram lower(const Program& program, const LowerOptions& options) {
  static const Pipeline standard = standard_pipeline();
  return lower(program, options, standard);
}

}  // namespace tunesmith

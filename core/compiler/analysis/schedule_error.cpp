#include "tunesmith/analysis/schedule_error.h"

#include <utility>

#include <fmt/format.h>

#include "tunesmith/ir/printer.h"

namespace tunesmith {
namespace {

std::string compose(std::string_view primitive, std::string_view reason, const std::string& detail) {
  std::string text = fmt::format("{}: {}", primitive, reason);
  if (!detail.empty()) text += fmt::format(" ({})", detail);
  return text;
}

}  // namespace

ScheduleError::ScheduleError(std::string_view primitive, std::string_view reason, std::string detail,
                             const Program& program, const Stmt* place)
    : Error(compose(primitive, reason, detail) + "\n" + to_string(program, place)),
      primitive_(primitive),
      reason_(reason),
      detail_(std::move(detail)) {}

ScheduleError::ScheduleError(std::string_view primitive, std::string_view reason, std::string detail)
    : Error(compose(primitive, reason, detail)),
      primitive_(primitive),
      reason_(reason),
      detail_(std::move(detail)) {}

ScheduleError::~ScheduleError() = default;
ScheduleMisuse::~ScheduleMisuse() = default;

}  // namespace tunesmith

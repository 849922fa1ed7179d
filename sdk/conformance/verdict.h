// The result of a check.
#pragma once

#include <string>
#include <utility>

#include "tunesmith/conformance/conformance.h"

namespace tunesmith::conformance {

struct Verdict {
  Outcome outcome = Outcome::Passed;
  std::string reason;
  std::string rule;  // if different from the check's own
};

inline Verdict passed() { return {}; }
inline Verdict failed(std::string reason, std::string rule = {}) {
  return {Outcome::Failed, std::move(reason), std::move(rule)};
}
inline Verdict skipped(std::string reason) { return {Outcome::Skipped, std::move(reason), {}}; }
inline Verdict unsupported(std::string reason) { return {Outcome::Unsupported, std::move(reason), {}}; }

}  // namespace tunesmith::conformance

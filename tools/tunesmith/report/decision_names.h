// Describes the decisions of a trace in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tunesmith/trace/trace.h>

namespace tunesmith::report {

/// One number that a sampling instruction decided.
struct DecidedNumber {
  size_t position = 0;  // index of the instruction in the trace
  size_t part = 0;      // index within the decision
  std::string name;     // "loop 2 of C, piece 1: factor 4 of 4"
};

/// The numbers of the searchable part, in order; traces that differ only in decisions have equal names.
std::vector<DecidedNumber> decided_numbers(const Trace& trace);

/// The number's meaning: a factor, the value of a category, a depth.
std::string value_text(const Trace& trace, const DecidedNumber& number);
int64_t value_of(const Trace& trace, const DecidedNumber& number);

}  // namespace tunesmith::report

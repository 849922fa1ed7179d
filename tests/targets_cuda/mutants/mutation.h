// Makes mistakes in the text of an emitted kernel, such as an emitter could make.
#pragma once

#include <string>
#include <vector>

namespace tunesmith::testing {

struct Mutation {
  std::string kind;  // "barrier", "wait", "commit", "stage" (a counter of stages is off by one), "predicate",
                     // "offset", "layout", "stride", "loop", "alias", "register": an offset and its like in
                     // what a thread has of its own; and those of producer_mutation.h
  std::string what;  // one line: the place, the text there, and its replacement
  std::string text;  // the kernel with the mistake
  /// The kernel that traps if the changed expression has another value than before: if it runs to its end,
  /// the mistake is harmless. Empty if the change is not in an expression.
  std::string witness;
  size_t barrier = 0;  // the number of the barrier in the text, from 0
};

/// All mutations of `text` that these rules find, in the text's order for each kind.
std::vector<Mutation> mutations_of(const std::string& text);

/// `text` with a function before the kernel, `mutant_witness<T>(right, wrong)`, that traps if they differ.
std::string with_witness(std::string text);

}  // namespace tunesmith::testing

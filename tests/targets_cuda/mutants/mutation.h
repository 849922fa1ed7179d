// Mistakes that are put into the text of an emitted kernel: what an emitter would have done wrong.
#pragma once

#include <string>
#include <vector>

namespace tunesmith::testing {

struct Mutation {
  std::string kind;  // "barrier", "wait", "commit", "stage" (a counter of stages is off by one), "predicate",
                     // "offset", "layout", "stride", "loop", "alias", "register": an offset and its like in
                     // what a thread has of its own; and those of producer_mutation.h
  std::string what;  // one line: what stands where, and what is there instead
  std::string text;  // the kernel with the mistake
  /// The kernel that traps where what was changed has another value than before: where this one runs to its
  /// end, the mistake is none. Empty for what is no expression.
  std::string witness;
  size_t barrier = 0;  // of a barrier: which of the text's, from 0
};

/// All of `text` that these rules find, in the order of the text for each kind.
std::vector<Mutation> mutations_of(const std::string& text);

/// `text` with a function in front of the kernel, `mutant_witness<T>(right, wrong)`, that traps where they
/// differ.
std::string with_witness(std::string text);

}  // namespace tunesmith::testing

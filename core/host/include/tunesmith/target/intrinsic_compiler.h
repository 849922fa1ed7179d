// How a target's back end takes tensor intrinsics, asked before any candidate calls them.
#pragma once

#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

struct LoweredProgram;

/// Of a target whose back end may end the process over an implementation (TensorImplementation): of code that
/// it cannot select, say. The kernel calls refusal() in a process of its own, once for each intrinsic of a
/// space and of the process that composes it, and offers no intrinsic that is refused.
class IntrinsicCompiler {
 public:
  virtual ~IntrinsicCompiler();
  /// Compiles `lowered`, which calls one intrinsic, as Target::compile() does; with `features` besides those
  /// that code may use, for a processor that has them, too. "" or the compiler's message. May end the
  /// process, with a message on standard error.
  virtual std::string refusal(const LoweredProgram& lowered, std::span<const std::string> features) const = 0;
  /// The features that code may not use, by Target::has_feature(). In a fixed order.
  virtual std::vector<std::string> missing_features() const = 0;
};

}  // namespace tunesmith
#pragma GCC visibility pop

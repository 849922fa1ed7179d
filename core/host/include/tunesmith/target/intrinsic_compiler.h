// Checks whether a target's back end can compile tensor intrinsics, before any candidate calls them.
#pragma once

#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

struct LoweredProgram;

/// For targets whose back end may end the process over an implementation (TensorImplementation),
/// for example over code that it cannot select. The kernel calls refusal() in a child process,
/// once for each intrinsic of a space, and does not offer refused intrinsics.
class IntrinsicCompiler {
 public:
  virtual ~IntrinsicCompiler();
  /// Compiles `lowered`, which calls one intrinsic, as Target::compile()
  /// does, with `features` enabled in addition. Returns "" or the compiler's
  /// message. May end the process, with a message on standard error.
  virtual std::string refusal(const LoweredProgram& lowered, std::span<const std::string> features) const = 0;
  /// The features that code may not use, by Target::has_feature(), in a fixed order.
  virtual std::vector<std::string> missing_features() const = 0;
};

}  // namespace tunesmith
#pragma GCC visibility pop

// The result of compiling a lowered program: bytes that can be sent to another process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tunesmith/lower/lower.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The step that runs once before any call of a kernel, and again whenever a constant input has changed.
struct PrepareStep {
  std::string symbol;          // of its entry point, a tunesmith_kernel with the kernel's own arguments
  int64_t bytes = 0;           // of prepared memory, the last of the kernel's buffers
  std::vector<size_t> reads;   // positions of the inputs that it reads
  std::vector<size_t> unread;  // positions of those that the kernel itself does not read any more
};

/// The step that runs once in a process before any call of a kernel, for the units that
/// it uses. Target::load() runs it, as does a built library before its first call.
struct SetupStep {
  std::string symbol;  // of its entry point, a tunesmith_setup
  /// The symbol of an int64_t: 0, or the result of a failed tunesmith_setup in a
  /// thread. That thread's part was skipped, and the call's results are meaningless.
  std::string fault;
  std::vector<std::string> parts;  // their names in messages
};

/// A kernel as bytes, which the same target in a worker can load.
struct CompiledKernel {
  std::string object;
  std::string symbol;
  int64_t workspace_bytes = 0;  // suffices for the kernel and its preparation
  double compile_seconds = 0.0;
  std::optional<PrepareStep> prepare = std::nullopt;
  std::optional<SetupStep> setup = std::nullopt;
};

/// The step that prepares for `lowered`, with this symbol; nothing if there is nothing to prepare.
std::optional<PrepareStep> prepare_step(const LoweredProgram& lowered, std::string symbol);

}  // namespace tunesmith
#pragma GCC visibility pop

// What a compiler makes of a lowered program: bytes that can be sent to another process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tunesmith/lower/lower.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// What is done once before any call of a kernel, and again whenever a constant input has changed.
struct PrepareStep {
  std::string symbol;          // of its entry point, a tunesmith_kernel with the kernel's own arguments
  int64_t bytes = 0;           // of prepared memory: the last of the kernel's buffers
  std::vector<size_t> reads;   // positions of the inputs that it reads
  std::vector<size_t> unread;  // positions of those among them that the kernel itself reads no more
};

/// What is done once in a process before any call of a kernel, for the units whose instructions it calls.
/// Target::load() does it, and a built library before its first call.
struct SetupStep {
  std::string symbol;  // of its entry point, a tunesmith_setup
  /// Of an int64_t: 0, or like a tunesmith_setup's answer what failed in a thread that ran a part of the
  /// kernel. That part was left out, and what the call has written means nothing.
  std::string fault;
  std::vector<std::string> parts;  // what they are called in messages
};

/// A kernel as bytes that can be sent to a worker and loaded by the same target there.
struct CompiledKernel {
  std::string object;
  std::string symbol;
  int64_t workspace_bytes = 0;  // of the kernel and of its preparation
  double compile_seconds = 0.0;
  std::optional<PrepareStep> prepare = std::nullopt;
  std::optional<SetupStep> setup = std::nullopt;
};

/// The step that prepares for `lowered`, with this symbol; nothing when there is nothing to prepare.
std::optional<PrepareStep> prepare_step(const LoweredProgram& lowered, std::string symbol);

}  // namespace tunesmith
#pragma GCC visibility pop

// A lowered program as CUDA C++ text: one kernel for each statement of its root.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "machine/launch.h"
#include "text/box_copy_text.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith::cuda {

/// How a kernel's text asks the compiler to save registers.
enum class TextForm : uint8_t {
  Usual,
  OneBlock,  ///< it need not save any so that several blocks are resident
  Rolled     ///< nor need it, and loops are written out only where what lies in registers depends on them
};

/// One kernel and how it is launched.
struct KernelText {
  std::string name;
  std::string text;               // of the kernel alone
  bool needs_header = false;      // tunesmith_device.cuh
  std::set<std::string> helpers;  // that it calls
  /// Of each thread, which the vendor's functions keep there: the digits of an angle of many turns.
  size_t stack_bytes = 0;
  Launch launch;
  /// What the kernel takes, in order.
  std::vector<Buffer> arguments;
  /// And behind these, tensors as maps.
  std::vector<MappedTensor> maps;
};

/// The kernels of `lowered`, to be launched one after the other, each in its form (all in the usual one where
/// none are given). `symbol` begins their names. Buffers begin where their scopes in `execution` say. Shared
/// memory that is more than `static_shared_bytes` is given at the launch. Throws LowerError for a program
/// that is too large for 32-bit indices.
std::vector<KernelText> kernel_texts(const LoweredProgram& lowered, const ExecutionModel& execution,
                                     int64_t static_shared_bytes, const std::string& symbol,
                                     std::span<const TextForm> forms = {});

/// One text that compiles: what the kernels use, and the kernels, each behind a line that says how it is
/// launched.
std::string program_text(std::span<const KernelText> kernels);

}  // namespace tunesmith::cuda

// Translates a lowered program to CUDA C++: one kernel for each statement of its root.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "machine/launch.h"
#include "text/box_copy_text.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith::cuda {

/// The register limits that a kernel's text requests from the compiler.
enum class TextForm : uint8_t {
  Usual,
  OneBlock,  ///< no limit for the sake of several resident blocks
  Rolled     ///< no limit either, and loops are unrolled only if register indices depend on them
};

/// One kernel and how it is launched.
struct KernelText {
  std::string name;
  std::string text;               // of this kernel only
  bool needs_header = false;      // tunesmith_device.cuh
  std::set<std::string> helpers;  // called by the kernel
  /// Per-thread stack of the vendor's functions: the digits for reducing large angles.
  size_t stack_bytes = 0;
  Launch launch;
  /// The kernel's arguments in order.
  std::vector<Buffer> arguments;
  /// Tensor maps, after the arguments.
  std::vector<MappedTensor> maps;
};

/// The kernels of `lowered`, to be launched one after another, each in its form (all in the usual one if none
/// are given). `symbol` is the prefix of their names. The scopes in `execution` determine the alignment of
/// buffers. Shared memory beyond `static_shared_bytes` is dynamic. Throws LowerError for a program that is
/// too large for 32-bit indices.
std::vector<KernelText> kernel_texts(const LoweredProgram& lowered, const ExecutionModel& execution,
                                     int64_t static_shared_bytes, const std::string& symbol,
                                     std::span<const TextForm> forms = {});

/// One text that compiles: the helpers, then the kernels,
/// each after a line that says how it is launched.
std::string program_text(std::span<const KernelText> kernels);

}  // namespace tunesmith::cuda

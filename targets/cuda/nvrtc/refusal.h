// Reasons for not running a compiled kernel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "machine/architecture.h"
#include "machine/launch.h"
#include "nvrtc/kernel_compiler.h"

namespace tunesmith::cuda {

enum class RefusalCause {
  CompileError,  ///< the compiler does not accept the text
  OverLimit,     ///< more threads, registers or shared memory than the architecture has
  Spills,        ///< registers or indexed arrays in memory
  Serialised     ///< matrix instructions that wait for one another unnecessarily
};
constexpr size_t kRefusalCauses = 4;

/// "compile_error", "over_limit", "spills", "serialised".
const char* refusal_name(RefusalCause cause);

struct Refusal {
  RefusalCause cause = RefusalCause::CompileError;
  std::string text;  // one line
};

/// Nothing if the kernel can be launched in this way without losses
/// known to the compiler. `stack_bytes` per thread are no loss.
std::optional<Refusal> refuse(const Compilation& compilation, const std::string& kernel,
                              const Architecture& architecture, const Launch& launch, size_t stack_bytes = 0);

/// Counts refused candidates by cause. Not thread-safe.
class RefusalCounts {
 public:
  void add(RefusalCause cause) { ++counts_[size_t(cause)]; }
  uint64_t of(RefusalCause cause) const { return counts_[size_t(cause)]; }
  /// "compile_error 2, spills 1", or "none".
  std::string text() const;

 private:
  std::array<uint64_t, kRefusalCauses> counts_{};
};

}  // namespace tunesmith::cuda

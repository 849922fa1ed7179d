// Declarations that the emulation reads from the kernel's text, since no compiler reports them.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace tunesmith::cuda {

/// `extern __shared__ ... NAME[]`: all such names share the launch's dynamic shared memory.
struct DynamicShared {
  std::set<std::string> names;
  /// The declared alignment, beyond which a kernel may not assume any; 16 if unspecified,
  /// and 1024 if the text does not show it (a computed number, a type of the kernel's own).
  size_t alignment = 16;
};
DynamicShared dynamic_shared(const std::string& text);

/// The maximum number of kernels in the text.
size_t kernels_in(const std::string& text);

/// The expression in the kernel's __launch_bounds__ for the maximum threads per block, or "0".
std::string max_threads(const std::string& text, const std::string& kernel);

}  // namespace tunesmith::cuda

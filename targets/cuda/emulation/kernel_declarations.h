// What the emulation must know of kernel text and no compiler tells it: read from the text itself.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace tunesmith::cuda {

/// `extern __shared__ ... NAME[]`: all of them are the launch's dynamic shared memory.
struct DynamicShared {
  std::set<std::string> names;
  /// What the declarations ask for, of which a kernel may assume no more; 16 where they say nothing, and 1024
  /// where that is not plain from their text: a number that is computed, a type of the kernel's own.
  size_t alignment = 16;
};
DynamicShared dynamic_shared(const std::string& text);

/// How many kernels the text has, at most.
size_t kernels_in(const std::string& text);

/// The expression in the kernel's __launch_bounds__ that says how many threads a block has at most, or "0".
std::string max_threads(const std::string& text, const std::string& kernel);

}  // namespace tunesmith::cuda

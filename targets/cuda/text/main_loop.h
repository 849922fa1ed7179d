// Statistics of a kernel's main loop, in which it multiplies: the share
// of multiplications shows how near the text is to the hardware's peak.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace tunesmith::cuda {

struct MainLoop {
  int instructions = 0;
  /// Number of each operation, without modifiers: "FFMA", "HMMA", "LDS".
  std::map<std::string, int> operations;

  /// "581 instructions: FFMA 512 (88.1 %), LDS 35 (6.0 %), ...", the most frequent first.
  std::string text() const;
};

/// Of all loops of `kernel` in the output of disassemble(), the one with the
/// largest share of multiplications: on matrix units, or by FFMA in kernels that
/// do not use them. Nothing if no loop multiplies or the kernel is missing.
std::optional<MainLoop> find_main_loop(const std::string& disassembly, const std::string& kernel);

}  // namespace tunesmith::cuda

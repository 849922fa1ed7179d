// What the loop of a kernel consists of in which it does its multiplications: the share of them says how near
// its text comes to what the hardware can do.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace tunesmith::cuda {

struct MainLoop {
  int instructions = 0;
  /// How many of each operation, without its modifiers: "FFMA", "HMMA", "LDS".
  std::map<std::string, int> operations;

  /// "581 instructions: FFMA 512 (88.1 %), LDS 35 (6.0 %), ...", the most frequent first.
  std::string text() const;
};

/// Of all loops of `kernel` in what disassemble() printed, the one of which the largest share multiplies: on
/// matrix units, or, in kernels that do not use these, by FFMA. Nothing where no loop multiplies, or there is
/// no such kernel.
std::optional<MainLoop> find_main_loop(const std::string& disassembly, const std::string& kernel);

}  // namespace tunesmith::cuda

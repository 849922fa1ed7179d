// A lowered program as CUDA C++ text: one kernel for each statement of its root.
#pragma once

#include <string>
#include <vector>

#include "launch.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith::cuda {

/// One kernel and how it is launched.
struct KernelText {
  std::string name;
  std::string text;  // complete: what it uses stands in it
  Launch launch;
  /// What the kernel takes, in order.
  std::vector<Buffer> arguments;
};

/// The kernels of `lowered`, to be launched one after the other. `symbol` begins their names. Throws
/// LowerError for a program that cannot be written so: one with vectors, or too large for 32-bit indices.
std::vector<KernelText> kernel_texts(const LoweredProgram& lowered, const std::string& symbol);

/// The root's statements, each one launch, through the allocations of the workspace.
std::vector<const Stmt*> launched_statements(const Program& program);

}  // namespace tunesmith::cuda

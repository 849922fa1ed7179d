// A target's facet: libraries that programs of others link.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/target/compiled_kernel.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// What to link a library from: one kernel and the C names of its entry points.
struct LibraryRequest {
  const CompiledKernel* kernel = nullptr;
  const Program* program = nullptr;  // unscheduled, for the arguments' names, types and shapes
  std::string name;                  // a C identifier
  std::string directory;             // existing; receives lib<name>.so and <name>.h
  std::string provenance;            // a comment for the header: workload, trace id, measured time
};

/// What to link a library of several kernels from, with the C source that calls them.
struct LinkRequest {
  std::vector<const CompiledKernel*> kernels;  // whose symbols differ
  /// Includes the header, and calls the kernels as kernel_abi.h says, the runtime's pool, and `int
  /// tunesmith_runs_here(void)`, which answers 0 on a processor that lacks what the kernels need.
  std::string source;
  std::string header;
  std::vector<std::string> exported;  // functions of `source` that programs may call
  std::string name;                   // a C identifier
  std::string directory;              // existing; receives lib<name>.so and <name>.h
};

struct LibraryFiles {
  std::string library;
  std::string header;
  std::vector<std::string> others = {};  // that a target writes besides
};

/// Owned by its target (Target::packaging()). Called by one thread at a time.
class Packaging {
 public:
  virtual ~Packaging();

  /// Writes what `request` asks for. Throws EnvironmentError where the installation or the disk lacks
  /// something.
  virtual LibraryFiles build_library(const LibraryRequest& request) = 0;

  /// Links kernels with a C source. Throws EnvironmentError likewise, and where the target's kernels are not
  /// called from C, as by default.
  virtual LibraryFiles link_library(const LinkRequest& request);
};

}  // namespace tunesmith
#pragma GCC visibility pop

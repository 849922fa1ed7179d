// A target's facet: writes libraries that other programs link.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/target/compiled_kernel.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A request for a library of one kernel, with the C names of its entry points.
struct LibraryRequest {
  const CompiledKernel* kernel = nullptr;
  const Program* program = nullptr;  // unscheduled; gives the arguments' names, types and shapes
  std::string name;                  // a C identifier
  std::string directory;             // an existing folder; receives lib<name>.so and <name>.h
  std::string provenance;            // a comment for the header: workload, trace id, measured time
};

/// A request for a library of several kernels, with the C source that calls them.
struct LinkRequest {
  std::vector<const CompiledKernel*> kernels;  // with different symbols
  /// Includes the header and calls the kernels as kernel_abi.h says, the runtime's pool, and `int
  /// tunesmith_runs_here(void)`, which returns 0 if the processor lacks required instructions.
  std::string source;
  std::string header;
  std::vector<std::string> exported;  // functions of `source` that programs may call
  std::string name;                   // a C identifier
  std::string directory;              // an existing folder; receives lib<name>.so and <name>.h
};

struct LibraryFiles {
  std::string library;
  std::string header;
  std::vector<std::string> others = {};  // further files of the target
};

/// Owned by its target (Target::packaging()). Called by one thread at a time.
class Packaging {
 public:
  virtual ~Packaging();

  /// Writes the library. Throws EnvironmentError if
  /// the installation or the disk lacks something.
  virtual LibraryFiles build_library(const LibraryRequest& request) = 0;

  /// Links kernels with a C source. Throws EnvironmentError likewise,
  /// and, as by default, if the target's kernels cannot be called from C.
  virtual LibraryFiles link_library(const LinkRequest& request);
};

}  // namespace tunesmith
#pragma GCC visibility pop

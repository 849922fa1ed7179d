// From programs of a network's tasks to the files of its library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tunesmith/network/tasks.h"
#include "tunesmith/network/write_library.h"
#include "tunesmith/target/compiled_kernel.h"
#include "tunesmith/target/packaging.h"
#include "tunesmith/target/target.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// What a library is called, and what it is built of.
struct LibrarySource {
  std::string name;                     ///< of the library, a C identifier
  std::string file;                     ///< of the network
  std::vector<std::string> dimensions;  ///< values of its named extents: "batch=1"
  std::vector<std::string> operators;   ///< files with further operators
};

/// Tasks whose program has no schedule (positions in TaskedNetwork::tasks), each with the reason.
using AsWritten = std::map<size_t, std::string>;

/// What the library's header says of tasks' programs.
struct ProgramNotes {
  AsWritten as_written;
  std::map<size_t, std::string> untuned;  ///< tasks with their first program, and how that was found
  std::map<const CompiledKernel*, std::string> intervals;  ///< which program is for which values of extents
};

struct BuiltNetwork {
  NetworkFiles files;
  std::string description;                                      ///< the file's path (library_description.h)
  std::vector<std::pair<std::string, std::string>> as_written;  ///< titles of such tasks, and why
  std::vector<std::pair<std::string, std::string>> untuned;     ///< likewise, and how the program was found
  std::vector<std::pair<std::string, std::string>> intervals;   ///< of tasks with several programs
  int64_t memory_bytes = 0;                                     ///< of a call
  int64_t weight_bytes = 0;
};

/// `kernels`: one for each task, verified, for their preparation runs in this process; the header has the
/// `notes`. Prepares the weights, and writes all files into `folder`, which it makes. Throws
/// UserError where the folder cannot be made or a result is no kernel's, EnvironmentError where the
/// installation or the disk lacks something.
BuiltNetwork build_network(const TaskedNetwork& tasked, std::span<const CompiledKernel* const> kernels,
                           const ProgramNotes& notes, Target& target, Packaging& packaging,
                           const LibrarySource& source, const std::string& folder);

/// Before long work whose result is a library: throws what build_network would, of its name, its folder, the
/// compiler and the order of its kernels. Leaves nothing.
void rehearse_network(const TaskedNetwork& tasked, Packaging& packaging, const LibrarySource& source,
                      const std::string& folder);

}  // namespace tunesmith::network
#pragma GCC visibility pop

// Builds the files of a network's library from the programs of its tasks.
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

/// The name and the source of a library.
struct LibrarySource {
  std::string name;                     ///< the library's name, a C identifier
  std::string file;                     ///< the network's file
  std::vector<std::string> dimensions;  ///< values of its named extents: "batch=1"
  std::vector<std::string> operators;   ///< files with further operators
};

/// Tasks without a schedule (indices in TaskedNetwork::tasks), with the reasons.
using AsWritten = std::map<size_t, std::string>;

/// Notes on tasks' programs for the library's header.
struct ProgramNotes {
  AsWritten as_written;
  std::map<size_t, std::string> untuned;  ///< tasks with their first program, and how it was found
  std::map<const CompiledKernel*, std::string> intervals;  ///< the program's values of extents
};

struct BuiltNetwork {
  NetworkFiles files;
  std::string description;                                      ///< the file's path (library_description.h)
  std::vector<std::pair<std::string, std::string>> as_written;  ///< tasks without a schedule, and why
  std::vector<std::pair<std::string, std::string>> untuned;     ///< tasks, and how their program was found
  std::vector<std::pair<std::string, std::string>> intervals;  ///< tasks with several programs, and for which
  int64_t memory_bytes = 0;                                    ///< of a call
  int64_t weight_bytes = 0;
};

/// `kernels`: one for each task; they must be verified, because their preparation runs in this process.
/// `notes` go into the header. Prepares the weights, and writes all files into `folder`, which it makes.
/// Throws UserError if the folder cannot be made or no kernel computes a result, EnvironmentError if the
/// installation or the disk lacks something.
BuiltNetwork build_network(const TaskedNetwork& tasked, std::span<const CompiledKernel* const> kernels,
                           const ProgramNotes& notes, Target& target, Packaging& packaging,
                           const LibrarySource& source, const std::string& folder);

/// Checks before long work that a library can be built: throws what build_network would throw because of the
/// name, the folder, the compiler or the order of kernels. Leaves no files.
void rehearse_network(const TaskedNetwork& tasked, Packaging& packaging, const LibrarySource& source,
                      const std::string& folder);

}  // namespace tunesmith::network
#pragma GCC visibility pop

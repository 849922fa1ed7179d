// Writes a network's library: its kernels, plain C code that calls them in order, and a file of weights.
//
//   lib<name>.so     exports <name>_open, <name>_run, ..., which <name>.h documents
//   <name>.h
//   <name>.weights   mapped by <name>_open: constants, and the memory that kernels prepared from them
//   <name>_main.c    runs the library on random inputs and prints times
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tunesmith/network/operator.h"
#include "tunesmith/network/varying.h"
#include "tunesmith/target/compiled_kernel.h"
#include "tunesmith/target/packaging.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// The location of a kernel's buffer.
struct BufferPlace {
  enum class Kind : uint8_t { Input, Output, Arena, Weights };
  Kind kind = Kind::Arena;
  int64_t at = 0;  ///< index among inputs or outputs; else an offset in bytes, a multiple of kTensorAlignment
  int64_t begin = 0;    ///< further offset in bytes, of a part of a tensor
  int64_t advance = 0;  ///< bytes to advance with each trip (Part)
  int64_t period = 1;   ///< number of trips after which the offset starts again
};

/// One call of a kernel.
struct LibraryStep {
  std::string name;                        ///< its task's name, for people
  const CompiledKernel* kernel = nullptr;  ///< steps may share a kernel; must outlive write_library
  std::vector<BufferPlace> buffers;        ///< the kernel's inputs, outputs, and prepared memory, if any
  int64_t workspace = 0;                   ///< offset of the kernel's workspace in the arena
  size_t back_to = 0;                      ///< for the last step of a loop: the loop's first step
  int64_t trips = 1;                       ///< number of trips of the loop; 1 for other steps
};

struct LibraryArgument {
  std::string name;
  TensorType type;  ///< with the highest extents
  ShapeForm form = {};
};
/// The arguments with their shapes at these values.
std::vector<LibraryArgument> at_values(std::vector<LibraryArgument> arguments,
                                       std::span<const int64_t> values);
/// The input and the axis whose extent is the varying one. Throws UserError if no input has it.
std::pair<size_t, size_t> place_of_extent(std::span<const LibraryArgument> inputs,
                                          std::span<const VaryingExtent> varying, size_t extent);

/// Bytes of the weights' file; gaps between pieces are zero. They must outlive write_library.
struct WeightPiece {
  int64_t at = 0;
  std::span<const std::byte> bytes;
};

struct LibraryPlan {
  std::string name;        ///< a C identifier
  std::string provenance;  ///< a comment for the header
  std::vector<LibraryArgument> inputs;
  std::vector<LibraryArgument> outputs;
  std::vector<CountedOutput> counted;  ///< the outputs whose extents a call finds out
  std::vector<VaryingExtent>
      varying;  ///< each is the extent of an input; kernels get the values in this order
  std::vector<LibraryStep> steps;
  int64_t arena_bytes = 0;
  int64_t weight_bytes = 0;
  std::vector<WeightPiece> weights;
};

struct NetworkFiles {
  std::string library;
  std::string header;
  std::string weights;
  std::string main_program;
};

/// Writes the four files into `directory`, which must exist. Each atomically replaces an older one. Throws
/// EnvironmentError if the installation or the disk lacks something, InternalError for a plan whose buffers
/// exceed the memory that contains them.
NetworkFiles write_library(const LibraryPlan& plan, Packaging& packaging, const std::string& directory);

/// Links the library with kernels that do nothing and without weights: throws what write_library would throw
/// because of names, the compiler and the plan. Of the kernels it needs only the symbols.
void rehearse_library(const LibraryPlan& plan, Packaging& packaging, const std::string& directory);

}  // namespace tunesmith::network
#pragma GCC visibility pop

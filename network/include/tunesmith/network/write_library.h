// The library that a network becomes: kernels, the order of their calls and where their buffers lie, as plain
// C, and a file of weights.
//
//   lib<name>.so     exports <name>_open, <name>_run, ...: <name>.h says how they are called
//   <name>.h
//   <name>.weights   mapped by <name>_open: constants, and what kernels have prepared of them
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

/// Where a kernel finds one of its buffers.
struct BufferPlace {
  enum class Kind : uint8_t { Input, Output, Arena, Weights };
  Kind kind = Kind::Arena;
  int64_t at =
      0;  ///< the position among inputs or outputs; else an offset in bytes, a multiple of kTensorAlignment
  int64_t begin = 0;    ///< bytes from there on: of a part of a tensor
  int64_t advance = 0;  ///< bytes further with each trip (Part)
  int64_t period = 1;   ///< trips after which it begins again
};

/// One call of a kernel.
struct LibraryStep {
  std::string name;                        ///< of its task, for people
  const CompiledKernel* kernel = nullptr;  ///< several steps may share one; lives until write_library returns
  std::vector<BufferPlace> buffers;  ///< the kernel's inputs, outputs, and prepared memory where it has some
  int64_t workspace = 0;             ///< the offset in the arena of the kernel's workspace
  size_t back_to = 0;                ///< the last step of a loop: it goes back to this one
  int64_t trips = 1;                 ///< until so many are done; 1 of any other step
};

struct LibraryArgument {
  std::string name;
  TensorType type;  ///< with the highest extents
  ShapeForm form = {};
};
/// With the shapes that these values give.
std::vector<LibraryArgument> at_values(std::vector<LibraryArgument> arguments,
                                       std::span<const int64_t> values);
/// Where a call's value of what varies stands: an input, and an axis of it. Throws UserError where it is the
/// extent of none.
std::pair<size_t, size_t> place_of_extent(std::span<const LibraryArgument> inputs,
                                          std::span<const VaryingExtent> varying, size_t extent);

/// Bytes of the weights' file; what no piece covers is zero. They live until write_library returns.
struct WeightPiece {
  int64_t at = 0;
  std::span<const std::byte> bytes;
};

struct LibraryPlan {
  std::string name;        ///< a C identifier
  std::string provenance;  ///< a comment for the header
  std::vector<LibraryArgument> inputs;
  std::vector<LibraryArgument> outputs;
  std::vector<VaryingExtent>
      varying;  ///< each is the extent of an input; kernels get their values in this order
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

/// Writes the four files into `directory`, which exists. Each replaces an older one as a whole. Throws
/// EnvironmentError where the installation or the disk lacks something, InternalError for a plan whose
/// buffers lie outside of what they lie in.
NetworkFiles write_library(const LibraryPlan& plan, Packaging& packaging, const std::string& directory);

/// Links the library of the plan with kernels that do nothing, of which only the symbols are needed, and
/// without weights: throws what write_library would of names, the compiler and the plan.
void rehearse_library(const LibraryPlan& plan, Packaging& packaging, const std::string& directory);

}  // namespace tunesmith::network
#pragma GCC visibility pop

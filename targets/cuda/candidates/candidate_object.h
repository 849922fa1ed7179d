// A compiled candidate as bytes, on its way from the tuner to the worker.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "machine/launch.h"

namespace tunesmith::cuda {

/// What a kernel's argument is in a call: buffer `position` of the call, or a place in its workspace.
struct ObjectArgument {
  std::string name;
  bool in_workspace = false;
  int64_t position = 0;  // or the offset
  int64_t bytes = 0;
  std::string type;  // of an element, in the kernel's text
  /// Of a map of the buffer (MappedTensor); all zero: a pointer to it.
  std::array<unsigned, 2> extents{}, box{};

  bool is_map() const { return box[0] > 0; }
};

/// What a candidate's launches run on, and what `program` of each is for that: an executable that checks, one
/// that does not, or a cubin.
enum class RunsOn : uint8_t { Emulation, Host, Gpu };

struct ObjectLaunch {
  std::string kernel;  // its name
  Launch launch;
  std::vector<ObjectArgument> arguments;
  std::string program;
};

struct CandidateObject {
  RunsOn runs_on = RunsOn::Emulation;
  double modelled_seconds = 0;
  /// Checks of accesses may find other mistakes in other data (data_dependence.h).
  bool checks_depend_on_data = false;
  std::string source;  // of all kernels
  /// Positions of the buffers of a call that it writes.
  std::vector<int64_t> outputs;
  std::vector<ObjectLaunch> launches;

  std::string bytes() const;
  /// Throws EnvironmentError when the bytes are damaged.
  static CandidateObject parse(const std::string& bytes);
};

}  // namespace tunesmith::cuda

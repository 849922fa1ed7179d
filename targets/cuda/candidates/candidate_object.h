// A compiled candidate as bytes, on its way from the tuner to the worker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/boxed_tensor.h"
#include "machine/launch.h"

namespace tunesmith::cuda {

/// A kernel's argument in a call: buffer `position` of the call, or an offset in its workspace.
struct ObjectArgument {
  std::string name;
  bool in_workspace = false;
  int64_t position = 0;  // or the offset
  int64_t bytes = 0;
  std::string type;  // of an element, in the kernel's text
  /// For a map of the buffer (MappedTensor); of no dimension: a pointer to it.
  BoxedTensor tensor = {};

  bool is_map() const { return tensor.rank > 0; }
};

/// The device of a candidate's launches, which determines `program`
/// of each: an executable with checks, one without, or a cubin.
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
  /// With other data, checks of accesses may find other mistakes (data_dependence.h).
  bool checks_depend_on_data = false;
  std::string source;  // of all kernels
  /// The positions of the call's buffers that it writes.
  std::vector<int64_t> outputs;
  std::vector<ObjectLaunch> launches;

  std::string bytes() const;
  /// Throws EnvironmentError when the bytes are damaged.
  static CandidateObject parse(const std::string& bytes);
};

}  // namespace tunesmith::cuda

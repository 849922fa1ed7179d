// Emulates a device: compiles a kernel's text by the host's compiler and runs it thread by thread in a child
// process, which checks barriers, races, waits and bounds.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "machine/boxed_tensor.h"
#include "machine/launch.h"
#include "support/temporary_folder.h"

namespace tunesmith::cuda {

/// The order in which threads take turns. In random order asynchronous
/// copies arrive early or late; in the other orders as late as possible.
enum class ThreadOrder { Forward, Backward, Random };

/// How a launch is run.
struct EmulatedRun {
  ThreadOrder order = ThreadOrder::Forward;
  /// Orders change from block to block: forward, backward, random, then
  /// forward again, beginning with `order`. Otherwise all blocks use `order`.
  bool in_turn = false;
  uint64_t seed = 1;  ///< of random orders
  double time_limit_seconds = 60;
  /// Off: as if the program were compiled without checks.
  bool check_accesses = true;
};

/// "forward", "backward" or "random".
const char* order_name(ThreadOrder order);

struct EmulatedArgument {
  enum class Kind {
    Buffer,  ///< a pointer to `bytes`, which the kernel may write unless its parameter is of `const` ones
    Input,   ///< the same, which it may not write: a store is a `fault` that names it
    Hidden,  ///< memory that only maps point to; no argument of the kernel
    Value,   ///< `bytes` themselves: a number
    Map      ///< a TensorMap of the buffer `name`
  };
  std::string name;
  Kind kind = Kind::Value;
  std::vector<unsigned char> bytes;
  BoxedTensor tensor;  // of a map
};

/// The same mistake `count` times; `messages` has the first
/// few, which end with the order of the block's threads.
struct EmulatedFinding {
  std::string kind;
  uint64_t count = 0;
  std::vector<std::string> messages;
};

struct EmulationReport {
  std::vector<EmulatedFinding> findings;
  /// Empty, or why the launch gave no report: a time limit, a signal.
  std::string failure;
  /// switches, shared_accesses, global_accesses; only_barriers is 1 if threads synchronised
  /// at block barriers only: the checks then find the same in any order of threads.
  std::map<std::string, uint64_t> counters;
  double cpu_seconds = 0;

  bool clean() const { return findings.empty() && failure.empty(); }
  bool found(const std::string& kind) const;
  /// One line for each finding.
  std::string text() const;
};

/// The static shared memory that every architecture accepts; more must
/// be dynamic, except in code for a single architecture ("sm_90a").
constexpr size_t kStaticSharedBytes = size_t{48} << 10;

struct EmulationOptions {
  /// Check each access; without, only values, barriers and collectives, several times as fast.
  bool checked = true;
  /// The dynamic shared memory of the launches, at most.
  size_t dynamic_shared_bytes = 0;
  /// The maximum static shared memory of a kernel: by default,
  /// what the compiler accepts for every architecture.
  size_t static_shared_bytes = kStaticSharedBytes;
  /// The kernel to run in a program with several; the first if empty.
  std::string kernel = {};
  double compile_seconds = 60;
};

/// Owns the program and its folder. run() is thread-safe.
class EmulatedKernel {
 public:
  /// `text` is CUDA C++ without inline PTX, `kernel` the name of a __global__
  /// function in it, `file` its name in messages. A compile error is the
  /// candidate's failure: compiled() is false. Throws EnvironmentError without
  /// a compiler: the environment variable TUNESMITH_CXX, or g++ or c++ in PATH.
  EmulatedKernel(const std::string& text, const std::string& kernel, const std::string& file,
                 const EmulationOptions& options)
      : EmulatedKernel(text, std::vector{kernel}, file, options) {}

  /// A program of several kernels, at most one of which may declare shared memory; the memory after it is
  /// guarded, so that overruns are detected.
  EmulatedKernel(const std::string& text, const std::vector<std::string>& kernels, const std::string& file,
                 const EmulationOptions& options);

  /// From program() of an earlier compilation. Throws EnvironmentError if the file cannot be written.
  EmulatedKernel(const std::string& program, const EmulationOptions& options);

  /// Is there a compiler?
  static bool has_compiler();

  bool compiled() const { return compiled_; }
  /// The executable that runs launches of the kernel. Needs compiled().
  std::string program() const;
  /// The compiler's output.
  const std::string& log() const { return log_; }

  /// One launch; `arguments` are in the kernel's order, and buffers have their new contents afterwards. The
  /// child is killed after the time limit. Needs compiled().
  EmulationReport run(const Launch& launch, std::vector<EmulatedArgument>& arguments, const EmulatedRun& how);

 private:
  TemporaryFolder folder_;
  bool checked_;
  std::string kernel_;
  size_t dynamic_shared_bytes_;
  bool compiled_ = false;
  std::string log_;
  // The size of the checker's cells in bytes: reduced when an access is smaller, as the child reports.
  struct Granules {
    std::atomic<unsigned> shared = 16, global = 16;
  };
  std::unique_ptr<Granules> granules_ = std::make_unique<Granules>();
};

}  // namespace tunesmith::cuda

// Child processes that are waited for, with what they write.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/process/child_process.h"

namespace tunesmith {

/// A pipe whose ends no program inherits.
class Pipe {
 public:
  /// Throws EnvironmentError.
  Pipe();
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int read_end() const { return read_; }
  int write_end() const { return write_; }
  /// The reader sees the end when nobody else has it open.
  void close_write();

 private:
  int read_ = -1;
  int write_ = -1;
};

/// A file in memory, without a name in the file system, that no program inherits.
class MemoryFile {
 public:
  /// `name`: for whoever lists descriptors. Throws EnvironmentError.
  explicit MemoryFile(const char* name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  /// Whoever reads or writes next begins at the beginning.
  void rewind() const;

 private:
  const int descriptor_;
};

constexpr double kAnyTime = std::numeric_limits<double>::infinity();

struct Collected {
  ProcessEnd end;
  std::vector<std::string> texts;
};

/// What can be read from `descriptors` until their ends, and how the process ended, which is killed after
/// `seconds`.
Collected collect(ChildProcess& process, std::span<const int> descriptors, double seconds = kAnyTime);

struct RunOptions {
  // NOLINTBEGIN(readability-redundant-member-init)
  enum class Errors { WithOutput, Apart, Inherited };

  double seconds = kAnyTime;
  Errors errors = Errors::WithOutput;
  std::vector<int> passed = {};  // become 3, 4, ...
  bool own_group = true;
  // NOLINTEND(readability-redundant-member-init)
};

struct ProcessResult {
  ProcessEnd end;
  std::string output;
  std::string errors;  // where they are kept apart
};

/// Runs a program with an empty standard input and waits for it; killed with its children after the time.
/// Throws EnvironmentError when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& command, const RunOptions& options = {});

/// The path of the first of `names` in the folders of PATH, or "".
std::string find_in_path(const std::vector<std::string>& names);

/// What a copy of this process left behind.
struct CopiedWork {
  ProcessEnd end;
  std::string sent;  // through the pipe that it was given
  std::string said;  // on standard output and standard error; of much the beginning and the end
};

/// Does `work` in a copy of this process (ChildProcess) and waits for it, at most `seconds`. The copy dumps
/// no core, Ctrl-C does not reach it, and no handlers of fatal signals are left. Throws EnvironmentError when
/// no process can be made.
CopiedWork run_in_copy(const std::function<void(int pipe)>& work, int seconds);

/// Writes all of it. False when nobody reads.
bool write_whole(int descriptor, const std::string& text);

}  // namespace tunesmith

// Runs child processes to completion and collects their output.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/process/child_process.h"

namespace tunesmith {

/// A pipe whose ends are not inherited.
class Pipe {
 public:
  /// Throws EnvironmentError.
  Pipe();
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int read_end() const { return read_; }
  int write_end() const { return write_; }
  /// Closes the writing end: the reader gets the end of input once no other process has it open.
  void close_write();

 private:
  int read_ = -1;
  int write_ = -1;
};

/// An unnamed file in memory that is not inherited.
class MemoryFile {
 public:
  /// `name` appears in lists of descriptors. Throws EnvironmentError.
  explicit MemoryFile(const char* name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  /// The next read or write starts at the beginning.
  void rewind() const;

 private:
  const int descriptor_;
};

constexpr double kAnyTime = std::numeric_limits<double>::infinity();

struct Collected {
  ProcessEnd end;
  std::vector<std::string> texts;
};

/// Reads `descriptors` until their ends, and waits
/// for the process, which is killed after `seconds`.
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
  std::string errors;  // if they are collected separately
};

/// Runs a program with empty standard input and waits for it; kills it and its
/// children after the time limit. Throws EnvironmentError if it cannot be started.
ProcessResult run_process(const std::vector<std::string>& command, const RunOptions& options = {});

/// The path of the first of `names` found in the folders of PATH, or "".
std::string find_in_path(const std::vector<std::string>& names);

/// The result of work in a copy of this process.
struct CopiedWork {
  ProcessEnd end;
  std::string sent;  // through the pipe passed to it
  std::string said;  // on standard output and standard error; the beginning and the end if long
};

/// Runs `work` in a copy of this process (ChildProcess) and waits at most
/// `seconds`. The copy dumps no core, is not reached by Ctrl-C, and has no handlers
/// of fatal signals. Throws EnvironmentError if no process can be created.
CopiedWork run_in_copy(const std::function<void(int pipe)>& work, int seconds);

/// Writes everything. False if the reader has closed it.
bool write_whole(int descriptor, const std::string& text);

}  // namespace tunesmith

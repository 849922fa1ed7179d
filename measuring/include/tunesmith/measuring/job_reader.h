// Jobs from a file or a pipe, one line at a time.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include <tl/expected.hpp>

#include "tunesmith/measuring/job.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Takes no more memory than one line may. `in` outlives it.
class JobReader {
 public:
  explicit JobReader(std::istream& in) : in_(in) {}

  /// Goes on to the next line that is not empty; false at the end. Throws EnvironmentError when it cannot be
  /// read.
  bool next();

  /// Of the line, from 1.
  size_t number() const { return number_; }
  /// What it holds, or why it is no job.
  const tl::expected<Job, std::string>& job() const { return job_; }

 private:
  std::istream& in_;
  size_t number_ = 0;
  std::string line_;
  tl::expected<Job, std::string> job_ = tl::make_unexpected(std::string("no line was read"));
};

}  // namespace tunesmith
#pragma GCC visibility pop

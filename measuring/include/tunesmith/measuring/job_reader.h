// Reads jobs from a file or pipe, line by line.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include <tl/expected.hpp>

#include "tunesmith/measuring/job.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Uses no more memory than one line may need. `in` outlives it.
class JobReader {
 public:
  explicit JobReader(std::istream& in) : in_(in) {}

  /// Advances to the next line that is not empty; false at
  /// the end. Throws EnvironmentError if reading fails.
  bool next();

  /// The line number, from 1.
  size_t number() const { return number_; }
  /// The job, or why the line is not a job.
  const tl::expected<Job, std::string>& job() const { return job_; }

 private:
  std::istream& in_;
  size_t number_ = 0;
  std::string line_;
  tl::expected<Job, std::string> job_ = tl::make_unexpected(std::string("no line was read"));
};

}  // namespace tunesmith
#pragma GCC visibility pop

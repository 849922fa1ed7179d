// A shard: the examples that a prior learns from, as JSON lines (docs/proposals.md).
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include <tunesmith/search/candidate.h>
#include <tunesmith/workload/workload.h>

namespace tunesmith::cli {

/// A task with some programs as sequences.
class ShardTask {
 public:
  ShardTask(const Workload& workload, const std::string& source, const DeviceModel& device);

  /// All candidates must have a sketch of the same task. `seconds`: nothing if not measured.
  void add(const Candidate& candidate, double score, std::optional<double> seconds);
  size_t programs() const { return line_["programs"].size(); }
  const nlohmann::json& line() const { return line_; }

 private:
  /// The index of `value` in the line's array `array`; appends it if it is new.
  size_t place_of(const char* array, const nlohmann::json& value);

  nlohmann::json line_;
};

/// Appends lines to a file. An existing file is continued after its last complete line if its first line is
/// `head`.
class ShardFile {
 public:
  /// Throws UserError, with the difference, if the file has another head; EnvironmentError if it cannot be
  /// written.
  ShardFile(std::filesystem::path path, const nlohmann::json& head);

  /// The number of lines after the head that the file already had.
  size_t lines() const { return lines_; }
  /// Returns after the line is on the disk.
  void add(const nlohmann::json& line);

 private:
  std::filesystem::path path_;
  std::ofstream stream_;
  size_t lines_ = 0;
};

}  // namespace tunesmith::cli

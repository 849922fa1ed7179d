// A shard: what a prior learns from, as JSON lines (docs/proposals.md).
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

  /// Each of a sketch of the same task. `seconds`: nothing where it was not measured.
  void add(const Candidate& candidate, double score, std::optional<double> seconds);
  size_t programs() const { return line_["programs"].size(); }
  const nlohmann::json& line() const { return line_; }

 private:
  /// Its place in an array of the line, to which it is added if it is new.
  size_t place_of(const char* array, const nlohmann::json& value);

  nlohmann::json line_;
};

/// A file to which lines are added: one that is there continues behind its last whole line, if its first line
/// is `head`.
class ShardFile {
 public:
  /// Throws UserError where the file is another's, with what differs; EnvironmentError where it cannot be
  /// written.
  ShardFile(std::filesystem::path path, const nlohmann::json& head);

  /// Lines behind the head that were there already.
  size_t lines() const { return lines_; }
  /// On the disk before it returns.
  void add(const nlohmann::json& line);

 private:
  std::filesystem::path path_;
  std::ofstream stream_;
  size_t lines_ = 0;
};

}  // namespace tunesmith::cli

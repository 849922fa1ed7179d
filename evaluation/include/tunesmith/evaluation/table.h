// Recorded tables: all programs of a small space with measured times, on which searches
// are replayed on any machine. docs/compare.md describes tables and their file format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tunesmith/lower/lower.h"
#include "tunesmith/measure/failure.h"
#include "tunesmith/plugin/options.h"
#include "tunesmith/records/environment.h"
#include "tunesmith/space/spaces_file.h"
#include "tunesmith/target/device_model.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// One program and its result.
struct TableRow {
  /// Of the lowered program at the time of measurement.
  uint64_t lowered_hash = 0;
  /// Complete, with the names of Table::definition.
  std::string trace;
  /// Seconds per call. A round is one visit; rounds of a
  /// program are minutes apart. Empty exactly if it failed.
  std::vector<std::vector<double>> rounds;
  std::optional<CandidateFailure> failure;
  /// The seconds for compiling, verifying and measuring it as a trial.
  double cost = 0.0;

  bool operator==(const TableRow&) const = default;
};

/// A value. It contains everything that spaces and lowering
/// depend on, so that a replay does not depend on the machine.
struct Table {
  std::string workload;    // canonical text
  std::string definition;  // of the workload's file
  uint64_t workload_hash = 0;
  int threads = 0;  // of the measured programs

  /// Modules, extensions and the limit of sketches, with the target's name; without searcher and cost model.
  SpaceSpec space;
  std::string rules;  // Space::rules() when it was recorded

  std::string identity;      // Target::identity()
  std::string target;        // task_target(): with the versions of code generator and lowering
  DeviceModel device;        // Target::device()
  LowerOptions limits = {};  // Target::lower_options(), without intrinsics, which extensions add

  Environment environment;
  std::string command;
  int64_t recorded_ms = 0;  // as Record::time_ms
  bool complete = false;    // contains every program of the space

  std::vector<TableRow> rows;  // without duplicates, in the order of measurement
};

/// The time that represents a program: the 10th percentile
/// of its samples (kTimeQuantile). Nothing if it failed.
std::optional<double> seconds_of(const TableRow& row);

/// The difference of a program's two fastest rounds: |ln(a / b)| of their 10th percentiles. Ignores other
/// rounds, since disturbances lengthen times. Nothing with fewer than two rounds.
std::optional<double> rounds_apart(const TableRow& row);

/// The median and 90th percentile of rounds_apart over the programs that have it; zero if none has.
struct TableNoise {
  double median = 0.0;
  double high = 0.0;
  size_t programs = 0;
};
TableNoise noise_of(const Table& table);

/// The measured workload. Throws UserError if its definition is no longer accepted or gives another program.
Workload workload_of(const Table& table);

/// Writes compressed JSON lines with a checksum, atomically. Rounds times to nanoseconds. Throws
/// EnvironmentError.
void save_table(const Table& table, const std::filesystem::path& file);
/// Throws UserError if the file does not exist, is not a table, is damaged, has a newer version or an invalid
/// row.
Table load_table(const std::filesystem::path& file);

}  // namespace tunesmith
#pragma GCC visibility pop

// Recorded tables: every program of a small space with its measured times, from which a search is replayed on
// any machine. docs/compare.md describes them and their file.
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

/// One program, and what became of it.
struct TableRow {
  /// Of the lowered program when it was measured.
  uint64_t lowered_hash = 0;
  /// Complete, in the names of Table::definition.
  std::string trace;
  /// Seconds of one call each. A round is a visit; rounds of one program lie minutes apart. Empty exactly
  /// when it failed.
  std::vector<std::vector<double>> rounds;
  std::optional<CandidateFailure> failure;
  /// Seconds that compiling, verifying and measuring it took as a trial.
  double cost = 0.0;

  bool operator==(const TableRow&) const = default;
};

/// A value. What spaces are made from and programs lowered by is all here, so that neither depends on the
/// machine on which a table is replayed.
struct Table {
  std::string workload;    // canonical text
  std::string definition;  // of the workload's file
  uint64_t workload_hash = 0;
  int threads = 0;  // of the measured programs

  /// Its modules, extensions and limit of sketches, with the target by name alone; no search, no cost model.
  SpaceSpec space;
  std::string rules;  // Space::rules() when it was recorded

  std::string identity;      // Target::identity()
  std::string target;        // task_target(): with what generated the code, and by which lowering
  DeviceModel device;        // Target::device()
  LowerOptions limits = {};  // Target::lower_options(), without intrinsics, which extensions add

  Environment environment;
  std::string command;
  int64_t recorded_ms = 0;  // as Record::time_ms
  bool complete = false;    // every program of the space is there

  std::vector<TableRow> rows;  // no program twice; in the order in which they were measured
};

/// The time by which a program is compared: its samples' 10th percentile (kTimeQuantile). Nothing when it
/// failed.
std::optional<double> seconds_of(const TableRow& row);

/// How far the two fastest rounds of a program lie apart, |ln(a / b)| of their 10th percentiles. What
/// disturbs makes times longer, so that the others say less. Nothing where there are not two.
std::optional<double> rounds_apart(const TableRow& row);

/// rounds_apart: the median and the 90th percentile over the programs that have it. Zeros where none has.
struct TableNoise {
  double median = 0.0;
  double high = 0.0;
  size_t programs = 0;
};
TableNoise noise_of(const Table& table);

/// The workload that was measured. Throws UserError when the definition is not accepted any more, or is
/// another program now.
Workload workload_of(const Table& table);

/// Writes compressed JSON lines with a checksum, whole or not at all. Times are kept to the nanosecond.
/// Throws EnvironmentError.
void save_table(const Table& table, const std::filesystem::path& file);
/// Throws UserError: no such file, no table, damaged, of a newer version, a row that is no row.
Table load_table(const std::filesystem::path& file);

}  // namespace tunesmith
#pragma GCC visibility pop

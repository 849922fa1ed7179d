// What a record store holds, as values.
//
//   Record             one measurement, with the program, the task and the run that it is of
//   RecordedWorkload   what was computed, as the text that it can be made from again
//   RecordedSpace      the rules that a space was made by
//   RecordedRun        one call of tune or bench: who measured, how and when
//   RecordedRoof       what a machine can do at most, as it was measured
//
// A *task* (TaskKey) is what programs compete for: one computation, on one target, with one number of
// threads. A *program* is a task and the hash of its lowered form; it may have many measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "tunesmith/measure/failure.h"
#include "tunesmith/measure/timing.h"
#include "tunesmith/support/unique_id.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Why a program was measured. The text names (measurement_kind_name) stand in stores and exports.
enum class MeasurementKind : uint8_t {
  Search,   // search: once, as a candidate of a search
  Ranking,  // ranking: interleaved with the others that a run found best
  Bench     // bench: interleaved with programs of a person's choice; decides nothing
};
std::string_view measurement_kind_name(MeasurementKind kind);
/// Nothing when `name` is not a kind's name.
std::optional<MeasurementKind> parse_measurement_kind(std::string_view name);

/// TaskKey::device of a task whose times are a model's: nothing here could measure them.
inline constexpr const char* kModelledDevice = "modelled";

/// What programs compete for: times of different tasks are never compared.
struct TaskKey {
  uint64_t workload_hash = 0;  // of the program with names removed: equal computations are one task
  std::string target;          // TargetIdentity::str()
  int threads = 0;             // that the measured program runs on; 0: unknown, of an unattributed record
  std::string device;          // "" for the host, kModelledDevice where times are a model's

  bool operator==(const TaskKey&) const = default;
};

/// A workload as text, so that its program can be made without the file that it came from.
struct RecordedWorkload {
  uint64_t hash = 0;       // TaskKey::workload_hash
  std::string text;        // Workload::key, "gmm:n=512,m=512,k=512"
  std::string definition;  // Workload::definition, the YAML; "" when unknown

  bool operator==(const RecordedWorkload&) const = default;
};
/// The same workload again. Throws UserError when its definition is unknown or this Tunesmith does not accept
/// it.
Workload instantiate(const RecordedWorkload& recorded);
/// The same, or why its definition is not what its hash says: it was damaged, or is another's.
tl::expected<Workload, std::string> sound_workload(const RecordedWorkload& recorded);

struct RecordedSpace {
  std::string name;         // in spaces.yaml
  uint64_t rules_hash = 0;  // Space::rules_hash()
  std::string rules;        // the text of the rules that the hash is of; "" when unknown

  bool operator==(const RecordedSpace&) const = default;
};

/// One call of `tune` or `bench`. What is unknown of a run that has not ended is 0 or "".
struct RecordedRun {
  std::string id;       // unique over all machines; of make_id()
  std::string command;  // the command line, or what a caller of the library says of itself
  uint64_t seed = 0;
  std::string space;  // name and rules hash of a RecordedSpace that the store has
  uint64_t rules_hash = 0;
  uint64_t environment = 0;  // Environment::hash() of an environment that the store has
  std::string searcher;      // the search's stages and the cost model, with their options
  std::string cost_model;
  int threads = 0;             // of the measured programs
  std::string options;         // whatever else decides what the run does: trials, batch, time-outs
  std::string code_generator;  // Target::fingerprint() of what compiled the programs
  int64_t began_ms = 0;        // as Record::time_ms
  int64_t ended_ms = 0;        // 0: it has not ended, or was killed
  std::string ended_because;   // "trials", "time limit", "interrupted", ...

  bool operator==(const RecordedRun&) const = default;
};

/// What no program of a target does more of in a second, as one measurement found it. Several of one quantity
/// are all kept: disturbances make them smaller, so the largest is nearest to the truth.
struct RecordedRoof {
  std::string id;            // unique over all machines; of make_id()
  uint64_t environment = 0;  // Environment::hash() of an environment that the store has
  std::string target;        // as TaskKey has these three
  int threads = 0;
  std::string device;
  std::string quantity;                // operations_roof() or kCopyRoof
  double per_second = 0.0;             // of that quantity
  int64_t time_ms = 0;                 // when it was measured, as Record::time_ms
  std::optional<bool> disturbed = {};  // as Record::disturbed

  bool operator==(const RecordedRoof&) const = default;
};
/// The quantity "operations f32": arithmetic operations of Benchmarking::peak_kernel() of this type; of a
/// unit that an extension describes "operations u8 of UNIT", its tensor intrinsic.
std::string operations_roof(DType type, std::string_view unit = "");
/// Bytes read plus written, of Benchmarking::measure_copy_bandwidth().
inline constexpr std::string_view kCopyRoof = "copied bytes";
/// What makes `roof` unfit for a store, or "" when it is fit.
std::string roof_fault(const RecordedRoof& roof);

/// A value, and one measurement. Either it succeeded (`timing`, no `failure`) or it failed (`failure`, no
/// `timing`): a failure is never a number.
///
/// A record is *attributed* when it says exactly what was measured: its threads, its run and the hash of its
/// lowered program. Records from before schema 3 cannot say so. They are kept, shown and exported, and are
/// never taken as a task's measured programs.
struct Record {
  std::string id;  // of the measurement: unique over all machines; the same id is the same measurement

  // The task, and the text that the program was made from.
  std::string workload;  // canonical text, "gmm:k=512,m=512,n=512"
  uint64_t workload_hash = 0;
  std::string target;
  int threads = 0;     // 0: unattributed
  std::string device;  // as TaskKey has it

  // The run. The store checks that these agree with its RecordedRun.
  std::string run;           // RecordedRun::id; "": unattributed
  uint64_t environment = 0;  // Environment::hash() of an environment that the store has
  std::string space;
  uint64_t rules_hash = 0;
  uint64_t seed = 0;

  // The program. Of several traces that give one lowered program the store keeps the first, with its workload
  // text, for all of the program's records.
  std::string trace;  // text form, decisions as repaired
  int trace_version = 0;
  std::optional<uint64_t> lowered_hash;  // nothing: unattributed

  // The measurement.
  MeasurementKind kind = MeasurementKind::Search;
  int ranking = 0;         // of kind Ranking: which one of its run, from 1; else 0
  uint64_t candidate = 0;  // index within the run
  int round =
      0;  // of kind Search: which of its run, from 1, and learned from together; 0: of none, or not known
  std::optional<double> score;  // the cost model's of that round, before it learned from it: higher is
                                // better, in units of its own; nothing: it was not asked, or it is not known
  std::optional<Timing> timing;
  double seconds = 0.0;  // what it is compared by, within the samples' range: of a search its least sample,
                         // of the other kinds a low quantile; 0 exactly when it failed
  std::optional<bool> disturbed;  // was the machine busy with something else meanwhile? nothing: not known
  std::optional<double> verified_error;  // largest error over its tolerance, at most 1 when accepted; of a
                                         // ranking, which does not verify again, may be absent
  /// The smaller workload on which it was verified, or failed, as its twin (twin_verification.h); "": on
  /// its own.
  std::string verified_on;
  /// kVerifierVersion of the check that it passed or failed; nothing: of an earlier one than records tell of.
  std::optional<int> verifier;
  std::optional<CandidateFailure> failure;
  int64_t time_ms = 0;  // when it was measured: milliseconds since 1970, UTC

  bool ok() const { return !failure.has_value(); }
  /// Its time is a model's: nothing was measured but that the result is right.
  bool modelled() const { return device == kModelledDevice; }
  bool attributed() const { return lowered_hash.has_value(); }
  /// Failed, and may do better another time (is_transient): a run that is resumed tries it again.
  bool transient() const { return failure && is_transient(failure->cause, disturbed.value_or(false)); }
  TaskKey task() const { return {workload_hash, target, threads, device}; }
  bool operator==(const Record&) const = default;
};

/// What makes `record` unfit for a store, or "" when it is fit: an empty id, a success without a time or
/// without a verified error, a failure with a time, a time that is not finite and positive, half an
/// attribution.
std::string record_fault(const Record& record);

/// Now, as Record::time_ms has it.
int64_t now_ms();

}  // namespace tunesmith
#pragma GCC visibility pop

// The contents of a record store, as values.
//
// Record             one measurement, with its program, task and run
// RecordedWorkload   what was computed, as text that recreates it
// RecordedSpace      the rules of a space
// RecordedRun        one call of tune or bench: who measured, how and when
// RecordedRoof       the measured peak of a machine
//
// A *task* (TaskKey) is one computation on one target with one number of threads. A *program* is a task and
// the hash of its lowered form; it may have many measurements.
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

/// Why a program was measured. The names (measurement_kind_name) are part of stores and exports.
enum class MeasurementKind : uint8_t {
  Search,   // search: a candidate of a search
  Ranking,  // ranking: timed in turn with the best programs of a run
  Bench     // bench: timed in turn with programs that a user chose; not used for decisions
};
std::string_view measurement_kind_name(MeasurementKind kind);
/// Nothing if `name` is unknown.
std::optional<MeasurementKind> parse_measurement_kind(std::string_view name);

/// TaskKey::device of a task whose times are modelled, because nothing here can measure them.
inline constexpr const char* kModelledDevice = "modelled";

/// Identifies a task: times of different tasks are never compared.
struct TaskKey {
  uint64_t workload_hash = 0;  // of the program without names: equal computations are one task
  std::string target;          // TargetIdentity::str()
  int threads = 0;             // of the measured program
  std::string device;          // "" for the host, kModelledDevice for modelled times

  bool operator==(const TaskKey&) const = default;
};

/// A workload as text, from which its program can be recreated without its file.
struct RecordedWorkload {
  uint64_t hash = 0;       // TaskKey::workload_hash
  std::string text;        // Workload::key, "gmm:n=512,m=512,k=512"
  std::string definition;  // Workload::definition, the YAML; "" if unknown

  bool operator==(const RecordedWorkload&) const = default;
};
/// Recreates the workload. Throws UserError if its
/// definition is unknown or not accepted by this version.
Workload instantiate(const RecordedWorkload& recorded);
/// The same, or why the definition does not match its hash: it is damaged or belongs to another workload.
tl::expected<Workload, std::string> sound_workload(const RecordedWorkload& recorded);

struct RecordedSpace {
  std::string name;         // in spaces.yaml
  uint64_t rules_hash = 0;  // Space::rules_hash()
  std::string rules;        // the hashed text of the rules; "" if unknown

  bool operator==(const RecordedSpace&) const = default;
};

/// One call of `tune` or `bench`. Unknown fields of a run that has not ended are 0 or "".
struct RecordedRun {
  std::string id;       // unique over all machines; from make_id()
  std::string command;  // the command line, or the description that a library caller gives
  uint64_t seed = 0;
  std::string space;  // name and rules hash of a RecordedSpace in the store
  uint64_t rules_hash = 0;
  uint64_t environment = 0;  // Environment::hash() of an environment in the store
  std::string searcher;      // the search's stages and the cost model, with their options
  std::string cost_model;
  int threads = 0;             // of the measured programs
  std::string options;         // other settings of the run: trials, batch, time-outs
  std::string code_generator;  // Target::fingerprint() of the target that compiled the programs
  int64_t began_ms = 0;        // as Record::time_ms
  int64_t ended_ms = 0;        // 0: not ended, or killed
  std::string ended_because;   // "trials", "time limit", "interrupted", ...

  bool operator==(const RecordedRun&) const = default;
};

/// The measured peak rate of a quantity on a target. Several measurements of one quantity
/// are all kept: disturbances lower them, so the highest is nearest to the truth.
struct RecordedRoof {
  std::string id;            // unique over all machines; from make_id()
  uint64_t environment = 0;  // Environment::hash() of an environment in the store
  std::string target;        // these three as in TaskKey
  int threads = 0;
  std::string device;
  std::string quantity;                // operations_roof() or kCopyRoof
  double per_second = 0.0;             // of that quantity
  int64_t time_ms = 0;                 // when it was measured, as Record::time_ms
  std::optional<bool> disturbed = {};  // as Record::disturbed

  bool operator==(const RecordedRoof&) const = default;
};
/// The quantity "operations f32": arithmetic operations of Benchmarking::peak_kernel() of
/// this type; "operations u8 of UNIT" for an extension's unit, named by its tensor intrinsic.
std::string operations_roof(DType type, std::string_view unit = "");
/// Bytes read plus written, of Benchmarking::measure_copy_bandwidth().
inline constexpr std::string_view kCopyRoof = "copied bytes";
/// "", or why `roof` may not be stored.
std::string roof_fault(const RecordedRoof& roof);

/// A value: one measurement, which either succeeded (`timing`, no
/// `failure`) or failed (`failure`, no `timing`): a failure has no number.
struct Record {
  std::string id;  // of the measurement, unique over all machines: equal ids are the same measurement

  // The task, and the text from which the program was made.
  std::string workload;  // canonical text, "gmm:k=512,m=512,n=512"
  uint64_t workload_hash = 0;
  std::string target;
  int threads = 0;
  std::string device;  // as TaskKey has it

  // The run. The store checks that these fields agree with its RecordedRun.
  std::string run;           // RecordedRun::id
  uint64_t environment = 0;  // Environment::hash() of an environment in the store
  std::string space;
  uint64_t rules_hash = 0;
  uint64_t seed = 0;

  // The program. Of several traces with one lowered program the store keeps
  // the first, with its workload text, for all records of the program.
  std::string trace;  // text form, decisions as repaired
  int trace_version = 0;
  uint64_t lowered_hash = 0;

  // The measurement.
  MeasurementKind kind = MeasurementKind::Search;
  int ranking = 0;              // for kind Ranking: its number within the run, from 1; else 0
  uint64_t candidate = 0;       // index within the run
  int round = 0;                // for kind Search: the round of its run, from 1; 0: none or unknown
  std::optional<double> score;  // by the cost model before it learned from that round; higher is better, in
                                // arbitrary units; nothing: not scored, or unknown
  std::optional<Timing> timing;
  double seconds = 0.0;  // for comparisons, within the samples' range: the smallest sample of a search, a
                         // low quantile for other kinds; 0 exactly if it failed
  std::optional<bool> disturbed;         // by other work on the machine; nothing: unknown
  std::optional<double> verified_error;  // largest error divided by its tolerance, at most 1 if accepted;
                                         // may be absent for a ranking, which does not verify again
  /// The smaller workload on which it was verified as
  /// its twin (twin_verification.h); "": on its own.
  std::string verified_on;
  /// kVerifierVersion of the verification; nothing for records from before it was stored.
  std::optional<int> verifier;
  std::optional<CandidateFailure> failure;
  int64_t time_ms = 0;  // when it was measured: milliseconds since 1970, UTC

  bool ok() const { return !failure.has_value(); }
  /// Is its time modelled? Only its correctness was then measured.
  bool modelled() const { return device == kModelledDevice; }
  /// Did it fail in a way that may be transient (is_transient)? A resumed run tries it again.
  bool transient() const { return failure && is_transient(failure->cause, disturbed.value_or(false)); }
  TaskKey task() const { return {workload_hash, target, threads, device}; }
  bool operator==(const Record&) const = default;
};

/// "", or why `record` may not be stored: an empty id, a success
/// without a time or verified error, a failure with a time, a time
/// that is not finite and positive.
std::string record_fault(const Record& record);

/// The current time, in the form of Record::time_ms.
int64_t now_ms();

}  // namespace tunesmith
#pragma GCC visibility pop

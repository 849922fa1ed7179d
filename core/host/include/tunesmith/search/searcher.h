// Search strategies: the interface of searcher plugins, and the services of the kernel.
//
// The kernel owns the loop: it requests candidates, builds, verifies, measures
// and records them, and returns the results. The same seed and results give
// the same candidates in the same order, with any number of threads.
//
// An interrupted run continues with a new object of the strategy, which gets the history and is
// asked for more. So a strategy must be able to rebuild its state from observe(): all randomness
// comes from next_stream(), whose streams depend on the seed and the number of measured candidates.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/search/candidate.h"
#include "tunesmith/search/measured_history.h"
#include "tunesmith/support/random.h"
#include "tunesmith/target/device_model.h"

#pragma GCC visibility push(default)
namespace tunesmith {

class Searcher;

/// The kernel's services for a searcher; valid as long as the searcher, called from its thread.
class SearchContext {
 public:
  virtual ~SearchContext();

  /// The unscheduled program, from which all sketches start.
  virtual const Program& program() const = 0;
  /// The space: schedules with their traces, in a fixed order; not empty.
  virtual const std::vector<Schedule>& sketches() const = 0;
  virtual const DeviceModel& device() const = 0;
  /// The intrinsics that schedules of the space call by name (Space::intrinsics()). Pass them to replay().
  virtual const std::shared_ptr<const TensorIntrinsics>& intrinsics() const = 0;

  /// The random stream of the next candidate index. Use a new one for each candidate that is drawn or
  /// mutated.
  virtual RandomStream next_stream() = 0;

  /// A trace of a random sketch with all decisions open, which materialise() draws. Sketches
  /// that gave fast programs are chosen more often; sketches() has all of them equally.
  virtual Trace draw(RandomStream& random) const = 0;
  /// `candidate`'s trace with one decision changed; a decision is chosen with a probability
  /// proportional to the logarithm of its number of values. Nothing if no decision can change.
  virtual std::optional<Trace> mutate(const Candidate& candidate, RandomStream& random) const = 0;
  /// All traces that differ from the candidate's in one decision,
  /// by the neighbourhoods of the kinds, in a fixed order.
  virtual std::vector<Trace> neighbours(const Candidate& candidate) const = 0;

  /// A trace to be materialised; `random` draws its open decisions.
  struct Draft {
    Trace trace;
    RandomStream random;
  };
  /// Replays, finishes, validates and lowers the drafts on all
  /// threads. Returns one entry per draft, null if it was refused;
  /// the kernel counts refusals by cause. Duplicates are not removed.
  virtual std::vector<CandidatePtr> materialise(std::span<const Draft> drafts) = 0;

  /// Is the program with this lowered hash in history(), or being measured?
  virtual bool is_measured(uint64_t lowered_hash) const = 0;
  /// The cost model's scores; higher is better. Candidates of history() are recreated first.
  virtual std::vector<double> score(std::span<const CandidatePtr> candidates) = 0;
  /// All results of this task on this machine, of any run, seed, space
  /// and strategy: those on record in the order of insertion, then this
  /// run's. Transient failures on record (is_transient) are left out.
  virtual const MeasuredHistory& history() const = 0;
  /// Points of this space that were among the fastest of similar tasks on record, the
  /// nearest task first: traces whose decisions materialise() makes legal here. The same
  /// at every call of a round, and in a resumed run; for tasks tuned in turn, they are
  /// looked up again whenever the number of trials has doubled. Empty if there are none.
  virtual std::span<const Trace> seeds();

  /// Makes a searcher with default options, for a strategy that combines
  /// others. The caller calls it and passes it all results. Throws UserError
  /// if there is no such searcher, PluginError if it cannot be loaded.
  virtual std::shared_ptr<Searcher> create_searcher(const std::string& id) const = 0;

  /// Shows the user a sentence, once however often it is passed: what is unavailable to the strategy, and
  /// what it does instead.
  virtual void say(const std::string& sentence) = 0;
};

/// One object per task. Called by one thread at a time.
class Searcher {
 public:
  virtual ~Searcher();
  /// At most `n` candidates to measure next, created by `context`: none measured before, no two with the same
  /// program. An empty result ends the search. More than `n`, or a null pointer, is an error of the searcher
  /// and ends the run.
  virtual std::vector<CandidatePtr> propose(SearchContext& context, size_t n) = 0;
  /// The results, in the order proposed; also called with
  /// the history, if any, before the first propose().
  virtual void observe(SearchContext& context, std::span<const Measured> results) = 0;
  /// Does propose() return the same candidates for the same history and streams?
  /// Then a resumed run proposes an interrupted round again and does not measure
  /// recorded programs again, so that it continues exactly as without the
  /// interruption. A strategy that asks a person or a language model returns
  /// false: it gets the whole history in one call and continues from there.
  virtual bool repeatable() const { return true; }
  /// The strategy's own predictions for the candidates that propose() returned last, one each, higher is
  /// better; the kernel compares them with the measured results. Empty if the strategy has no model, as by
  /// default.
  virtual std::vector<double> expected() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop

// Search strategies: the interface that a searcher plugin implements, and what the kernel does for it.
//
// The kernel owns the loop: it asks for candidates, has them built, verified, measured and recorded, and
// hands back what became of them. Same seed and same results give the same candidates in the same order,
// whatever the number of threads.
//
// A run that was interrupted continues with a new object of the strategy, which gets the history and is asked
// for more. So what a strategy keeps between two calls it must be able to make from observe(): all chance
// comes from next_stream(), whose streams depend on the seed and on how many candidates the run has measured.
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

/// What a searcher may ask of the kernel; valid while the searcher lives, called from the searcher's thread.
class SearchContext {
 public:
  virtual ~SearchContext();

  /// The program that is tuned, as it is before it is scheduled: all sketches begin with it.
  virtual const Program& program() const = 0;
  /// The space: schedules with their traces, in a fixed order; not empty.
  virtual const std::vector<Schedule>& sketches() const = 0;
  virtual const DeviceModel& device() const = 0;
  /// What schedules of the space call by a name (Space::intrinsics()): whoever replays a sketch hands it
  /// over.
  virtual const std::shared_ptr<const TensorIntrinsics>& intrinsics() const = 0;

  /// A stream of its own for the next candidate index: take one for each candidate that is drawn or mutated.
  virtual RandomStream next_stream() = 0;

  /// A trace of a sketch chosen at random, all decisions open: materialise() draws them. Sketches that gave
  /// fast programs are chosen more often; one that wants all alike takes from sketches().
  virtual Trace draw(RandomStream& random) const = 0;
  /// `candidate`'s trace with one decision changed, among those that can change: each in proportion to the
  /// logarithm of how many values it may have. Nothing when none can.
  virtual std::optional<Trace> mutate(const Candidate& candidate, RandomStream& random) const = 0;
  /// All traces that differ from the candidate's in one decision, by the kinds' own neighbourhoods, in a
  /// fixed order.
  virtual std::vector<Trace> neighbours(const Candidate& candidate) const = 0;

  /// A trace to be made a candidate; `random` draws its open decisions.
  struct Draft {
    Trace trace;
    RandomStream random;
  };
  /// Replays, finishes, validates and lowers the drafts, on all threads. The answer has one entry for each
  /// draft, null where it was refused; refusals are counted by the kernel under their cause. Duplicates are
  /// not removed.
  virtual std::vector<CandidatePtr> materialise(std::span<const Draft> drafts) = 0;

  /// Is this program, the hash of a candidate's lowered form, in history() or is it being measured?
  virtual bool is_measured(uint64_t lowered_hash) const = 0;
  /// The cost model's scores, higher is better. Candidates of history() are made again for it.
  virtual std::vector<double> score(std::span<const CandidatePtr> candidates) = 0;
  /// Everything that is known of this task on this machine, whoever measured it and with whatever seed, space
  /// and strategy: what is on record, in the order in which it came there, and then this run's. Failures that
  /// may have passed (is_transient) are left out of what is on record.
  virtual const MeasuredHistory& history() const = 0;
  /// Points of this space that were among the fastest of similar tasks on record, of the nearest task first:
  /// traces whose decisions materialise() makes legal here. The same at every call of a round, and in the run
  /// that takes this one up; tasks that are tuned in turn with this one are asked again whenever the run has
  /// twice as many trials. Empty where nothing is on record.
  virtual std::span<const Trace> seeds();

  /// A new object of another searcher, with its default options, for a strategy that is made of others.
  /// Whoever asked calls it, and tells it of all results. Throws UserError when there is no such searcher,
  /// and PluginError when it cannot be loaded.
  virtual std::shared_ptr<Searcher> create_searcher(const std::string& id) const = 0;

  /// Tells the person who tunes a sentence, once however often it is said: what the strategy lacks here, and
  /// what it does instead.
  virtual void say(const std::string& sentence) = 0;
};

/// One object for each task. Called by one thread at a time.
class Searcher {
 public:
  virtual ~Searcher();
  /// At most `n` candidates to measure next, made by `context`, none measured before and no program twice.
  /// Fewer than `n` is allowed; none at all means that the strategy has nothing more to propose, and ends the
  /// search. More than `n`, or a null pointer, is refused: the run ends with the searcher's name.
  virtual std::vector<CandidatePtr> propose(SearchContext& context, size_t n) = 0;
  /// What became of them, in the order proposed; called also, before the first propose(), with the history
  /// when there is any.
  virtual void observe(SearchContext& context, std::span<const Measured> results) = 0;
  /// Does propose() answer the same when it is asked again with the same history and streams? Then a round
  /// that was cut short is proposed again by the run that takes it up, from the history before it, and what
  /// it has on record is not measured again: the run goes the way that it would have gone. A strategy that
  /// asks a person or a language model says false: it gets the whole history in one call, and continues from
  /// there.
  virtual bool repeatable() const { return true; }
  /// What a model of the strategy's own expects of the programs that propose() answered last, one number for
  /// each, higher is better: it is compared with what they measure. Empty where it has none, which is so
  /// unless it says otherwise.
  virtual std::vector<double> expected() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop

// Checks of search strategies, with the task of a run and artificial times.
#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "checks.h"
#include "tunesmith/tuning/offline_task.h"

namespace tunesmith::conformance {
namespace of_searchers {
namespace {

constexpr size_t kBatch = 16;
constexpr int kRounds = 5;

enum class World {
  Usual,   // every seventh candidate fails
  AllFail  // every measurement fails
};

/// An artificial time that depends only on the program.
Measured pretend(const CandidatePtr& candidate, World world) {
  const uint64_t number = RandomStream(candidate->lowered_hash).next();
  if (world == World::AllFail || number % 7 == 0) {
    return {candidate, std::nullopt, CandidateFailure{FailureCause::Crash, "made up"}};
  }
  return {candidate, make_timing({1e-6 * static_cast<double>(1 + number % 1000)}), std::nullopt};
}

/// A search of several rounds; `fault`: what was wrong with a proposal.
struct Search {
  std::vector<uint64_t> proposed;
  std::string fault;
};

Search search(const Subject& subject, World world, size_t threads, size_t workload_index = 0,
              uint64_t seed = 3) {
  const Space space(subject.company(), subject.registry());
  const Workload& workload = subject.workloads()[workload_index];
  OfflineTask task(workload, space, seed, threads);
  const auto searcher = subject.create<Searcher>();
  Search result;
  std::set<uint64_t> seen;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<CandidatePtr> candidates = searcher->propose(task.context(), kBatch);
    if (candidates.empty()) return result;
    if (candidates.size() > kBatch) {
      result.fault = fmt::format("asked for {}, it proposed {}", kBatch, candidates.size());
      return result;
    }
    std::vector<Measured> measured;
    for (const CandidatePtr& candidate : candidates) {
      if (!candidate) {
        result.fault = "it proposed nothing in a candidate's place (a null pointer)";
        return result;
      }
      if (!seen.insert(candidate->lowered_hash).second) {
        result.fault = fmt::format("it proposed a program a second time, in round {}", round + 1);
        return result;
      }
      result.proposed.push_back(candidate->lowered_hash);
      measured.push_back(pretend(candidate, world));
    }
    const std::vector<double> expected = searcher->expected();
    if (!expected.empty() && expected.size() != candidates.size()) {
      result.fault =
          fmt::format("of {} candidates it expects {} numbers", candidates.size(), expected.size());
      return result;
    }
    if (!std::ranges::all_of(expected, [](double number) { return std::isfinite(number); })) {
      result.fault = "it expects a number that is not finite";
      return result;
    }
    task.learn(measured);
    searcher->observe(task.context(), measured);
  }
  return result;
}

/// It proposes at most the requested number, none null, none twice, none measured before.
Verdict check_contract(const Subject& subject) {
  const Search result = search(subject, World::Usual, 1);
  if (!result.fault.empty()) return failed(result.fault);
  return result.proposed.empty() ? skipped("it proposed nothing") : passed();
}

/// The same seed gives the same candidates with one thread and with four.
Verdict check_determinism(const Subject& subject) {
  const std::vector<uint64_t> wanted = search(subject, World::Usual, 1).proposed;
  if (wanted.empty()) return skipped("it proposed nothing");
  if (search(subject, World::Usual, 1).proposed != wanted) {
    return failed("the same seed and the same results gave other candidates in a second run");
  }
  if (search(subject, World::Usual, 4).proposed != wanted) {
    return failed("with four threads instead of one it proposed other candidates");
  }
  return passed();
}

/// After an interruption another object gets the history
/// and proposes what the first one would have proposed.
Verdict check_resume(const Subject& subject) {
  if (!subject.create<Searcher>()->repeatable()) return skipped("it does not promise to repeat itself");
  const Space space(subject.company(), subject.registry());
  OfflineTask task(subject.workloads().front(), space, 3, 1);
  const auto first = subject.create<Searcher>();
  int64_t trials = 0;
  for (int round = 0; round < 2; ++round) {
    task.begin_round(trials);
    std::vector<Measured> measured;
    for (const CandidatePtr& candidate : first->propose(task.context(), kBatch)) {
      if (!candidate) return failed("it proposed nothing in a candidate's place (a null pointer)");
      measured.push_back(pretend(candidate, World::Usual));
    }
    trials += static_cast<int64_t>(measured.size());
    task.learn(measured);
    first->observe(task.context(), measured);
  }
  const auto hashes = [&](Searcher& searcher) {
    task.begin_round(trials);
    std::vector<uint64_t> proposed;
    for (const CandidatePtr& candidate : searcher.propose(task.context(), kBatch))
      proposed.push_back(candidate ? candidate->lowered_hash : 0);
    return proposed;
  };
  const auto second = subject.create<Searcher>();
  if (trials > 0) second->observe(task.context(), task.context().history().since(0));
  if (hashes(*second) != hashes(*first)) {
    return failed("another object, told the history, proposed other candidates than the one that made it");
  }
  return trials > 0 ? passed() : skipped("it proposed nothing");
}

/// Objects of two tasks share nothing: concurrent searches propose the same as separate ones.
Verdict check_threads(const Subject& subject) {
  constexpr std::array<size_t, 2> kTasks = {0, 1};
  std::array<std::vector<uint64_t>, 2> wanted;
  for (const size_t task : kTasks) wanted[task] = search(subject, World::Usual, 1, task).proposed;
  if (wanted[0].empty() && wanted[1].empty()) return skipped("it proposed nothing");
  std::array<std::string, 2> faults;
  {
    std::vector<std::jthread> threads;
    for (const size_t task : kTasks) {
      threads.emplace_back([&, task] {
        try {
          if (search(subject, World::Usual, 1, task).proposed != wanted[task]) {
            faults[task] = "while another object searched in another thread, it proposed other candidates";
          }
        } catch (const std::exception& error) {
          faults[task] = fmt::format("with two objects in two threads: {}", error.what());
        }
      });
    }
  }
  for (const std::string& fault : faults) {
    if (!fault.empty()) return failed(fault);
  }
  return passed();
}

/// If everything fails, it continues or ends.
Verdict check_failures(const Subject& subject) {
  const Search result = search(subject, World::AllFail, 1);
  return result.fault.empty() ? passed() : failed("when every candidate fails: " + result.fault);
}

/// A space of one program: it proposes that at most once, and then ends the search.
Verdict check_exhaustion(const Subject& subject) {
  SpaceSpec tiny = subject.company();
  tiny.modules.clear();
  const Space space(tiny, subject.registry());
  OfflineTask task(subject.workloads().front(), space, 3, 1);
  const auto searcher = subject.create<Searcher>();
  size_t proposed = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<Measured> measured;
    for (const CandidatePtr& candidate : searcher->propose(task.context(), kBatch)) {
      if (!candidate) return failed("it proposed nothing in a candidate's place (a null pointer)");
      measured.push_back(pretend(candidate, World::Usual));
    }
    if (measured.empty()) return passed();
    proposed += measured.size();
    if (proposed > 1)
      return failed(fmt::format("of a space of one program it proposed {} candidates", proposed));
    task.learn(measured);
    searcher->observe(task.context(), measured);
  }
  return failed("in a space of one program it does not end the search");
}

constexpr Check kChecks[] = {
    {"contract", "P24", &check_contract}, {"determinism", "P19", &check_determinism},
    {"resume", "P24", &check_resume},     {"threads", "P20", &check_threads},
    {"failures", "P24", &check_failures}, {"exhaustion", "P24", &check_exhaustion},
};

}  // namespace
}  // namespace of_searchers

std::span<const Check> searcher_checks() { return of_searchers::kChecks; }

}  // namespace tunesmith::conformance

#include "tunesmith/tuning/check_candidate.h"

#include <map>

#include <fmt/format.h>

#include "tunesmith/support/hash.h"
#include "tunesmith/tuning/tuner.h"

namespace tunesmith {
namespace {

/// The extensions' contents by name, since their order does not matter.
std::map<std::string, std::string> contents_of(const TargetIdentity& identity) {
  std::map<std::string, std::string> contents;
  for (const ExtensionIdentity& one : identity.extensions.value_or(std::vector<ExtensionIdentity>()))
    contents[one.name] = one.content;
  return contents;
}

std::string or_nothing(const std::string& text) { return text.empty() ? "nothing" : "'" + text + "'"; }

CandidateCheck refused(CandidateCheck check, std::string why) {
  check.refusal = std::move(why);
  return check;
}

}  // namespace

RecordedCandidate recorded_candidate(const Workload& workload, const Space& space, const Candidate& candidate,
                                     int threads) {
  const TaskKey task = task_key(workload, space, threads);
  return {{workload.hash, workload.key, workload.definition},
          task.target,
          threads,
          task.device,
          candidate.trace.str(),
          kTraceVersion,
          candidate.lowered_hash};
}

std::vector<std::string> target_differences(const TargetIdentity& theirs, const TargetIdentity& ours) {
  struct Part {
    const char* name;
    std::string TargetIdentity::* value;
  };
  constexpr Part kParts[] = {{"target", &TargetIdentity::target},
                             {"target's library", &TargetIdentity::library},
                             {"code generator", &TargetIdentity::generator},
                             {"lowering", &TargetIdentity::lowering}};
  std::vector<std::string> differences;
  for (const auto& [name, value] : kParts) {
    if (theirs.*value != ours.*value)
      differences.push_back(fmt::format("another {}: {} there, {} here", name, or_nothing(theirs.*value),
                                        or_nothing(ours.*value)));
  }
  const std::map<std::string, std::string> there = contents_of(theirs);
  const std::map<std::string, std::string> here = contents_of(ours);
  for (const auto& [name, content] : there) {
    const auto own = here.find(name);
    if (own == here.end()) {
      differences.push_back(fmt::format(
          "lacks the extension '{}' ({}): its pack or hardware is missing, or the space does not list it",
          name, content));
    } else if (own->second != content) {
      differences.push_back(fmt::format("another version of the extension '{}': {} there, {} here", name,
                                        content, own->second));
    }
  }
  for (const auto& [name, content] : here) {
    if (!there.contains(name))
      differences.push_back(fmt::format("has the extension '{}' ({}), unknown at recording", name, content));
  }
  return differences;
}

CandidateCheck check_candidate(const RecordedCandidate& recorded, const Space& space) {
  CandidateCheck check;
  check.differences = target_differences(TargetIdentity::parse(recorded.target), space.task_target());
  try {
    const Workload workload = instantiate(recorded.workload);
    if (workload.hash != recorded.workload.hash)
      return refused(std::move(check), "its workload's text now defines another computation");
    const Trace trace = Trace::parse(recorded.trace, "its trace");
    if (!trace.complete()) return refused(std::move(check), "its trace is not complete");
    auto made = space.materialise(workload.program, trace, RandomStream(0));
    if (!made) {
      const CandidateFailure& failure = made.error();
      return refused(std::move(check), failure.detail.empty()
                                           ? failure.message
                                           : fmt::format("{} ({})", failure.message, failure.detail));
    }
    check.candidate = std::move(*made);
  } catch (const UserError& error) {
    return refused(std::move(check), error.what());
  }
  if (check.candidate->lowered_hash != recorded.lowered_hash) {
    const std::string other = hex64(check.candidate->lowered_hash);
    return refused(std::move(check),
                   fmt::format("another program: {} there, {} here", hex64(recorded.lowered_hash), other));
  }
  return check;
}

}  // namespace tunesmith

#include "tunesmith/tuning/check_candidate.h"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "tunesmith/support/hash.h"
#include "tunesmith/tuning/tuner.h"

namespace tunesmith {
namespace {

/// Space::task_target(), taken apart.
struct TargetParts {
  std::map<std::string, std::string> parts;       // "target", "code generator", ...
  std::map<std::string, std::string> extensions;  // name -> identity
};

std::map<std::string, std::string> extensions_of(std::string_view text) {
  std::map<std::string, std::string> extensions;
  while (!text.empty() && text != "none") {
    const std::string_view one = text.substr(0, text.find(','));
    const size_t colon = one.rfind(':');
    extensions[std::string(one.substr(0, colon))] =
        colon == std::string_view::npos ? "" : std::string(one.substr(colon + 1));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
  }
  return extensions;
}

TargetParts take_apart(std::string_view text) {
  struct Part {
    std::string_view key;
    const char* name;
  };
  // From the end: a target's identity is its own text, and may have any words.
  constexpr Part kParts[] = {{" with=", "extensions"},
                             {" plugin=", "target's library"},
                             {" lowering=", "lowering"},
                             {" generator=", "code generator"}};
  TargetParts taken;
  for (const Part& part : kParts) {
    const size_t at = text.rfind(part.key);
    if (at == std::string_view::npos) continue;
    const std::string_view value = text.substr(at + part.key.size());
    if (part.key == " with=") {
      taken.extensions = extensions_of(value);
    } else {
      taken.parts[part.name] = value;
    }
    text = text.substr(0, at);
  }
  taken.parts["target"] = text;
  return taken;
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

std::vector<std::string> target_differences(std::string_view theirs, std::string_view ours) {
  TargetParts there = take_apart(theirs);
  TargetParts here = take_apart(ours);
  std::vector<std::string> differences;
  for (const char* name : {"target", "target's library", "code generator", "lowering"}) {
    if (there.parts[name] != here.parts[name])
      differences.push_back(fmt::format("another {}: {} there, {} here", name, or_nothing(there.parts[name]),
                                        or_nothing(here.parts[name])));
  }
  for (const auto& [name, identity] : there.extensions) {
    const auto own = here.extensions.find(name);
    if (own == here.extensions.end()) {
      differences.push_back(
          fmt::format("lacks the extension '{}' ({}): its pack or its hardware is not here, or the "
                      "space does not name it",
                      name, identity));
    } else if (own->second != identity) {
      differences.push_back(fmt::format("another version of the extension '{}': {} there, {} here", name,
                                        identity, own->second));
    }
  }
  for (const auto& [name, identity] : here.extensions) {
    if (!there.extensions.contains(name))
      differences.push_back(fmt::format("has the extension '{}' ({}), which was not there", name, identity));
  }
  return differences;
}

CandidateCheck check_candidate(const RecordedCandidate& recorded, const Space& space) {
  CandidateCheck check;
  check.differences = target_differences(recorded.target, space.task_target());
  try {
    const Workload workload = instantiate(recorded.workload);
    if (workload.hash != recorded.workload.hash)
      return refused(std::move(check), "its workload's text is another computation to this Tunesmith");
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

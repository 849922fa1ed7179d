#include "space/compile_intrinsics.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/ir/visit.h"
#include "tunesmith/process/run_process.h"
#include "tunesmith/trace/single_call.h"

namespace tunesmith {
namespace {

constexpr int kCompileSeconds = 10;
constexpr size_t kMaxFeatures = 3;  // missing features that are named per intrinsic

/// Compiles calls of intrinsics in forked processes.
class ChildCompiler {
 public:
  ChildCompiler(const IntrinsicCompiler& compiler, const LowerOptions& options, const Pipeline& pipeline)
      : compiler_(compiler), options_(options), pipeline_(pipeline) {}

  /// For each intrinsic: "", or why it is refused. After an intrinsic that ends the process, another process
  /// continues.
  std::vector<std::string> refusals(std::span<const TensorIntrinsicPtr> intrinsics,
                                    std::span<const std::string> features) const {
    std::vector<std::string> answers;
    while (answers.size() < intrinsics.size()) {
      const auto rest = intrinsics.subspan(answers.size());
      CopiedWork done = compile_in_copy(rest, features);
      // A mutex that was locked at the fork may have caused the time-out: retries once.
      if (timed_out(done) && done.sent.empty()) done = compile_in_copy(rest, features);
      const size_t before = answers.size();
      for (size_t begin = 0; begin < done.sent.size();) {
        const size_t terminator = std::min(done.sent.find('\0', begin), done.sent.size());
        answers.push_back(done.sent.substr(begin, terminator - begin));
        begin = terminator + 1;
      }
      if (answers.size() < intrinsics.size() && !(timed_out(done) && answers.size() > before))
        answers.push_back(how_it_ended(done));
    }
    return answers;
  }

  /// The features with which the compiler accepts a refused intrinsic; empty if unknown.
  std::vector<std::string> features_for(const TensorIntrinsicPtr& intrinsic) const {
    const auto suffice = [&](const std::vector<std::string>& features) {
      return refusals({&intrinsic, 1}, features).front().empty();
    };
    std::vector<std::string> missing = compiler_.missing_features();
    std::vector<std::string> needed;
    if (missing.empty() || !suffice(missing)) return {};
    // The last feature of the shortest sufficient prefix is needed; continue with those before it.
    while (needed.size() < kMaxFeatures) {
      size_t too_few = 0;
      size_t enough = missing.size();
      while (enough - too_few > 1) {
        const size_t middle = (too_few + enough) / 2;
        std::vector<std::string> some(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(middle));
        some.insert(some.end(), needed.begin(), needed.end());
        (suffice(some) ? enough : too_few) = middle;
      }
      needed.push_back(missing[enough - 1]);
      missing.resize(enough - 1);
      if (missing.empty() || suffice(needed)) break;
    }
    // Removes features that are only needed without a later one.
    for (size_t i = 0; needed.size() > 1 && i < needed.size();) {
      std::vector<std::string> others = needed;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      if (suffice(others)) {
        needed = std::move(others);
      } else {
        ++i;
      }
    }
    return suffice(needed) ? needed : std::vector<std::string>();
  }

 private:
  CopiedWork compile_in_copy(std::span<const TensorIntrinsicPtr> intrinsics,
                             std::span<const std::string> features) const {
    return run_in_copy(
        [&](int pipe) {
          for (const TensorIntrinsicPtr& intrinsic : intrinsics) {
            if (!write_whole(pipe, refusal(intrinsic, features) + '\0')) return;
          }
        },
        kCompileSeconds);
  }

  std::string refusal(const TensorIntrinsicPtr& intrinsic, std::span<const std::string> features) const {
    LoweredProgram lowered;
    try {
      lowered = lower(single_call(intrinsic), options_, pipeline_);
    } catch (const Error&) {
      return {};  // it cannot be called alone; the conformance kit reports that
    }
    return compiler_.refusal(lowered, features);
  }

  static bool timed_out(const CopiedWork& done) { return done.end.cause == ProcessEnd::Cause::TimedOut; }
  static std::string how_it_ended(const CopiedWork& done) {
    if (timed_out(done)) return fmt::format("the compiler took more than {} seconds", kCompileSeconds);
    const size_t begin = done.said.find_first_not_of("\r\n ");
    if (begin == std::string::npos) return fmt::format("it crashed the compiler: {}", done.end.str());
    return fmt::format("the compiler failed ({}): {}", done.end.str(),
                       done.said.substr(begin, done.said.find('\n', begin) - begin));
  }

  const IntrinsicCompiler& compiler_;
  const LowerOptions& options_;
  const Pipeline& pipeline_;
};

/// Caches answers for the life of the process.
class KnownAnswers {
 public:
  static KnownAnswers& get() {
    static auto* const known = new KnownAnswers;
    return *known;
  }
  const std::string* find(const std::string& question) const {
    const std::lock_guard lock(mutex_);
    const auto found = answers_.find(question);
    return found == answers_.end() ? nullptr : &found->second;
  }
  void add(const std::string& question, const std::string& answer) {
    const std::lock_guard lock(mutex_);
    answers_.emplace(question, answer);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> answers_;
};

SourceLocation place_of(const TensorIntrinsic& intrinsic) {
  for (const auto& [target, implementation] : intrinsic.implementations) {
    if (!implementation.location.file.empty()) return implementation.location;
  }
  return {};
}

std::string with_features(std::string refusal, const std::vector<std::string>& features) {
  if (features.empty()) return refusal;
  return fmt::format(
      "{}; it needs a processor with {}, which the target lacks: declare it with requires: [{}]", refusal,
      fmt::join(features, " and "), fmt::join(features, ", "));
}

}  // namespace

std::string RefusedIntrinsic::str() const {
  // The compiler's message already has a location within the code.
  if (!location.file.empty() && reason.starts_with(location.file + ":")) return reason;
  return fmt::format("{}{}extension '{}': tensor intrinsic {} cannot be compiled: {}", location.str(),
                     location.file.empty() ? "" : ": ", extension, name, reason);
}

std::vector<RefusedIntrinsic> take_away_refused(const Target& target, Extensions& extensions,
                                                LowerOptions& options) {
  const IntrinsicCompiler* compiler = target.intrinsic_compiler();
  if (compiler == nullptr) return {};
  const std::string whom = fmt::format("{}\n{}\n", target.identity(), target.fingerprint());
  const auto question = [&](const TensorIntrinsic& intrinsic) { return whom + content_of(intrinsic); };
  KnownAnswers& known = KnownAnswers::get();
  std::vector<TensorIntrinsicPtr> asked;
  for (const auto& [name, own] : extensions) {
    std::ranges::copy_if(own, std::back_inserter(asked), [&](const TensorIntrinsicPtr& intrinsic) {
      return intrinsic->level.empty() && known.find(question(*intrinsic)) == nullptr;
    });
  }
  const Pipeline pipeline = target.pipeline();
  const ChildCompiler child(*compiler, options, pipeline);
  const std::vector<std::string> answers = child.refusals(asked, {});
  for (size_t i = 0; i < asked.size(); ++i) {
    known.add(question(*asked[i]),
              answers[i].empty() ? answers[i] : with_features(answers[i], child.features_for(asked[i])));
  }
  std::vector<RefusedIntrinsic> refused;
  for (auto at = extensions.begin(); at != extensions.end();) {
    std::vector<TensorIntrinsicPtr> left;
    for (const TensorIntrinsicPtr& intrinsic : at->second) {
      const std::string* answer = known.find(question(*intrinsic));
      if (answer == nullptr || answer->empty()) {
        left.push_back(intrinsic);
        continue;
      }
      refused.push_back({at->first, intrinsic->name, place_of(*intrinsic), *answer});
      std::erase(options.intrinsics, intrinsic);
    }
    const bool none_left = left.empty() && !at->second.empty();
    at->second = std::move(left);
    at = none_left ? extensions.erase(at) : std::next(at);
  }
  return refused;
}

const RefusedIntrinsic* called_refused(const Program& program, const std::vector<RefusedIntrinsic>& refused,
                                       const std::vector<TensorIntrinsicPtr>& offered) {
  if (refused.empty()) return nullptr;
  for (const Block* block : collect<Block>(program.root())) {
    const auto call = block->annotations.find(kTensorIntrinsic);
    if (call == block->annotations.end() || called_intrinsic(block->annotations, offered) != nullptr)
      continue;
    const auto found =
        std::ranges::find(refused, std::get<std::string>(call->second), &RefusedIntrinsic::name);
    if (found != refused.end()) return &*found;
  }
  return nullptr;
}

}  // namespace tunesmith

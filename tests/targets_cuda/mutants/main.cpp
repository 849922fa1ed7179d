// Measures the checks: makes mistakes in the texts of accepted programs, and gives each to the worker as a
// candidate. Usage: cuda_mutants PROGRAMS OTHERS [SEED] [--barriers | --producers]
//   PROGRAMS    accepted programs of the spaces below, in turn; in each, every barrier, wait and commit is
//               removed, every wait is for one group less, every counter of stages is off by one, and all
//               mistakes of producer_mutation.h are made
//   OTHERS      the number of other mistakes, drawn at random
//   --barriers  counts only programs with a barrier
//   --producers only programs of the space `cuda-hopper` in which a producer copies boxes
// An accepted mutant may be harmless: the interpreter does not miss the barrier, either, or the changed
// expression always has the old value. Other accepted mutants are printed, and the exit code is 1.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "candidates/candidate_object.h"
#include "emulation/emulated_kernel.h"
#include "machine/architecture.h"
#include "mutation.h"
#include "producer_mutation.h"
#include "text/kernel_text.h"
#include "tunesmith/grid/launches.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/measuring/worker_runner.h"
#include "tunesmith/space/space.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/workload/library.h"
#include "unit/grid/grid_machine.h"
#include "unit/ir/spell_out.h"

namespace {

using namespace tunesmith;
using namespace tunesmith::cuda;
using tunesmith::testing::Mutation;

struct Source {
  const char* space;
  const char* workload;
};
constexpr Source kSources[] = {{"cuda", "gmm:n=32,m=48,k=16"},
                               {"cuda-tensorcore", "gmm:n=32,m=48,k=64,dtype=f16"},
                               {"cuda", "conv2d:h=8,w=8,ci=4,co=8,kernel=3,padding=1"},
                               {"cuda", "gmm:n=7,m=11,k=13"},
                               {"cuda", "softmax:m=5,n=75"},
                               {"cuda", "dense_bias_gelu:n=12,m=8,k=10"},
                               {"cuda-tensorcore", "gmm:n=20,m=24,k=40,dtype=bf16"},
                               {"cuda", "norm:m=9,n=40"},
                               {"cuda", "conv2d:h=9,w=9,ci=3,co=5,kernel=3,stride=2"},
                               {"cuda", "depthwise_conv2d:h=7,w=7,c=8"},
                               {"cuda-tensorcore", "gmm:n=32,m=32,k=32,dtype=i8"},
                               {"cuda", "conv1d:l=16,ci=4,co=8"},
                               {"cuda", "layer_norm:m=5,n=64"},
                               {"cuda", "transposed_conv2d:h=3,w=3,ci=4,co=5"},
                               {"cuda", "gmm:b=3,n=8,m=12,k=10"},
                               {"cuda", "reduce_sum_1d:n=1001"},
                               {"cuda-hopper", "gmm:n=128,m=128,k=448,dtype=f16"},
                               {"cuda-hopper", "gmm:b=2,n=64,m=256,k=256,dtype=bf16"},
                               {"cuda-hopper", "dense_bias_gelu:n=256,m=128,k=320,dtype=f16"},
                               {"cuda-hopper", "gmm:b=2,n=100,m=136,k=200,dtype=f16"},
                               {"cuda-hopper", "gram:n=131,k=264,dtype=bf16"}};
constexpr uint64_t kMaxDraws = 4000;
constexpr const char* kSymbol = "k";
/// More than these programs use, so that buffers keep their names.
constexpr int64_t kStaticSharedBytes = 232448;
/// Occurs in the text of a program in which a producer copies boxes.
constexpr const char* kBoxCopy = "tma_load_";

/// Does the mistake concern the order of threads and copies? All of these are tried.
bool is_of_order(const std::string& kind) {
  return kind == "barrier" || kind == "wait" || kind == "commit" || kind == "stage" ||
         tunesmith::testing::is_of_producer(kind);
}

/// The counts of one kind of mistake.
struct Count {
  int made = 0, refused = 0, not_compiled = 0, none = 0, accepted = 0;
};

/// One operator in one space, with its worker.
class Task {
 public:
  Task(const Source& source, PluginRegistry& registry)
      : name_(fmt::format("{} in {}", source.workload, source.space)),
        space_(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space(source.space), registry),
        workload_(WorkloadLibrary().load(source.workload)),
        sketches_(space_.generate(workload_.program)) {
    MeasureOptions options;
    options.time_out_seconds = 100;
    runner_ = make_worker_runner(workload_, space_.target(),
                                 {"cuda", {}, {TUNESMITH_BINARY_DIR "/lib/tunesmith/plugins"}}, options);
  }

  const std::string& name() const { return name_; }
  const Program& program() const { return workload_.program; }
  const ExecutionModel& execution() const { return space_.target().execution(); }

  /// The next candidate; null if there are no more.
  CandidatePtr draw(uint64_t seed) {
    for (; draws_ < kMaxDraws;) {
      const uint64_t number = draws_++;
      const Trace sketch =
          sketches_.sketches[number % sketches_.sketches.size()].trace().with_open_decisions();
      if (auto candidate = space_.materialise(workload_.program, sketch, RandomStream(seed, number)))
        return *candidate;
    }
    return nullptr;
  }

  tl::expected<CompiledKernel, std::string> compile(const Candidate& candidate) {
    return space_.target().compile(candidate.lowered, kSymbol);
  }

  /// Why the kernel is refused, or "".
  std::string refusal(const CompiledKernel& kernel) {
    const std::vector<MeasureRequest> requests{{&kernel, 0.0, false}};
    const MeasureResult result = runner_->run(requests).front();
    if (!result.failure) return "";
    return fmt::format("{}: {}", failure_cause_name(result.failure->cause), result.failure->message);
  }

 private:
  std::string name_;
  Space space_;
  Workload workload_;
  SketchSet sketches_;
  std::unique_ptr<Runner> runner_;
  uint64_t draws_ = 0;
};

/// `kernel` with another text for one of its launches; nothing if the host's compiler refuses it.
std::optional<CompiledKernel> with_text(const CompiledKernel& kernel, size_t launch,
                                        const std::string& text) {
  CandidateObject object = CandidateObject::parse(kernel.object);
  EmulationOptions options;
  options.dynamic_shared_bytes = object.launches[launch].launch.dynamic_shared_bytes;
  // The maximum of all spaces.
  options.static_shared_bytes = find_architecture("sm_90a").static_shared_bytes;
  const EmulatedKernel emulated(text, object.launches[launch].kernel, "mutant.cu", options);
  if (!emulated.compiled()) return std::nullopt;
  object.launches[launch].program = emulated.program();
  CompiledKernel changed = kernel;
  changed.object = object.bytes();
  return changed;
}

/// The interpreter's error for the joined program without barrier `number` of launch `launch`, or "".
std::string interpreters_objection(const Task& task, const Candidate& candidate, size_t launch,
                                   size_t number) {
  Program program = candidate.lowered.program.clone();
  std::set<const Loop*> produced;
  for (const Loop* loop : collect<Loop>(program.root()))
    if (handover_of(*loop) != nullptr) produced.insert(loop);
  tunesmith::test::spell_out_handovers(program);
  const std::vector<const Barrier*> barriers =
      collect<Barrier>(*launches_of(program, task.execution())[launch]);
  auto* const barrier = const_cast<Barrier*>(barriers.at(number));
  Seq* const around = barrier->parent->as<Seq>();
  check_invariant(around != nullptr, "a barrier stands among other statements");
  const Loop* const loop = around->parent->as<Loop>();
  const bool ends_produced =
      loop != nullptr && produced.contains(loop) && around->children().back().get() == barrier;
  StmtPtr removed = around->remove(around->index_of(*barrier));
  // In the text the barrier at the end of a loop with a producer stands behind it.
  if (ends_produced)
    around->append(std::make_unique<If>(lt(loop->var, loop->extent - 1), std::move(removed)));
  std::vector<Tensor> arguments = tunesmith::test::random_arguments(task.program());
  try {
    interpret(program, arguments);
    return "";
  } catch (const InterpreterError& error) {
    return error.what();
  }
}

enum class Programs : uint8_t { All, WithBarrier, WithProducer };

class Experiment {
 public:
  Experiment(uint64_t seed, Programs programs) : seed_(seed), programs_(programs) {}

  void run(int programs, int others) {
    RandomStream random(seed_);
    for (int turn = 0; accepted_programs_ < programs && turn < 400 * programs; ++turn) {
      const size_t number = size_t(turn) % std::size(kSources);
      const Source& source = kSources[number];
      if (programs_ == Programs::WithProducer && std::string_view(source.space) != "cuda-hopper") continue;
      auto& made = tasks_[number];
      if (made == nullptr) made = std::make_unique<Task>(source, registry_);
      Task& task = *made;
      const CandidatePtr candidate = task.draw(seed_);
      if (!candidate) continue;
      const auto kernel = task.compile(*candidate);
      if (!kernel) continue;  // exceeds a limit, or spills
      const std::vector<KernelText> texts =
          kernel_texts(candidate->lowered, task.execution(), kStaticSharedBytes, kSymbol);
      const std::string whole = program_text(texts);
      if (programs_ == Programs::WithBarrier && whole.find("__syncthreads") == std::string::npos) continue;
      if (programs_ == Programs::WithProducer && whole.find(kBoxCopy) == std::string::npos) continue;
      if (const std::string why = task.refusal(*kernel); !why.empty()) {
        fmt::print("REFUSED as emitted: {}: {}\n{}\n", task.name(), why, whole);
        ++refused_programs_;
        continue;
      }
      ++accepted_programs_;
      const int share = others * accepted_programs_ / programs - others_made_;
      try_mutants(task, *candidate, *kernel, texts, share, random);
      std::fflush(stdout);
      fmt::print(stderr, "{} programs: {}\n", accepted_programs_, progress());
    }
  }

  /// The number of accepted mistakes that are not harmless.
  int report() const {
    fmt::print("{} programs accepted, {} refused as emitted\n", accepted_programs_, refused_programs_);
    fmt::print("{:<10} {:>6} {:>8} {:>13} {:>8} {:>9}\n", "mistake", "made", "refused", "not compiled",
               "none", "ACCEPTED");
    int accepted = refused_programs_;
    for (const auto& [kind, count] : counts_) {
      fmt::print("{:<10} {:>6} {:>8} {:>13} {:>8} {:>9}\n", kind, count.made, count.refused,
                 count.not_compiled, count.none, count.accepted);
      accepted += count.accepted;
    }
    fmt::print("{} removed barriers that the emulation reports and the interpreter does not\n",
               only_emulation_);
    return accepted;
  }

 private:
  std::string progress() const {
    std::string text;
    for (const auto& [kind, count] : counts_)
      text += fmt::format("{} {} ({} refused, {} none, {} accepted); ", count.made, kind, count.refused,
                          count.none, count.accepted);
    return text;
  }

  void try_mutants(Task& task, const Candidate& candidate, const CompiledKernel& kernel,
                   const std::vector<KernelText>& texts, int share, RandomStream& random) {
    std::map<std::string, std::vector<std::pair<size_t, Mutation>>>
        others;  // by kind; all kinds are equally likely
    for (size_t launch = 0; launch < texts.size(); ++launch) {
      const std::string text = program_text({&texts[launch], 1});
      std::vector<Mutation> mutations = tunesmith::testing::mutations_of(text);
      std::ranges::move(tunesmith::testing::producer_mutations_of(text), std::back_inserter(mutations));
      for (Mutation& mutation : mutations) {
        if (is_of_order(mutation.kind)) {
          try_one(task, candidate, kernel, launch, mutation);
        } else {
          others[mutation.kind].emplace_back(launch, std::move(mutation));
        }
      }
    }
    const auto below = [&](size_t count) { return std::ptrdiff_t(random.uniform() * double(count)); };
    for (; share > 0 && !others.empty(); --share, ++others_made_) {
      const auto kind = std::next(others.begin(), below(others.size()));
      const auto one = kind->second.begin() + below(kind->second.size());
      try_one(task, candidate, kernel, one->first, one->second);
      kind->second.erase(one);
      if (kind->second.empty()) others.erase(kind);
    }
  }

  void try_one(Task& task, const Candidate& candidate, const CompiledKernel& kernel, size_t launch,
               const Mutation& mutation) {
    Count& count = counts_[mutation.kind];
    ++count.made;
    const auto mutant = with_text(kernel, launch, mutation.text);
    if (!mutant) {
      ++count.not_compiled;
      return;
    }
    const std::string why = task.refusal(*mutant);
    const std::string objection =
        mutation.kind == "barrier" ? interpreters_objection(task, candidate, launch, mutation.barrier) : "";
    if (!why.empty()) {
      ++count.refused;
      if (mutation.kind != "barrier" || !objection.empty()) return;
      ++only_emulation_;
      fmt::print("the interpreter does not miss barrier {} of launch {}: {}: {}\n", mutation.barrier, launch,
                 task.name(), why);
      return;
    }
    if (is_none(task, kernel, launch, mutation, objection)) {
      ++count.none;
      return;
    }
    ++count.accepted;
    fmt::print("ACCEPTED: {}: {}: {}{}\n{}\n", task.name(), mutation.kind, mutation.what,
               objection.empty() ? "" : "; the interpreter says: " + objection, mutation.text);
  }

  /// Is the mutation harmless?
  static bool is_none(Task& task, const CompiledKernel& kernel, size_t launch, const Mutation& mutation,
                      const std::string& objection) {
    if (mutation.kind == "barrier") return objection.empty();
    // Without asynchronous copies, all stores are immediate, so nothing needs a wait.
    static const std::regex copy(R"(cp_async(4|8|16))");
    if (mutation.kind == "wait" || mutation.kind == "commit")
      return !std::regex_search(mutation.text.substr(mutation.text.find("__global__")), copy);
    if (mutation.witness.empty()) return false;
    const auto witness = with_text(kernel, launch, mutation.witness);
    return witness && task.refusal(*witness).empty();
  }

  uint64_t seed_;
  Programs programs_;
  PluginRegistry registry_;
  std::array<std::unique_ptr<Task>, std::size(kSources)> tasks_;
  std::map<std::string, Count> counts_;
  int accepted_programs_ = 0, refused_programs_ = 0, others_made_ = 0, only_emulation_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  Programs programs = Programs::All;
  if (!words.empty() && words.back() == "--barriers") programs = Programs::WithBarrier;
  if (!words.empty() && words.back() == "--producers") programs = Programs::WithProducer;
  const size_t numbers = words.size() - (programs == Programs::All ? 0 : 1);
  if (numbers < 2 || numbers > 3) {
    fmt::print(stderr, "usage: cuda_mutants PROGRAMS OTHERS [SEED] [--barriers | --producers]\n");
    return 2;
  }
  Experiment experiment(numbers == 3 ? std::stoull(words[2]) : 1, programs);
  experiment.run(std::stoi(words[0]), std::stoi(words[1]));
  return experiment.report() == 0 ? 0 : 1;
}

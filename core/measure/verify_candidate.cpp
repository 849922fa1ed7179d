#include "measure/verify_candidate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "measure/prepared_memory.h"
#include "measure/time_kernel.h"

namespace tunesmith {
namespace {

constexpr size_t kStackBytes = size_t{768} * 1024;  // what a kernel may use (LowerOptions), and more
/// For a thread of the pool to wake on a busy machine; on a quiet one it takes microseconds.
constexpr auto kPoisonPatience = std::chrono::milliseconds(20);

struct StackPoison {
  int threads;
  int value;
  std::atomic<int> reached{0};
};

/// What a kernel leaves unwritten on the stack is then read as `value`.
[[gnu::noinline]] void poison_stack(void* closure, int64_t /*begin*/, int64_t /*end*/) {
  auto& poison = *static_cast<StackPoison*>(closure);
  std::array<std::byte, kStackBytes> stack;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  std::memset(stack.data(), poison.value, stack.size());
  asm volatile("" : : "r"(stack.data()) : "memory");
  // The others get the time to wake and take a part of their own.
  ++poison.reached;
  const auto begin = std::chrono::steady_clock::now();
  while (poison.reached.load() < poison.threads && std::chrono::steady_clock::now() - begin < kPoisonPatience)
    std::this_thread::yield();
}

void poison_stacks(tunesmith_runtime_pool* pool, std::byte value) {
  StackPoison poison{pool == nullptr ? 1 : tunesmith_runtime_pool_threads(pool), std::to_integer<int>(value)};
  tunesmith_runtime_parallel_for(pool, poison.threads, poison_stack, &poison);
}

/// From so far down the stack that all of the kernel's frame lies in what poison_stack() filled: its own
/// frame begins below those of the pool.
[[gnu::noinline]] double time_from_below(const KernelCall& call) {
  std::array<std::byte, 4096> above;
  asm volatile("" : : "r"(above.data()) : "memory");
  const double seconds = time_call(call);
  asm volatile("" : : "r"(above.data()) : "memory");
  return seconds;
}

CandidateFailure out_of_bounds(std::string_view where) {
  return {FailureCause::OutOfBounds, fmt::format("wrote outside of {}", where)};
}

}  // namespace

namespace {

Verdict verify_draw(const LoadedKernel& loaded, const CompiledKernel& kernel, DataSet& data,
                    const std::vector<ExpectedOutput>& expected, GuardedBuffer* workspace,
                    tunesmith_runtime_pool* pool) {
  Verdict verdict;
  const auto poison_workspace = [&] {
    if (workspace == nullptr) return;
    workspace->place(data.placement);
    std::memset(workspace->data(), std::to_integer<int>(data.poison),
                static_cast<size_t>(workspace->bytes()));
  };
  std::byte* const unplaced = nullptr;
  std::unique_ptr<PreparedMemory> prepared;
  if (const auto& step = kernel.prepare) {
    prepared = std::make_unique<PreparedMemory>(step->bytes, data.placement, data.poison);
    poison_workspace();
    poison_stacks(pool, data.poison);
    time_from_below({loaded.prepare(), data.memory.prepare_pointers(*step, prepared->data()),
                     workspace == nullptr ? unplaced : workspace->data(), pool});
    if (!prepared->check_canary()) {
      verdict.failure = out_of_bounds("the prepared memory");
      return verdict;
    }
    prepared->protect();
  }
  poison_workspace();
  data.memory.poison_outputs(data.poison);
  poison_stacks(pool, data.poison);
  verdict.seconds = time_from_below(
      {loaded.entry(), data.memory.kernel_pointers(kernel, prepared ? prepared->data() : nullptr),
       workspace == nullptr ? unplaced : workspace->data(), pool});

  if (workspace != nullptr && !workspace->check_canary()) {
    verdict.failure = out_of_bounds("the workspace");
    return verdict;
  }
  if (const Argument* argument = data.memory.touched_around()) {
    verdict.failure = out_of_bounds(argument->buffer->name);
    return verdict;
  }
  const size_t inputs = data.memory.size() - expected.size();
  for (size_t i = 0; i < expected.size(); ++i) {
    const Comparison comparison = expected[i].compare(data.memory.output(inputs + i), pool);
    verdict.worst = std::max(verdict.worst, comparison.worst);
    if (comparison.worst > 1.0) {
      verdict.failure = {FailureCause::WrongResult, comparison.message};
      return verdict;
    }
  }
  return verdict;
}

}  // namespace

Verdict verify_candidate(const LoadedKernel& loaded, const CompiledKernel& kernel, DataSet& data,
                         GuardedBuffer* workspace, tunesmith_runtime_pool* pool) {
  Verdict worst;
  for (const Draw& draw : data.draws) {
    if (data.draws.size() > 1) data.memory.write_inputs(draw.inputs);
    const Verdict verdict = verify_draw(loaded, kernel, data, draw.expected, workspace, pool);
    worst.seconds = verdict.seconds;
    worst.worst = std::max(worst.worst, verdict.worst);
    worst.failure = verdict.failure;
    if (worst.failure) break;
  }
  return worst;
}

}  // namespace tunesmith

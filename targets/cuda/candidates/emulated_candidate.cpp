#include "candidates/emulated_candidate.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <new>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace tunesmith::cuda {
namespace {

/// The worker's time limit ends a candidate; this limit is for callers without a worker.
constexpr double kLongestEmulation = 300;
constexpr uint64_t kSeed = 1;

constexpr std::array kOrders{ThreadOrder::Forward, ThreadOrder::Backward, ThreadOrder::Random};

/// One thread knows one order.
size_t runs_of(const Launch& launch, bool only_barriers) {
  const uint64_t blocks = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  if (launch.threads() == 1 && blocks == 1) return 1;
  return only_barriers ? kOrders.size() + 1 - std::min<uint64_t>(blocks, kOrders.size()) : kOrders.size();
}

KernelFault fault_of(const EmulationReport& report) {
  KernelFault fault;
  std::string text = report.failure.empty() ? report.text() : report.failure;
  fault.message = text.substr(0, text.find('\n'));
  constexpr std::array kOfMemory{"out_of_bounds", "misaligned", "fault"};
  if (std::ranges::any_of(kOfMemory, [&](const char* kind) { return report.found(kind); }))
    fault.kind = KernelFault::Kind::OutOfBounds;
  if (report.findings.empty()) {
    const bool late = report.failure.starts_with("ran longer");
    fault.kind = late ? KernelFault::Kind::TimeOut : KernelFault::Kind::Crash;
  }
  return fault;
}

}  // namespace

/// Copies of the memory that the launches of a call share: each thread order starts with the same contents.
struct EmulatedCandidate::Memory {
  std::map<int64_t, Bytes> buffers;    // by position in the call
  std::map<int64_t, Bytes> workspace;  // by offset

  Bytes& of(const ObjectArgument& argument) {
    return argument.in_workspace ? workspace[argument.position] : buffers[argument.position];
  }
};

EmulatedCandidate::EmulatedCandidate(const std::string& object) : object_(CandidateObject::parse(object)) {
  for (ObjectLaunch& launch : object_.launches) {
    EmulationOptions options{.checked = object_.runs_on == RunsOn::Emulation};
    options.kernel = launch.kernel;
    options.dynamic_shared_bytes = launch.launch.dynamic_shared_bytes;
    kernels_.emplace_back(std::exchange(launch.program, {}), options);
  }
}

tunesmith_kernel EmulatedCandidate::entry() const { return slot_.entry(); }

std::optional<KernelFault> EmulatedCandidate::take_fault() {
  const std::lock_guard lock(mutex_);
  return std::exchange(fault_, std::nullopt);
}

void EmulatedCandidate::keep(KernelFault fault, bool of_checks) {
  const std::lock_guard lock(mutex_);
  // Concurrent calls report the same fault, whichever of them made the checks or ended first.
  const bool first = of_checks != fault_of_checks_ ? of_checks
                                                   : !fault_ || std::tie(fault.kind, fault.message) <
                                                                    std::tie(fault_->kind, fault_->message);
  if (fault_ && !first) return;
  fault_ = std::move(fault);
  fault_of_checks_ = of_checks;
}

EmulatedArgument EmulatedCandidate::emulated(const ObjectArgument& argument, const Bytes& bytes) const {
  using Kind = EmulatedArgument::Kind;
  const bool written =
      argument.in_workspace || std::ranges::find(object_.outputs, argument.position) != object_.outputs.end();
  // A kernel does not write tensors of which it has a map, so it may have a copy.
  const Kind kind = argument.is_map() ? Kind::Hidden : written ? Kind::Buffer : Kind::Input;
  return {argument.name, kind, bytes, {}};
}

std::optional<size_t> EmulatedCandidate::run(ThreadOrder order, Memory& memory, std::vector<bool>& to_check) {
  size_t runs = 1;
  for (size_t i = 0; i < object_.launches.size(); ++i) {
    const ObjectLaunch& launch = object_.launches[i];
    std::vector<EmulatedArgument> arguments;
    for (const ObjectArgument& argument : launch.arguments) {
      arguments.push_back(emulated(argument, memory.of(argument)));
      if (argument.is_map())
        arguments.push_back({argument.name, EmulatedArgument::Kind::Map, {}, argument.tensor});
    }
    EmulationReport report =
        kernels_[i].run(launch.launch, arguments, {order, true, kSeed, kLongestEmulation, to_check[i]});
    if (!report.clean()) {
      keep(fault_of(report), to_check[i]);
      return std::nullopt;
    }
    const bool only_barriers = report.counters["only_barriers"] == 1;
    if (only_barriers) to_check[i] = false;
    runs = std::max(runs, runs_of(launch.launch, only_barriers));
    // Map arguments come last, as two each.
    for (size_t a = 0; a < launch.arguments.size() && !launch.arguments[a].is_map(); ++a)
      memory.of(launch.arguments[a]) = std::move(arguments[a].bytes);
  }
  return runs;
}

// No exception may leave a kernel's entry, whatever its cause: the
// emulation's own errors (no process can be started), or those of libraries.
void EmulatedCandidate::call(void* const* buffers, void* workspace) {
  try {
    run_in_each_order(buffers, workspace);
  } catch (const std::bad_alloc&) {
    keep({KernelFault::Kind::Crash, "out of memory"}, false);  // so short a text asks for none
  } catch (const Error& error) {
    keep({KernelFault::Kind::Crash, error.what()}, false);
  } catch (const std::exception& error) {
    keep({KernelFault::Kind::Crash, fmt::format("the emulation cannot continue: {}", error.what())}, false);
  }
}

void EmulatedCandidate::run_in_each_order(void* const* buffers, void* workspace) {
  Memory before;
  for (const ObjectLaunch& launch : object_.launches) {
    for (const ObjectArgument& argument : launch.arguments) {
      const auto* from = argument.in_workspace ? static_cast<unsigned char*>(workspace) + argument.position
                                               : static_cast<unsigned char*>(buffers[argument.position]);
      before.of(argument).assign(from, from + argument.bytes);
    }
  }
  const bool check = object_.checks_depend_on_data || !checked_.exchange(true);
  std::vector<bool> to_check(object_.launches.size(), check);
  std::optional<Memory> first;
  size_t runs = 1;
  for (size_t i = 0; i < runs; ++i) {
    Memory memory = before;
    const std::optional<size_t> wanted = run(kOrders[i], memory, to_check);
    if (!wanted) return;
    runs = std::max(runs, *wanted);
    if (!first) {
      first = std::move(memory);
      continue;
    }
    for (const int64_t output : object_.outputs) {
      if (first->buffers[output] == memory.buffers[output]) continue;
      keep({KernelFault::Kind::Mistake,
            fmt::format(
                "the result is another one where the first block's threads are in {} order, not forward",
                order_name(kOrders[i]))},
           false);
      return;
    }
  }
  for (const int64_t output : object_.outputs) {
    const Bytes& bytes = first->buffers[output];
    std::memcpy(buffers[output], bytes.data(), bytes.size());
  }
}

}  // namespace tunesmith::cuda

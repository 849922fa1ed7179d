#include "nvrtc/refusal.h"

#include <regex>

#include <fmt/format.h>

namespace tunesmith::cuda {
namespace {

// Does ptxas report a kernel that exceeds a limit: static shared memory, or accumulators?
bool tells_of_limit(const std::string& log) {
  static const std::regex limit(
      "uses too much shared data|\\(C7602\\)|Insufficient registers|too many resources");
  return std::regex_search(log, limit);
}

std::string first_error(const std::string& log) {
  const size_t error = log.find("error");
  if (error == std::string::npos) return log.substr(0, log.find('\n'));
  const size_t begin = log.rfind('\n', error) == std::string::npos ? 0 : log.rfind('\n', error) + 1;
  return log.substr(begin, log.find('\n', error) - begin);
}

std::string over_limit(const KernelResources& kernel, const Architecture& architecture,
                       const Launch& launch) {
  for (size_t i = 0; i < launch.block.size(); ++i) {
    if (launch.block[i] > kMaxBlock[i])
      return fmt::format("a block of {} threads in dimension {}, at most {}", launch.block[i], i,
                         kMaxBlock[i]);
    if (launch.grid[i] > kMaxGrid[i])
      return fmt::format("a grid of {} blocks in dimension {}, at most {}", launch.grid[i], i, kMaxGrid[i]);
  }
  const size_t threads = launch.threads();
  if (threads == 0 || threads > kMaxThreadsOfBlock)
    return fmt::format("a block of {} threads, 1 to {}", threads, kMaxThreadsOfBlock);
  const size_t shared = kernel.static_shared_bytes + launch.dynamic_shared_bytes;
  if (shared > architecture.block_shared_bytes)
    return fmt::format("{} bytes of shared memory, at most {}", shared, architecture.block_shared_bytes);
  if (architecture.resident_blocks(kernel.registers, threads, shared) == 0)
    return fmt::format("{} threads of {} registers, at most {} registers", threads, kernel.registers,
                       architecture.registers);
  return {};
}

}  // namespace

const char* refusal_name(RefusalCause cause) {
  switch (cause) {
    case RefusalCause::CompileError:
      return "compile_error";
    case RefusalCause::OverLimit:
      return "over_limit";
    case RefusalCause::Spills:
      return "spills";
    case RefusalCause::Serialised:
      return "serialised";
  }
  return "";
}

std::optional<Refusal> refuse(const Compilation& compilation, const std::string& name,
                              const Architecture& architecture, const Launch& launch, size_t stack_bytes) {
  if (!compilation.succeeded) {
    return Refusal{tells_of_limit(compilation.log) ? RefusalCause::OverLimit : RefusalCause::CompileError,
                   first_error(compilation.log)};
  }
  const KernelResources* kernel = compilation.kernel(name);
  if (kernel == nullptr)
    return Refusal{RefusalCause::CompileError,
                   fmt::format("the text has no kernel '{}' with C linkage; the compiler said '{}'", name,
                               compilation.log.substr(0, 300))};
  if (std::string text = over_limit(*kernel, architecture, launch); !text.empty())
    return Refusal{RefusalCause::OverLimit, std::move(text)};
  if (kernel->stack_bytes > stack_bytes || kernel->spill_store_bytes > 0 || kernel->spill_load_bytes > 0) {
    return Refusal{RefusalCause::Spills,
                   fmt::format("{} bytes of stack frame, {} of spill stores, {} of spill loads",
                               kernel->stack_bytes, kernel->spill_store_bytes, kernel->spill_load_bytes)};
  }
  if (!compilation.notes.serialisations.empty())
    return Refusal{RefusalCause::Serialised, compilation.notes.serialisations.front()};
  return std::nullopt;
}

std::string RefusalCounts::text() const {
  std::string text;
  for (size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i] > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", refusal_name(RefusalCause(i)), counts_[i]);
  return text.empty() ? "none" : text;
}

}  // namespace tunesmith::cuda

#include "trace/counted_buffers.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/analysis/accesses.h"
#include "tunesmith/analysis/schedule_error.h"

namespace tunesmith {
namespace {

/// What the parameter counts: "read", "write", or "" if a string parameter says it.
constexpr struct {
  std::string_view parameter;
  std::string_view sort;
} kNumbers[] = {{"read_index", "read"}, {"write_index", "write"}, {"index", ""}};

std::optional<size_t> find_param(const InstructionKind& kind, std::string_view name) {
  const auto found = std::ranges::find(kind.params(), name, &ParamSpec::name);
  if (found == kind.params().end()) return std::nullopt;
  return static_cast<size_t>(found - kind.params().begin());
}

}  // namespace

bool names_access(const InstructionKind& kind) {
  return find_param(kind, "block") && std::ranges::any_of(kNumbers, [&](const auto& number) {
           return find_param(kind, number.parameter).has_value();
         });
}

void check_buffers_are_accesses(const InstructionKind& kind, std::span<const Value> args,
                                const Program& program) {
  std::string_view sort;
  for (const auto& number : kNumbers) {
    if (find_param(kind, number.parameter)) sort = number.sort;
  }
  if (sort.empty()) sort = std::get<std::string>(args[find_param(kind, "access").value()]);
  const Block* block = program.find_block(std::get<BlockId>(args[find_param(kind, "block").value()]));
  if (block == nullptr) return;  // the instruction itself reports it
  const std::vector<Access> accesses = sort == "write" ? write_accesses(*block) : read_accesses(*block);
  for (size_t i = 0; i < accesses.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (accesses[i].buffer != accesses[j].buffer) continue;
      throw ScheduleError(kind.name(), "a trace of version 1 is ambiguous here",
                          fmt::format("it numbers the buffers of block {}, which {}s {} in several ways; "
                                      "rewrite the trace as version {}, with the number of the access",
                                      block->name, sort, accesses[i].buffer->name, 2),
                          program);
    }
  }
}

}  // namespace tunesmith

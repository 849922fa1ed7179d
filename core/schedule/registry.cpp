#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "schedule/kinds.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

/// Every kind of the kernel.
constexpr KindPtr (*kBuiltIn[])() = {
    get_block_kind,
    get_loops_kind,
    split_kind,
};

auto lower_bound(const std::vector<KindPtr>& kinds, std::string_view name) {
  return std::lower_bound(kinds.begin(), kinds.end(), name,
                          [](const KindPtr& kind, std::string_view wanted) { return kind->name() < wanted; });
}

}  // namespace

InstructionKind::~InstructionKind() = default;

InstructionRegistry::InstructionRegistry() {
  for (const auto& make : kBuiltIn) add(make());
}

InstructionRegistry& InstructionRegistry::global() {
  static InstructionRegistry registry;
  return registry;
}

void InstructionRegistry::add(std::unique_ptr<const InstructionKind> kind) {
  const auto at = lower_bound(kinds_, kind->name());
  if (at != kinds_.end() && (*at)->name() == kind->name()) {
    throw UserError(fmt::format("the instruction kind '{}' exists already", kind->name()),
                    "give the plugin's kind another name");
  }
  kinds_.insert(at, std::move(kind));
}

const InstructionKind* InstructionRegistry::find(std::string_view name) const {
  const auto at = lower_bound(kinds_, name);
  return at != kinds_.end() && (*at)->name() == name ? at->get() : nullptr;
}

std::vector<std::string> InstructionRegistry::names() const {
  std::vector<std::string> result;
  for (const KindPtr& kind : kinds_) result.push_back(kind->name());
  return result;
}

}  // namespace tunesmith

#include "analysis/accesses.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

void add_once(std::vector<Access>& list, const Buffer& buffer, std::span<const Expr> indices) {
  const auto known = [&](const Access& access) { return is_at(access, buffer, indices); };
  if (std::none_of(list.begin(), list.end(), known))
    list.push_back({buffer, {indices.begin(), indices.end()}});
}

}  // namespace

std::vector<Access> read_accesses(const Block& block) {
  std::vector<Access> list;
  const auto collect_from = [&](const Stmt* part) {
    if (part == nullptr) return;
    walk_accesses(*part, [&](const Stmt& stmt, const AccessSite& access) {
      const Store* store = stmt.as<Store>();
      const bool accumulator =
          store != nullptr && store->buffer == access.buffer && equal_indices(access.indices, store->indices);
      if (access.load != nullptr && !accumulator) add_once(list, access.buffer, access.indices);
    });
  };
  collect_from(block.body());
  collect_from(block.init());
  return list;
}

std::vector<Access> write_accesses(const Block& block) {
  std::vector<Access> list;
  for (const Store* store : collect<Store>(*block.body())) add_once(list, store->buffer, store->indices);
  return list;
}

Access require_access(const Program& program, const Block& block, std::string_view sort, int64_t index,
                      std::string_view primitive) {
  if (sort != "read" && sort != "write") {
    throw ScheduleError(primitive, "expected \"read\" or \"write\"", std::string(sort), program, &block);
  }
  std::vector<Access> accesses = sort == "read" ? read_accesses(block) : write_accesses(block);
  if (index < 0 || index >= static_cast<int64_t>(accesses.size())) {
    throw ScheduleError(primitive,
                        sort == "read" ? "the block has fewer reads" : "the block has fewer writes",
                        fmt::format("index {} of {}", index, accesses.size()), program, &block);
  }
  return std::move(accesses[static_cast<size_t>(index)]);
}

void redirect_reads(Block& block, const Access& access, const Buffer& to, std::span<const Expr> indices) {
  rewrite_exprs(block, [&](const Expr& part) {
    const LoadNode* old = part.as<LoadNode>();
    return old != nullptr && is_at(access, old->buffer, old->indices())
               ? load(to, {indices.begin(), indices.end()}, old->mask())
               : part;
  });
}

}  // namespace tunesmith

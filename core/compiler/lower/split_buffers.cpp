#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/move_accesses.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

/// All elements that an access touches in the whole program, as an interval per dimension.
using Box = std::vector<Interval>;

Box box_of(const Stmt& stmt, std::span<const Expr> indices, const Buffer& buffer) {
  const Analyzer analyzer = Analyzer::at(stmt);
  Box box;
  for (size_t d = 0; d < indices.size(); ++d) {
    const Interval range = analyzer.bounds(indices[d]);
    box.push_back({std::max<int64_t>(range.min, 0), std::min(range.max, buffer->shape[d] - 1)});
  }
  return box;
}

bool overlap(const Box& a, const Box& b) {
  for (size_t d = 0; d < a.size(); ++d) {
    if (a[d].max < b[d].min || b[d].max < a[d].min) return false;
  }
  return true;
}

/// Groups a buffer's accesses: overlapping ones belong to one group, with their statements.
class Groups {
 public:
  void add(Stmt* stmt, Box box) {
    stmts_.push_back(stmt);
    boxes_.push_back(std::move(box));
    group_.push_back(group_.size());
    for (size_t i = 0; i + 1 < boxes_.size(); ++i) {
      if (stmts_[i] == stmt || overlap(boxes_[i], boxes_.back())) join(group_[i], group_.back());
    }
  }

  /// The statements of each group, in the order of the first access.
  std::vector<std::vector<Stmt*>> stmts() const {
    std::vector<std::vector<Stmt*>> result;
    std::vector<size_t> seen;
    for (size_t i = 0; i < stmts_.size(); ++i) {
      const auto at = std::find(seen.begin(), seen.end(), group_[i]);
      if (at == seen.end()) result.emplace_back();
      std::vector<Stmt*>& members = result[static_cast<size_t>(at - seen.begin())];
      if (at == seen.end()) seen.push_back(group_[i]);
      if (members.empty() || members.back() != stmts_[i]) members.push_back(stmts_[i]);
    }
    return result;
  }

 private:
  void join(size_t a, size_t b) {
    if (a == b) return;
    const auto [low, high] = std::minmax(a, b);
    std::replace(group_.begin(), group_.end(), high, low);
  }

  std::vector<Stmt*> stmts_;
  std::vector<Box> boxes_;
  std::vector<size_t> group_;
};

std::unordered_map<const BufferNode*, Groups> groups_of(Program& program) {
  std::unordered_map<const BufferNode*, Groups> all;
  std::unordered_map<const BufferNode*, int> stores;
  for (const Store* store : collect<Store>(program.root())) ++stores[store->buffer.get()];
  for (const Buffer& buffer : program.intermediates) {
    if (stores[buffer.get()] > 1) all[buffer.get()];
  }
  if (all.empty()) return all;
  walk_accesses(program.root(), [&](Stmt& stmt, const AccessSite& access) {
    if (const auto found = all.find(access.buffer.get()); found != all.end())
      found->second.add(&stmt, box_of(stmt, access.indices, access.buffer));
  });
  return all;
}

}  // namespace

void split_buffers(Program& program, BlockFacts& facts) {
  const std::unordered_map<const BufferNode*, Groups> all = groups_of(program);
  const std::vector<Buffer> buffers = program.intermediates;
  for (const Buffer& buffer : buffers) {
    const auto found = all.find(buffer.get());
    if (found == all.end()) continue;
    const std::vector<std::vector<Stmt*>> groups = found->second.stmts();
    for (size_t g = 1; g < groups.size(); ++g) {
      const Buffer part = make_buffer(program.fresh_buffer_name(buffer->name), buffer->dtype, buffer->shape,
                                      buffer->scope, false, buffer->strides);
      program.intermediates.push_back(part);
      for (Stmt* stmt : groups[g]) move_own_accesses(*stmt, buffer, part, same_place);
      // Facts about the whole buffer also hold for its parts.
      for (size_t i = 0, n = facts.loop_carried.size(); i < n; ++i) {
        if (facts.loop_carried[i].buffer == buffer)
          facts.loop_carried.push_back({part, facts.loop_carried[i].loop});
      }
      for (size_t i = 0, n = facts.aligned.size(); i < n; ++i) {
        if (facts.aligned[i].buffer == buffer) facts.aligned.push_back({part, facts.aligned[i].alignment});
      }
      if (contains(facts.swizzled, buffer)) facts.swizzled.push_back(part);
      for (size_t i = 0, n = facts.doubled.size(); i < n; ++i) {
        if (facts.doubled[i] == buffer) facts.doubled.push_back(part);
      }
    }
  }
}

}  // namespace tunesmith

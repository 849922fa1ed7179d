#include "place_in_scope.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// The bytes that an additional barrier must save: another tile of 16 x 16 numbers.
constexpr int64_t kWorthABarrier = 1024;

/// A buffer, and the first and last statements of the launch that use it.
struct Placed {
  Allocate* allocate = nullptr;
  int64_t bytes = 0;
  size_t first = 0;
  size_t last = 0;
};

int64_t next_multiple(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Do all threads that run the statement reach a barrier after all its accesses?
bool ends_with_barrier(const Stmt& stmt) {
  if (const Loop* loop = stmt.as<Loop>())
    return loop->extent.is(ExprKind::IntImm) && loop->const_extent() > 0 && ends_with_barrier(*loop->body());
  if (const Allocate* allocate = stmt.as<Allocate>()) return ends_with_barrier(*allocate->body());
  if (const Seq* seq = stmt.as<Seq>())
    return !seq->children().empty() && ends_with_barrier(*seq->children().back());
  return stmt.kind == StmtKind::Barrier || stmt.kind == StmtKind::Handover;
}

/// Do all threads that run the statement reach a barrier before all its accesses?
bool begins_with_barrier(const Stmt& stmt) {
  if (const Loop* loop = stmt.as<Loop>()) return begins_with_barrier(*loop->body());
  if (const Allocate* allocate = stmt.as<Allocate>()) return begins_with_barrier(*allocate->body());
  if (const Seq* seq = stmt.as<Seq>()) {
    const auto first = std::ranges::find_if(
        seq->children(), [](const StmtPtr& child) { return child->kind != StmtKind::AsyncWait; });
    return first != seq->children().end() && begins_with_barrier(**first);
  }
  return stmt.kind == StmtKind::Barrier;
}

/// The statements that all threads of the launch run in sequence.
struct ThreadProgram {
  Seq* statements = nullptr;  // null: a single statement
  std::string level;          // its iterations synchronise at barriers; "": only one thread

  ThreadProgram(Stmt& launch, const ExecutionModel& model) {
    for (Stmt* at = &launch; at != nullptr && statements == nullptr;) {
      Loop* loop = at->as<Loop>();
      Seq* seq = at->as<Seq>();
      if (Allocate* allocate = at->as<Allocate>()) {
        at = allocate->body();
      } else if (loop != nullptr && loop->loop_kind == LoopKind::Bound) {
        const auto axis = model.find_axis(loop->thread);
        if (level.empty() && axis && axis->level >= model.first_synchronising())
          level = model.levels[axis->level].name;
        at = loop->body();
      } else if (seq != nullptr && seq->children().size() == 1) {
        at = seq->children().front().get();
      } else {
        statements = seq;
        break;
      }
    }
  }

  size_t count() const { return statements == nullptr ? 1 : statements->children().size(); }
  const Stmt* at(size_t position) const {
    return statements == nullptr ? nullptr : statements->children()[position].get();
  }

  /// Is there a barrier between the statements, or is none needed?
  bool is_parted(size_t before, size_t after) const {
    if (level.empty() || begins_with_barrier(*at(after))) return true;
    for (size_t i = before; i < after; ++i) {
      if (ends_with_barrier(*at(i))) return true;
    }
    return false;
  }
};

class Places {
 public:
  Places(Stmt& launch, const ExecutionModel& model, const MemoryScope& scope)
      : scope_(scope), program_(launch, model) {
    for (Allocate* allocate : collect<Allocate>(launch)) {
      if (allocate->buffer->scope != scope.name) continue;
      Placed placed{allocate, allocate->buffer->bytes(), program_.count() - 1, 0};
      for (size_t i = 0; i < program_.count() && program_.statements != nullptr; ++i) {
        bool used = false;
        walk_accesses(*program_.at(i), [&](const Stmt&, const AccessSite& access) {
          used = used || access.buffer == allocate->buffer;
        });
        if (!used) continue;
        placed.first = std::min(placed.first, i);
        placed.last = i;
      }
      if (program_.statements == nullptr || placed.first > placed.last) {
        placed.first = 0;
        placed.last = program_.count() - 1;
      }
      buffers_.push_back(placed);
    }
  }

  void set() {
    // The largest first; equal sizes in text order.
    std::vector<size_t> order(buffers_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t i) { return std::pair(-buffers_[i].bytes, i); });
    std::vector<const Placed*> done;
    for (const size_t i : order) {
      buffers_[i].allocate->offset = lowest_place(buffers_[i], done);
      done.push_back(&buffers_[i]);
    }
    // From the last one, so that positions stay valid.
    std::set<size_t, std::greater<>> barriers;
    for (const Placed& a : buffers_) {
      for (const Placed& b : buffers_) {
        if (a.last < b.first && overlap(a, b) && !program_.is_parted(a.last, b.first))
          barriers.insert(b.first);
      }
    }
    for (const size_t position : barriers)
      program_.statements->insert(position, std::make_unique<Barrier>(program_.level));
  }

 private:
  static bool overlap(const Placed& a, const Placed& b) {
    return *a.allocate->offset < *b.allocate->offset + b.bytes &&
           *b.allocate->offset < *a.allocate->offset + a.bytes;
  }

  bool may_share(const Placed& a, const Placed& b) const {
    if (b.last < a.first) return may_share(b, a);
    if (a.last >= b.first) return false;
    return program_.is_parted(a.last, b.first) || std::min(a.bytes, b.bytes) >= kWorthABarrier;
  }

  int64_t lowest_place(const Placed& placed, std::vector<const Placed*> others) const {
    std::erase_if(others, [&](const Placed* other) { return may_share(placed, *other); });
    std::ranges::sort(others, {}, [](const Placed* other) { return *other->allocate->offset; });
    const int64_t alignment = scope_.alignment_of(*placed.allocate->buffer);
    int64_t place = 0;
    for (const Placed* other : others) {
      if (place + placed.bytes <= *other->allocate->offset) break;
      place = std::max(place, next_multiple(*other->allocate->offset + other->bytes, alignment));
    }
    return place;
  }

  const MemoryScope& scope_;
  ThreadProgram program_;
  std::vector<Placed> buffers_;
};

}  // namespace

void place_in_scopes(Stmt& launch, const ExecutionModel& model) {
  for (const MemoryScope& scope : model.scopes) {
    const size_t depth = model.depth_of(scope);
    if (depth > 0 && depth <= model.first_synchronising()) Places(launch, model, scope).set();
  }
}

}  // namespace tunesmith

// Iterations of bound loops that synchronise at barriers: one after the other runs alone up to the next
// barrier, until all have reached it.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "interp/machine.h"

namespace tunesmith::interp {

struct Machine::Threads {
  /// The instances of an allocation around a barrier, one per thread or group.
  struct Own {
    size_t slot;
    std::vector<Storage> storages;
    std::vector<size_t> of_thread;  // indices into `storages`
  };
  std::vector<std::vector<int64_t>> values;  // of the variables, for each thread
  std::vector<Own> own;                      // outermost first
  std::vector<Groups> groups;                // of each thread; empty without asynchronous stores
};

bool Machine::begins_threads(const StmtCode& stmt) {
  return !stmt.level.empty() && stmt.loop_kind == LoopKind::Bound &&
         static_cast<const Loop&>(*stmt.source).thread.starts_with(stmt.level + ".");
}

void Machine::run_threads(const StmtCode& stmt, int64_t* lane) {
  Threads threads;
  threads.values.emplace_back(lane, lane + code_.variables);
  const bool watched = options_.check_races;
  if (watched) levels_.push_back({++epoch_, 0, &stmt.own});
  Groups around = std::exchange(groups_, {});
  add_axis(stmt, threads);
  groups_ = std::move(around);
  if (watched) levels_.pop_back();
}

void Machine::pass_barrier() {
  if (options_.check_races) levels_.back().epoch = ++epoch_;
}

/// Splits every thread into one for each iteration of the loop.
void Machine::add_axis(const StmtCode& stmt, Threads& threads) {
  std::vector<std::vector<int64_t>> more;
  std::vector<size_t> before;  // the thread that each was split from
  for (size_t thread = 0; thread < threads.values.size(); ++thread) {
    current_ = &stmt;
    const std::vector<int64_t>& values = threads.values[thread];
    const int64_t begin = eval_int(stmt.exprs[0], values.data(), 0);
    const int64_t extent = eval_int(stmt.exprs[1], values.data(), 0);
    for (int64_t i = 0; i < extent; ++i) {
      more.push_back(values);
      more.back()[static_cast<size_t>(stmt.slot)] = begin + i;
      before.push_back(thread);
    }
  }
  if (more.empty()) return;
  // Threads split from one share its memory.
  std::vector<std::vector<size_t>> alone;
  for (Threads::Own& own : threads.own) {
    std::vector<size_t> shared;
    for (const size_t thread : before) shared.push_back(own.of_thread[thread]);
    alone.push_back(std::exchange(own.of_thread, std::move(shared)));
    for (Storage& storage : own.storages) storage.level = std::max<size_t>(levels_.size(), 1) - 1;
  }
  std::swap(threads.values, more);
  std::vector<Groups> groups = std::exchange(threads.groups, {});
  run_together(stmt.children, threads);
  threads.groups = std::move(groups);
  std::swap(threads.values, more);
  for (size_t i = 0; i < alone.size(); ++i) threads.own[i].of_thread = std::move(alone[i]);
}

void Machine::run_together(std::span<const StmtCode> stmts, Threads& threads) {
  for (size_t i = 0; i < stmts.size();) {
    if (!stmts[i].level.empty()) {
      run_together(stmts[i++], threads);
      continue;
    }
    const size_t first = i;
    while (i < stmts.size() && stmts[i].level.empty()) ++i;
    run_own(stmts.subspan(first, i - first), threads);
  }
}

void Machine::run_together(const StmtCode& stmt, Threads& threads) {
  switch (stmt.source->kind) {
    case StmtKind::Barrier:
      return pass_barrier();
    case StmtKind::Handover:
      for (size_t part = 0; part < stmt.children.size(); ++part) {
        run_together(std::span(stmt.children).subspan(part, 1), threads);
        pass_barrier();
      }
      return;
    case StmtKind::Seq:
      return run_together(stmt.children, threads);
    case StmtKind::Loop:
      return stmt.loop_kind == LoopKind::Bound ? add_axis(stmt, threads) : together_around(stmt, threads);
    case StmtKind::If:
      return together_on_one_side(stmt, threads);
    case StmtKind::Allocate:
      return together_with_own(stmt, threads);
    case StmtKind::Block:
    case StmtKind::Store:
    case StmtKind::AsyncGroup:
    case StmtKind::AsyncWait:
      break;
  }
  throw InternalError("a barrier stands in a statement that may not have one");
}

/// Without a barrier inside, runs one thread after the other.
void Machine::run_own(std::span<const StmtCode> stmts, Threads& threads) {
  for (size_t thread = 0; thread < threads.values.size(); ++thread) {
    int64_t* const lane = threads.values[thread].data();
    enter(threads, thread);
    for (const StmtCode& stmt : stmts) execute(stmt, Lanes(&lane, 1));
    leave(threads, thread);
  }
}

void Machine::enter(Threads& threads, size_t thread) {
  if (options_.check_races) levels_.back().iteration = static_cast<int64_t>(thread);
  for (Threads::Own& own : threads.own) std::swap(storages_[own.slot], own.storages[own.of_thread[thread]]);
  if (thread < threads.groups.size()) std::swap(groups_, threads.groups[thread]);
}

void Machine::leave(Threads& threads, size_t thread) {
  for (Threads::Own& own : threads.own) std::swap(storages_[own.slot], own.storages[own.of_thread[thread]]);
  if (!groups_.empty() && threads.groups.empty()) threads.groups.resize(threads.values.size());
  if (thread < threads.groups.size()) std::swap(groups_, threads.groups[thread]);
}

void Machine::together_around(const StmtCode& stmt, Threads& threads) {
  if (stmt.children.empty()) return;
  current_ = &stmt;
  if (stmt.loop_kind != LoopKind::Serial && stmt.loop_kind != LoopKind::Unrolled)
    fail("a barrier inside a loop that runs concurrently", threads.values[0].data());
  int64_t begin = 0;
  int64_t extent = 0;
  for (size_t thread = 0; thread < threads.values.size(); ++thread) {
    enter(threads, thread);
    const int64_t* values = threads.values[thread].data();
    const int64_t own_begin = eval_int(stmt.exprs[0], values, 0);
    const int64_t own_extent = std::max<int64_t>(eval_int(stmt.exprs[1], values, 0), 0);
    leave(threads, thread);
    if (thread > 0 && own_extent != extent)
      fail("divergent barrier: threads iterate its loop unequally often", values);
    if (thread > 0 && own_begin != begin)
      fail("divergent barrier: threads are in different iterations of its loop", values);
    begin = own_begin;
    extent = own_extent;
  }
  for (int64_t i = 0; i < extent; ++i) {
    for (std::vector<int64_t>& thread : threads.values) thread[static_cast<size_t>(stmt.slot)] = begin + i;
    run_together(stmt.children, threads);
  }
}

void Machine::together_on_one_side(const StmtCode& stmt, Threads& threads) {
  bool side = false;
  for (size_t thread = 0; thread < threads.values.size(); ++thread) {
    current_ = &stmt;
    enter(threads, thread);
    const bool holds = eval_bool(stmt.exprs[0], threads.values[thread].data(), 0);
    leave(threads, thread);
    if (thread > 0 && holds != side)
      fail("divergent barrier: not all threads reach it", threads.values[thread].data());
    side = holds;
  }
  const size_t child = side ? 0 : 1;
  if (child < stmt.children.size()) run_together(std::span(stmt.children).subspan(child, 1), threads);
}

void Machine::together_with_own(const StmtCode& stmt, Threads& threads) {
  const auto slot = static_cast<size_t>(stmt.slot);
  Threads::Own own{slot, {}, {}};
  for (size_t thread = 0; thread < threads.values.size(); ++thread) {
    Storage& storage = own.storages.emplace_back(*code_.buffers[slot]);
    storage.always_written = !options_.check_uninitialized;
    storage.begin(levels_.size());
    own.of_thread.push_back(thread);
  }
  threads.own.push_back(std::move(own));
  run_together(stmt.children, threads);
  for (const Storage& storage : threads.own.back().storages) check_arrived(storage, threads.values[0].data());
  threads.own.pop_back();
}

}  // namespace tunesmith::interp

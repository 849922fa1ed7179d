#include "interp/machine.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::interp {

Machine::Machine(const ProgramCode& code, size_t inputs, const InterpretOptions& options)
    : code_(code), options_(options), variables_(code.variables) {
  std::ranges::copy(code.parameters, variables_.begin());
  storages_.reserve(code.buffers.size());
  for (size_t slot = 0; slot < code.buffers.size(); ++slot) {
    Storage& storage = storages_.emplace_back(*code.buffers[slot]);
    storage.limit(code.extents[slot], code.packed[slot]);
    storage.read_only = slot < inputs;
    storage.always_written = storage.read_only || !options.check_uninitialized;
    if (!code.allocated[slot]) storage.begin(0);
  }
}

void Machine::run() {
  int64_t* const lane = variables_.data();
  execute(code_.root, Lanes(&lane, 1));
}

void Machine::check_complete(size_t slot) const {
  const Storage& storage = storages_[slot];
  storage.visit_elements([&](int64_t, size_t at) {
    if (!storage.is_written(at) && storage.exists(at)) {
      throw InterpreterError(fmt::format("output element {} was never written", element(storage, at)));
    }
  });
}

void Machine::execute(const StmtCode& stmt, Lanes lanes) {
  switch (stmt.source->kind) {
    case StmtKind::Seq:
      for (const StmtCode& child : stmt.children) execute(child, lanes);
      return;
    case StmtKind::Loop:
      if (stmt.loop_kind == LoopKind::Vectorized) return vectorized_loop(stmt, lanes);
      if (!stmt.members.empty()) return together(stmt, lanes);
      if (begins_threads(stmt)) {
        for (int64_t* lane : lanes) run_threads(stmt, lane);
        return;
      }
      return loop(stmt, lanes);
    case StmtKind::Block:
      return block(stmt, lanes);
    case StmtKind::Store:
      return store(stmt, lanes);
    case StmtKind::If:
      return branch(stmt, lanes);
    case StmtKind::Allocate:
      // Each lane has a buffer of its own: one after the other may use the same storage.
      for (int64_t* const& lane : lanes) {
        Storage& storage = storages_[static_cast<size_t>(stmt.slot)];
        storage.begin(levels_.size());
        for (const StmtCode& child : stmt.children) execute(child, Lanes(&lane, 1));
        check_arrived(storage, lane);
        storage.alive = false;
      }
      return;
    case StmtKind::AsyncGroup:
      return async_group(stmt, lanes);
    case StmtKind::AsyncWait:
      current_ = &stmt;
      return async_wait(static_cast<const AsyncWait&>(*stmt.source), lanes[0]);
    case StmtKind::Barrier:
    case StmtKind::Handover:
      current_ = &stmt;
      fail("a barrier that no loop around it is bound for", lanes[0]);
  }
}

void Machine::together(const StmtCode& stmt, Lanes lanes) {
  for (int64_t* const& lane : lanes) {
    if (!std::ranges::all_of(stmt.members, [&](int slot) { return lane[slot] == 0; })) continue;
    // Any member may make any of the accesses, so no member can rely on having made one itself.
    if (levels_.empty()) {
      loop(stmt, Lanes(&lane, 1));
      continue;
    }
    const int64_t first = std::exchange(levels_.back().iteration, kGroups - levels_.back().iteration);
    loop(stmt, Lanes(&lane, 1));
    levels_.back().iteration = first;
  }
}

void Machine::async_group(const StmtCode& stmt, Lanes lanes) {
  Group group;
  Group* const around = std::exchange(collecting_, &group);
  for (const StmtCode& child : stmt.children) execute(child, lanes);
  collecting_ = around;
  groups_.push_back(std::move(group));
}

void Machine::async_wait(const AsyncWait& wait, Values values) {
  for (; groups_.size() > static_cast<size_t>(wait.pending); groups_.pop_front()) {
    for (const Arrival& arrival : groups_.front()) {
      Storage& storage = storages_[arrival.slot];
      storage.pending[arrival.write.offset] = 0;
      arrive(arrival.slot, arrival.write, storage.buffer->dtype.is_float(), values);
    }
  }
}

void Machine::arrive(size_t slot, const Write& write, bool is_float, Values values) {
  Storage& target = storages_[slot];
  note_write(target, slot, write.offset, values);
  target.written[write.offset] = target.life;
  if (is_float) {
    target.floats[write.offset] = write.float_value;
  } else {
    target.ints[write.offset] = write.int_value;
  }
}

void Machine::check_arrived(const Storage& storage, Values values) const {
  for (size_t i = 0; i < storage.pending.size(); ++i) {
    if (storage.pending[i] != 0)
      fail(fmt::format("an asynchronous store to {} is never waited for", element(storage, i)), values);
  }
}

template <typename Test>
void Machine::execute_where(const StmtCode& stmt, Lanes lanes, const Test& test) {
  if (lanes.size() == 1) {
    if (test(lanes[0])) execute(stmt, lanes);
    return;
  }
  std::vector<int64_t*> active;
  std::copy_if(lanes.begin(), lanes.end(), std::back_inserter(active), test);
  if (!active.empty()) execute(stmt, active);
}

void Machine::loop(const StmtCode& stmt, Lanes lanes) {
  if (stmt.children.empty()) return;
  current_ = &stmt;
  struct Range {
    int64_t begin;
    int64_t extent;
  };
  // Fast path: a single lane needs no list, and innermost loops usually have a single lane.
  const Range first{eval_int(stmt.exprs[0], lanes[0], 0), eval_int(stmt.exprs[1], lanes[0], 0)};
  std::vector<Range> ranges;
  int64_t longest = first.extent;
  if (lanes.size() > 1) {
    for (int64_t* lane : lanes) {
      ranges.push_back({eval_int(stmt.exprs[0], lane, 0), eval_int(stmt.exprs[1], lane, 0)});
      longest = std::max(longest, ranges.back().extent);
    }
  }
  const bool concurrent = stmt.loop_kind == LoopKind::Parallel || stmt.loop_kind == LoopKind::Bound;
  const bool watched = concurrent && options_.check_races;
  if (watched) levels_.push_back({++epoch_, 0, &stmt.own});
  // Each iteration waits for its own stores.
  Groups around;
  if (concurrent) around = std::exchange(groups_, {});
  std::vector<int64_t*> active;
  for (int64_t i = 0; i < longest; ++i) {
    if (watched) levels_.back().iteration = i;
    if (concurrent) groups_.clear();
    if (lanes.size() == 1) {
      lanes[0][stmt.slot] = first.begin + i;
      execute(stmt.children[0], lanes);
      continue;
    }
    active.clear();
    for (size_t k = 0; k < lanes.size(); ++k) {
      if (i >= ranges[k].extent) continue;
      lanes[k][stmt.slot] = ranges[k].begin + i;
      active.push_back(lanes[k]);
    }
    execute(stmt.children[0], active);
  }
  if (concurrent) groups_ = std::move(around);
  if (watched) levels_.pop_back();
}

void Machine::vectorized_loop(const StmtCode& stmt, Lanes lanes) {
  if (stmt.children.empty()) return;
  current_ = &stmt;
  std::vector<std::vector<int64_t>> values;
  for (int64_t* lane : lanes) {
    const int64_t begin = eval_int(stmt.exprs[0], lane, 0);
    const int64_t extent = eval_int(stmt.exprs[1], lane, 0);
    for (int64_t i = 0; i < extent; ++i) {
      values.emplace_back(lane, lane + code_.variables)[static_cast<size_t>(stmt.slot)] = begin + i;
    }
  }
  std::vector<int64_t*> inner;
  for (std::vector<int64_t>& lane : values) inner.push_back(lane.data());
  if (!inner.empty()) execute(stmt.children[0], inner);
}

void Machine::block(const StmtCode& stmt, Lanes lanes) {
  const auto& source = static_cast<const Block&>(*stmt.source);
  const size_t iters = stmt.iter_slots.size();
  const auto enter = [&](int64_t* lane) {
    current_ = &stmt;
    if (stmt.exprs.size() > iters && !eval_bool(stmt.exprs[iters], lane, 0)) return false;
    for (size_t i = 0; i < iters; ++i) {
      const int64_t value = eval_int(stmt.exprs[i], lane, 0);
      const IterVar& iter = source.iters[i];
      if (value < 0 || value >= iter.extent) {
        fail(fmt::format("iteration variable {} of block {} is {}, outside [0, {})", iter.var->name,
                         source.name, value, iter.extent),
             lane);
      }
      lane[stmt.iter_slots[i]] = value;
    }
    return true;
  };
  const auto is_first = [&](const int64_t* lane) {
    for (size_t i = 0; i < iters; ++i) {
      if (source.iters[i].kind == IterKind::Reduction && lane[stmt.iter_slots[i]] != 0) return false;
    }
    return true;
  };
  const auto inside = [&](Lanes entered) {
    if (stmt.has_init) execute_where(stmt.children[0], entered, is_first);
    if (stmt.children.size() > (stmt.has_init ? 1 : 0)) execute(stmt.children.back(), entered);
  };
  if (lanes.size() == 1) {
    if (enter(lanes[0])) inside(lanes);
    return;
  }
  std::vector<int64_t*> entered;
  std::copy_if(lanes.begin(), lanes.end(), std::back_inserter(entered), enter);
  if (!entered.empty()) inside(entered);
}

void Machine::branch(const StmtCode& stmt, Lanes lanes) {
  // Evaluates all lanes' conditions first, since the first side may write what they read.
  std::vector<char> holds(lanes.size());
  current_ = &stmt;
  for (size_t i = 0; i < lanes.size(); ++i) holds[i] = eval_bool(stmt.exprs[0], lanes[i], 0) ? 1 : 0;
  for (size_t side = 0; side < stmt.children.size(); ++side) {
    std::vector<int64_t*> active;
    for (size_t i = 0; i < lanes.size(); ++i) {
      if ((holds[i] != 0) == (side == 0)) active.push_back(lanes[i]);
    }
    if (!active.empty()) execute(stmt.children[side], active);
  }
}

void Machine::store(const StmtCode& stmt, Lanes lanes) {
  current_ = &stmt;
  const auto slot = static_cast<size_t>(stmt.slot);
  Storage& target = storages_[slot];
  const size_t rank = stmt.rank;
  const ExprCode& value = stmt.exprs[rank];
  const ExprCode* mask = stmt.exprs.size() > rank + 1 ? &stmt.exprs[rank + 1] : nullptr;
  int width = 1;
  for (const ExprCode& expr : stmt.exprs) width = std::max<int>(width, expr.type.lanes);

  writes_.clear();
  for (int64_t* lane : lanes) {
    for (int i = 0; i < width; ++i) {
      if (mask && !eval_bool(*mask, lane, i)) continue;
      Write write{};
      write.offset = offset_of(target, std::span(stmt.exprs).first(rank), lane, i);
      if (value.type.is_float()) {
        write.float_value = eval_float(value, lane, i);
      } else {
        write.int_value = eval_int(value, lane, i);
      }
      writes_.push_back(write);
    }
  }
  if (writes_.size() > 1 && options_.check_races) check_distinct(target, lanes[0]);
  for (const Write& write : writes_) {
    if (collecting_ == nullptr) {
      arrive(slot, write, value.type.is_float(), lanes[0]);
      continue;
    }
    // Until the store completes, the old data may be overwritten at any time.
    note_write(target, slot, write.offset, lanes[0]);
    target.clobber(write.offset);
    target.pending.resize(target.written.size());
    target.pending[write.offset] = 1;
    collecting_->push_back({slot, write});
  }
}

void Machine::check_distinct(const Storage& target, Values values) {
  std::vector<size_t> offsets;
  for (const Write& write : writes_) offsets.push_back(write.offset);
  std::sort(offsets.begin(), offsets.end());
  const auto twice = std::adjacent_find(offsets.begin(), offsets.end());
  if (twice != offsets.end()) fail(fmt::format("race: two lanes write {}", element(target, *twice)), values);
}

template <typename Visit>
void Machine::for_each_sharing(size_t slot, size_t offset, const Visit& visit) {
  const int64_t bytes = storages_[slot].buffer->dtype.bytes();
  for (const Sharer& sharer : code_.sharers[slot]) {
    Storage& other = storages_[sharer.slot];
    if (!other.alive) continue;
    const int64_t begin = static_cast<int64_t>(offset) * bytes - sharer.bytes;
    const int64_t width = other.buffer->dtype.bytes();
    const int64_t first = std::max<int64_t>(begin, 0) / width;
    const auto end = static_cast<int64_t>(other.written.size());
    for (int64_t at = first; at < end && at * width < begin + bytes; ++at)
      visit(other, static_cast<size_t>(at));
  }
}

void Machine::note_read(Storage& from, size_t slot, size_t offset, Values values) {
  if (!from.alive) fail(fmt::format("{} is used outside its allocation", from.buffer->name), values);
  if (from.is_pending(offset))
    fail(fmt::format("{} is read before the store to it is waited for", element(from, offset)), values);
  if (!from.is_written(offset)) {
    fail(fmt::format("{} is read before anything was written there", element(from, offset)), values);
  }
  touch_to_read(from, slot, offset, values);
  if (code_.sharers[slot].empty()) return;
  for_each_sharing(slot, offset, [&](Storage& other, size_t at) { check_ordered(other, at, false, values); });
}

void Machine::touch_to_read(Storage& from, size_t slot, size_t offset, Values values) {
  for (size_t depth = from.level; depth < levels_.size(); ++depth) {
    const Level& level = levels_[depth];
    Touches& touched = from.touches(depth, offset);
    if (touched.epoch != level.epoch) touched = {level.epoch, Touches::kNobody, Touches::kNobody};
    // Where each iteration has its own buffer, it cannot see another iteration's data.
    if (touched.writer != Touches::kNobody && touched.writer != level.iteration) {
      fail(fmt::format("race: {} of a parallel loop reads {}, which {} {}", name_of(level.iteration),
                       element(from, offset), name_of(touched.writer),
                       (*level.own)[slot] ? "wrote in its own copy" : "wrote"),
           values);
    }
    if (touched.reader == Touches::kNobody) {
      touched.reader = level.iteration;
    } else if (touched.reader != level.iteration) {
      touched.reader = Touches::kSeveral;
    }
  }
}

void Machine::note_write(Storage& to, size_t slot, size_t offset, Values values) {
  if (!to.alive) fail(fmt::format("{} is used outside its allocation", to.buffer->name), values);
  if (to.read_only) fail(fmt::format("{} is written, and is an input", element(to, offset)), values);
  if (to.is_pending(offset))
    fail(fmt::format("{} is written while an asynchronous store to it is under way", element(to, offset)),
         values);
  touch_to_write(to, slot, offset, values);
  if (code_.sharers[slot].empty()) return;
  for_each_sharing(slot, offset, [&](Storage& other, size_t at) {
    if (other.is_pending(at))
      fail(fmt::format("{} is written where an asynchronous store to {} is under way", element(to, offset),
                       element(other, at)),
           values);
    check_ordered(other, at, true, values);
    other.clobber(at);
  });
}

void Machine::check_ordered(Storage& other, size_t offset, bool writes, Values values) {
  for (size_t depth = other.level; depth < levels_.size(); ++depth) {
    const Level& level = levels_[depth];
    const Touches& touched = other.touches(depth, offset);
    if (touched.epoch != level.epoch) continue;
    const bool written = touched.writer != Touches::kNobody && touched.writer != level.iteration;
    const bool read = touched.reader != Touches::kNobody && touched.reader != level.iteration;
    if (written || (writes && read)) {
      fail(fmt::format("race: {} of a parallel loop {} bytes of {}, which another iteration {}",
                       name_of(level.iteration), writes ? "writes" : "reads", element(other, offset),
                       written ? "wrote" : "reads"),
           values);
    }
  }
}

void Machine::touch_to_write(Storage& to, size_t slot, size_t offset, Values values) {
  for (size_t depth = to.level; depth < levels_.size(); ++depth) {
    const Level& level = levels_[depth];
    Touches& touched = to.touches(depth, offset);
    if (touched.epoch != level.epoch) touched = {level.epoch, Touches::kNobody, Touches::kNobody};
    if (!(*level.own)[slot]) {
      if (touched.writer != Touches::kNobody && touched.writer != level.iteration) {
        fail(fmt::format("race: {} and {} of a parallel loop write {}", name_of(touched.writer),
                         name_of(level.iteration), element(to, offset)),
             values);
      }
      if (touched.reader != Touches::kNobody && touched.reader != level.iteration) {
        fail(fmt::format("race: {} of a parallel loop writes {}, which another iteration reads",
                         name_of(level.iteration), element(to, offset)),
             values);
      }
    }
    touched.writer = level.iteration;
  }
}

void Machine::fail(const std::string& what, Values values) const {
  const Stmt& source = *current_->source;
  std::string known;
  for (size_t slot = 0; slot < code_.variable_of.size(); ++slot) {
    bool used = false;
    visit_exprs(source, [&](const Expr& expr) {
      used = used || any_of_expr(expr, [&](const Expr& e) { return e.get() == code_.variable_of[slot]; });
    });
    if (used) {
      known += fmt::format("{}{} = {}", known.empty() ? " where " : ", ", code_.variable_of[slot]->name,
                           values[slot]);
    }
  }
  std::string text = to_string(source);
  text.resize(text.find('\n'));
  throw InterpreterError(fmt::format("{}; in: {}{}", what, text, known));
}

std::string Machine::name_of(int64_t iteration) {
  return iteration > kGroups ? fmt::format("iteration {}", iteration)
                             : fmt::format("the group of iteration {}", kGroups - iteration);
}

std::string Machine::element(const Storage& target, size_t offset) {
  std::vector<int64_t> indices(target.buffer->shape.size());
  auto rest = static_cast<int64_t>(offset);
  for (size_t d = 0; d < indices.size(); ++d) {
    indices[d] = rest / target.strides[d];
    rest %= target.strides[d];
  }
  return fmt::format("{}[{}]", target.buffer->name, fmt::join(indices, ", "));
}

}  // namespace tunesmith::interp

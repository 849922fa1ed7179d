// Consecutive loops bound to the threads of a block become pieces of one
// program that all threads run, with barriers in between (passes.h).
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "launch.h"
#include "passes.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// Buffers accessed since the last barrier, without those whose elements each belong to one thread.
struct Touched {
  std::set<const BufferNode*> read;
  std::set<const BufferNode*> written;

  void add(const Touched& other) {
    read.insert(other.read.begin(), other.read.end());
    written.insert(other.written.begin(), other.written.end());
  }
};

bool intersect(const std::set<const BufferNode*>& a, const std::set<const BufferNode*>& b) {
  return std::ranges::any_of(a, [&](const BufferNode* one) { return b.contains(one); });
}

/// Must `later` wait until all threads have finished `earlier`?
bool must_wait(const Touched& earlier, const Touched& later) {
  return intersect(earlier.written, later.written) || intersect(earlier.written, later.read) ||
         intersect(earlier.read, later.written);
}

/// The accesses of a sequence of pieces that other pieces may have to wait for.
struct Progress {
  Touched head;  // before its first barrier
  Touched tail;  // since its last one
  bool met_barrier = false;

  void touch(const Touched& touched) {
    if (!met_barrier) head.add(touched);
    tail.add(touched);
  }
  void meet() {
    met_barrier = true;
    tail = {};
  }
  /// Appends pieces that always run.
  void run(const Progress& pieces) {
    if (!met_barrier) head.add(pieces.head);
    if (pieces.met_barrier) meet();
    tail.add(pieces.tail);
  }
};

/// Puts the pieces of one launch together.
class Joiner {
 public:
  explicit Joiner(const Launch& launch) : launch_(launch) {}

  /// Joins the statements inside the launch's loops and removes the loops over threads.
  StmtPtr join(StmtPtr body) {
    Progress progress;
    return joined(std::move(body), {}, progress);
  }

 private:
  /// Extents of the thread loops around a statement, by position in Launch::threads().
  using Bound = std::map<size_t, int64_t>;

  StmtPtr joined(StmtPtr stmt, const Bound& bound, Progress& progress) {
    if (!launch_.falls_apart(*stmt)) return piece(std::move(stmt), bound, progress);
    if (Seq* seq = stmt->as<Seq>()) {
      auto result = std::make_unique<Seq>();
      while (!seq->children().empty()) result->append(joined(seq->remove(0), bound, progress));
      return result;
    }
    if (stmt->kind == StmtKind::If) return branch(std::move(stmt), bound, progress);
    Loop* loop = stmt->as<Loop>();
    check_invariant(loop != nullptr, "what holds a loop is a sequence, a branch or a loop");
    const auto axis = launch_.thread_axis(*loop);
    if (!axis) return serial_loop(std::move(stmt), bound, progress);
    Bound inside = bound;
    inside[*axis] = loop->const_extent();
    return joined(loop->take_body(), inside, progress);
  }

  /// Joins a statement that is a single piece: only the threads
  /// that it is for run it. All members of a group run its calls.
  StmtPtr piece(StmtPtr stmt, const Bound& bound, Progress& progress) {
    const Touched touched = touched_in(*stmt);
    auto result = after_barrier(touched, progress);
    progress.touch(touched);
    Expr condition = bool_imm(true);
    const Launch::GroupCall* call = launch_.call_in(*stmt);
    for (size_t axis = 0; axis < launch_.threads().size(); ++axis) {
      const IterDomain& all = launch_.threads()[axis].domain;
      if (call != nullptr && launch_.threads()[axis].axis.level > call->level) continue;
      const auto own = bound.find(axis);
      if (own == bound.end() && all.extent > 1) condition = logical_and(condition, eq(all.var, 0));
      if (own != bound.end() && own->second < all.extent)
        condition = logical_and(condition, lt(all.var, own->second));
    }
    if (!is_const_int(condition, 1)) stmt = std::make_unique<If>(condition, std::move(stmt));
    result->append(std::move(stmt));
    return result;
  }

  /// A loop that all threads iterate together.
  StmtPtr serial_loop(StmtPtr stmt, const Bound& bound, Progress& progress) {
    Loop& loop = *stmt->as<Loop>();
    if (loop.loop_kind != LoopKind::Serial && loop.loop_kind != LoopKind::Unrolled)
      Launch::refuse("a concurrent loop stands around loops over threads", loop.var->name);
    Progress inside;
    auto body = std::make_unique<Seq>();
    body->append(joined(loop.take_body(), bound, inside));
    // The next iteration may begin while other threads finish this one.
    if (loop.const_extent() > 1 && must_wait(inside.tail, inside.head)) {
      body->append(barrier());
      inside.meet();
    }
    loop.set_body(std::move(body));
    // Accesses after the loop's first barrier need no barrier before the loop.
    auto result = after_barrier(inside.head, progress);
    progress.run(inside);
    result->append(std::move(stmt));
    return result;
  }

  StmtPtr branch(StmtPtr stmt, const Bound& bound, Progress& progress) {
    If& branch = *stmt->as<If>();
    const Touched all = touched_in(branch);
    auto result = after_barrier(all, progress);
    bool met_barrier = false;
    const auto side = [&](Stmt& child) {
      Progress inside;
      StmtPtr now = joined(replace(child, std::make_unique<Seq>()), bound, inside);
      met_barrier = met_barrier || inside.met_barrier;
      return now;
    };
    branch.set_then(side(*branch.then_case()));
    if (branch.else_case() != nullptr) branch.set_else(side(*branch.else_case()));
    if (met_barrier && launch_.differs_between_threads(branch.condition))
      Launch::refuse("a barrier would stand under a condition that differs between threads",
                     to_string(branch.condition));
    // The branch may not be taken, so its barriers do not count.
    progress.touch(all);
    result->append(std::move(stmt));
    return result;
  }

  /// A sequence that begins with a barrier if `next` must wait for one.
  std::unique_ptr<Seq> after_barrier(const Touched& next, Progress& progress) const {
    auto result = std::make_unique<Seq>();
    if (!must_wait(progress.tail, next)) return result;
    result->append(barrier());
    progress.meet();
    return result;
  }

  StmtPtr barrier() const { return std::make_unique<Barrier>(launch_.thread_level()); }

  Touched touched_in(const Stmt& stmt) const {
    Touched touched;
    walk_accesses(stmt, [&](const Stmt&, const AccessSite& access) {
      if (!launch_.is_ordered(access.buffer)) return;
      (access.load == nullptr ? touched.written : touched.read).insert(access.buffer.get());
    });
    return touched;
  }

  const Launch& launch_;
};

/// Removes the statement and inserts the result of `make` in its place.
template <typename Make>
void remake(Stmt& stmt, const Make& make) {
  Stmt& parent = *stmt.parent;
  if (Loop* loop = parent.as<Loop>()) return loop->set_body(make(loop->take_body()));
  Seq& seq = *parent.as<Seq>();
  const size_t position = seq.index_of(stmt);
  seq.insert(position, make(seq.remove(position)));
}

void join_launch(Program& program, BlockFacts& facts, const LowerOptions& options, Stmt& root_statement) {
  Launch launch(program, facts, options, root_statement);
  launch.settle_buffers();
  for (const Buffer& buffer : program.buffers()) {
    if (launch.is_ordered(buffer)) facts.ordered.push_back(buffer);
  }
  if (launch.threads().empty()) return;
  remake(launch.body(), [&](StmtPtr body) {
    StmtPtr nest = Joiner(launch).join(std::move(body));
    for (size_t i = launch.threads().size(); i-- > 0;) {
      const Launch::ThreadAxis& thread = launch.threads()[i];
      auto loop = program.make_loop(thread.domain.var, thread.domain.extent, std::move(nest));
      loop->loop_kind = LoopKind::Bound;
      loop->thread = thread.name;
      nest = std::move(loop);
    }
    return nest;
  });
}

}  // namespace

void join_threads(Program& program, BlockFacts& facts, const LowerOptions& options) {
  if (options.execution.first_synchronising() == options.execution.levels.size()) return;
  std::vector<Stmt*> launches;
  for (const StmtPtr& child : program.root().children()) launches.push_back(child.get());
  for (Stmt* launch : launches) join_launch(program, facts, options, *launch);
}

}  // namespace tunesmith

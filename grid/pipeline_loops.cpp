// Makes a loop fetch data iterations ahead of their use (passes.h).
#include <algorithm>
#include <numeric>
#include <optional>

#include "bulk_copy.h"
#include "passes.h"
#include "tunesmith/analysis/barriers.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/fresh_copy.h"
#include "tunesmith/ir/move_accesses.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

[[noreturn]] void refuse(std::string_view reason, const std::string& detail) {
  throw LowerError("pipeline_loops", reason, detail);
}

bool is_to_be_pipelined(const Loop& loop) { return loop.annotations.contains(kSoftwarePipeline); }

bool is_barrier(const Stmt& stmt) { return stmt.kind == StmtKind::Barrier; }
bool is_call(const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); }

/// The loop's statements, inside the allocations around them.
Seq& body_of(const Loop& loop) {
  Stmt* body = loop.body();
  while (true) {
    Seq* seq = body->as<Seq>();
    if (Allocate* allocate = body->as<Allocate>()) {
      body = allocate->body();
    } else if (seq != nullptr && seq->children().size() == 1) {
      body = seq->children().front().get();
    } else if (seq != nullptr) {
      return *seq;
    } else {
      refuse("the loop to be pipelined has one statement only", loop.var->name);
    }
  }
}

bool stores_into(const Stmt& stmt, const Buffer& buffer) {
  return find_first<Store>(stmt, [&](const Store& store) { return store.buffer == buffer; }) != nullptr;
}

/// A buffer that is filled iterations ahead of its use, and its replacement.
struct Fetched {
  Buffer buffer;
  Buffer versions;
};

/// Pipelines one loop.
class LoopPipeline {
 public:
  LoopPipeline(Program& program, const BlockFacts& facts, const LowerOptions& options, Loop& loop)
      : program_(program), facts_(facts), options_(options), model_(options.execution), loop_(loop) {}

  void run() {
    const int64_t wanted = std::get<int64_t>(loop_.annotations.at(kSoftwarePipeline));
    if (loop_.loop_kind != LoopKind::Serial && loop_.loop_kind != LoopKind::Unrolled)
      refuse("the loop to be pipelined is not serial", loop_.var->name);
    if (!is_const_int(loop_.min, 0) || !loop_.extent.is(ExprKind::IntImm))
      refuse("how often the loop to be pipelined runs is not known", loop_.var->name);
    keep_across_iterations();
    body_ = &body_of(loop_);
    find_fetches();
    stages_ = std::min(wanted, loop_.const_extent());
    if (stages_ < 2) {
      if (producer() != nullptr) refuse("a loop with a producer of its own runs once", loop_.var->name);
      loop_.annotations.erase(kSoftwarePipeline);
      return;
    }
    loop_.annotations[kSoftwarePipeline] = stages_;
    find_threads();
    if (producer() != nullptr) return give_to_producer(producer()->axis);
    // For the statements after the loop, the barrier at the end of its body is a barrier, too.
    if (!level_.empty() && is_waited_for()) insert_after(loop_, std::make_unique<Barrier>(level_));
    make_versions();
    rebuild();
  }

 private:
  const BlockFacts::ProducerLoop* producer() const {
    const auto found = std::ranges::find(facts_.producer_loops, &loop_, &BlockFacts::ProducerLoop::loop);
    return found == facts_.producer_loops.end() ? nullptr : &*found;
  }

  bool is_shared(const Buffer& buffer) const {
    const MemoryScope* scope = model_.find_scope(buffer->scope);
    const size_t depth = scope == nullptr ? 0 : model_.depth_of(*scope);
    return depth > 0 && depth <= model_.first_synchronising();
  }

  bool is_fetched(const Buffer& buffer) const {
    return std::ranges::any_of(fetched_, [&](const Fetched& one) { return one.buffer == buffer; });
  }

  bool is_remade(const Buffer& buffer) const {
    return std::ranges::any_of(facts_.privatised, [&](const BlockFacts::Privatised& remade) {
      return remade.buffer == buffer && remade.loop == &loop_;
    });
  }

  /// Does it only fill buffers that each iteration fills anew, from data that the loop does not write?
  bool fetches(const Stmt& stmt) const {
    bool only =
        find_first<Store>(stmt) != nullptr && find_first<Allocate>(stmt) == nullptr && !has_barrier(stmt);
    walk_accesses(stmt, [&](const Stmt&, const AccessSite& access) {
      only = only && (access.load == nullptr ? is_shared(access.buffer) && is_remade(access.buffer)
                                             : !stores_into(loop_, access.buffer));
    });
    // Groups of threads may execute calls, which the body of an asynchronous copy does not support.
    return only && find_first<Loop>(stmt, [&](const Loop& loop) {
                     return is_to_be_pipelined(loop) || (is_call(loop) && !is_bulk_copy(loop, options_));
                   }) == nullptr;
  }

  /// Buffers used by one thread only are allocated in the loop and must outlive its iterations.
  void keep_across_iterations() {
    const auto is_inside = [&](const Allocate& one) {
      return is_shared(one.buffer) && is_remade(one.buffer);
    };
    for (Allocate* inside = find_first<Allocate>(*loop_.body(), is_inside); inside != nullptr;
         inside = find_first<Allocate>(*loop_.body(), is_inside)) {
      auto outside = std::make_unique<Allocate>(inside->buffer, std::make_unique<Seq>());
      StmtPtr body = inside->take_body();
      replace(*inside, std::move(body));
      Seq& around = *outside->body()->as<Seq>();
      around.append(replace(loop_, std::move(outside)));
    }
  }

  void find_fetches() {
    const std::vector<StmtPtr>& children = body_->children();
    while (fetch_end_ < children.size() &&
           (is_barrier(*children[fetch_end_]) || fetches(*children[fetch_end_])))
      ++fetch_end_;
    for (size_t i = 0; i < fetch_end_; ++i) {
      for (const Store* store : collect<Store>(*children[i])) {
        if (!is_fetched(store->buffer)) fetched_.push_back({store->buffer, {}});
      }
    }
    if (fetched_.empty())
      refuse(
          "the loop to be pipelined does not begin with statements that only fill memory that threads share",
          loop_.var->name);
    if (fetch_end_ == children.size()) refuse("the loop to be pipelined only fills memory", loop_.var->name);
    for (size_t i = fetch_end_; i < children.size(); ++i) {
      for (const Fetched& one : fetched_) {
        if (stores_into(*children[i], one.buffer))
          refuse("the loop to be pipelined writes what it has fetched", one.buffer->name);
      }
    }
    for (const Fetched& one : fetched_) {
      walk_accesses(program_.root(), [&](const Stmt& stmt, const AccessSite& access) {
        if (access.buffer == one.buffer && !is_ancestor(loop_, stmt))
          refuse("what the loop to be pipelined fetches is used outside of it", one.buffer->name);
      });
    }
  }

  /// Finds the enclosing loops over threads, all of which reach the loop.
  void find_threads() {
    for (const Stmt* at = loop_.parent; at != nullptr; at = at->parent) {
      const Loop* around = at->as<Loop>();
      if (around == nullptr) continue;
      const bool bound = around->loop_kind == LoopKind::Bound;
      const auto axis = bound ? model_.find_axis(around->thread) : std::nullopt;
      if (axis && axis->level >= model_.first_synchronising()) {
        level_ = model_.levels[axis->level].name;
        thread_vars_.push_back(around->var);
        outermost_ = around;
      } else if (!bound) {
        repeated_ = true;
      }
    }
    if (!threads_meet()) level_.clear();
    for (const Stmt* at = loop_.parent; at != nullptr && !level_.empty(); at = at->parent) {
      const If* branch = at->as<If>();
      if (branch == nullptr) continue;
      const bool differs =
          any_of_expr(branch->condition, [](const Expr& part) { return part.is(ExprKind::Load); });
      if (differs || tells_threads(branch->condition))
        refuse("not all threads come to the loop to be pipelined", loop_.var->name);
    }
  }

  /// Does another statement of the launch follow the loop?
  bool is_followed() const {
    for (const Stmt* at = &loop_; at->parent->parent != nullptr; at = at->parent) {
      const Seq* around = at->parent->as<Seq>();
      if (around != nullptr && around->children().back().get() != at) return true;
    }
    return false;
  }

  /// Does an iteration wait for other threads?
  bool threads_meet() const {
    bool meet = is_barrier(*body_->children().back());
    for (size_t i = 0; i < fetch_end_; ++i) meet = meet || is_barrier(*body_->children()[i]);
    for (const Fetched& one : fetched_) meet = meet || contains(facts_.ordered, one.buffer);
    return meet;
  }

  /// Must threads that leave the loop wait for those still in its last iteration?
  bool is_waited_for() const {
    // The next round begins to fill all versions but the last.
    if (repeated_ && loop_.const_extent() % stages_ != 0) return true;
    bool waited_for = false;
    if (!repeated_ && !is_followed()) return false;
    for (size_t i = fetch_end_; i < body_->children().size(); ++i) {
      walk_accesses(*body_->children()[i], [&](const Stmt&, const AccessSite& access) {
        waited_for = waited_for || (!is_fetched(access.buffer) && contains(facts_.ordered, access.buffer));
      });
    }
    return waited_for;
  }

  void make_versions() {
    asynchronous_ = true;
    for (Fetched& one : fetched_) {
      const Buffer& buffer = one.buffer;
      const MemoryScope& scope = *model_.find_scope(buffer->scope);
      asynchronous_ = asynchronous_ && !scope.async_copy_bytes.empty();
      // Each version begins at a valid alignment.
      const int64_t unit =
          std::lcm<int64_t>(scope.alignment_of(*buffer), buffer->dtype.bytes()) / buffer->dtype.bytes();
      std::vector<int64_t> shape{stages_};
      std::vector<int64_t> strides{(buffer->span() + unit - 1) / unit * unit};
      const std::vector<int64_t> own = buffer->effective_strides();
      shape.insert(shape.end(), buffer->shape.begin(), buffer->shape.end());
      strides.insert(strides.end(), own.begin(), own.end());
      one.versions = make_buffer(buffer->name, buffer->dtype, std::move(shape), buffer->scope, false,
                                 std::move(strides), buffer->swizzle);
      Allocate* allocate =
          find_first<Allocate>(program_.root(), [&](const Allocate& at) { return at.buffer == buffer; });
      check_invariant(allocate != nullptr, "what is fetched has a place");
      allocate->buffer = one.versions;
    }
  }

  void use_version(Stmt& stmt, const Expr& version) const {
    for (const Fetched& one : fetched_) {
      move_accesses(stmt, one.buffer, one.versions, [&](const Stmt&, std::span<const Expr> indices) {
        std::vector<Expr> result{version};
        result.insert(result.end(), indices.begin(), indices.end());
        return result;
      });
    }
  }

  /// The fetches of an iteration.
  StmtPtr fetch_for(const Expr& iteration, const Expr& version) const {
    auto copies = std::make_unique<Seq>();
    for (const StmtPtr& fetch : fetches_) {
      Substitution map;
      map.set(loop_.var, iteration);
      copies->append(fresh_copy(program_, *fetch, &map));
    }
    use_version(*copies, version);
    return copies;
  }

  StmtPtr group(StmtPtr body) const {
    if (!asynchronous_) return body;
    return std::make_unique<AsyncGroup>(std::move(body));
  }

  bool tells_threads(const Expr& expr) const {
    return any_of_expr(expr, [&](const Expr& part) {
      return std::ranges::any_of(thread_vars_, [&](const Var& var) { return part.get() == var.get(); });
    });
  }

  /// The statements under the condition, if it guards everything and `drops` holds for it.
  template <class Drops>
  static StmtPtr without_condition(StmtPtr stmt, const Drops& drops) {
    for (Seq* seq = stmt->as<Seq>(); seq != nullptr && seq->children().size() == 1; seq = stmt->as<Seq>()) {
      StmtPtr only = seq->remove(0);
      stmt = std::move(only);
    }
    If* branch = stmt->as<If>();
    if (branch == nullptr || branch->else_case() != nullptr || !drops(branch->condition)) return stmt;
    return replace(*branch->then_case(), std::make_unique<Seq>());
  }

  /// The work of the single fetching thread in the joined program.
  StmtPtr without_thread(StmtPtr fetch) const {
    fetch = without_condition(std::move(fetch), [&](const Expr& one) { return tells_threads(one); });
    bool told = false;
    walk_exprs(*fetch, [&](const Expr& expr) { told = told || tells_threads(expr); });
    if (told) refuse("what a producer fetches is distributed over threads", loop_.var->name);
    if (find_first<If>(*fetch) != nullptr) refuse("what a producer fetches has a condition", loop_.var->name);
    for (const Store* store : collect<Store>(*fetch)) {
      const auto loops = loops_above(*store);
      if (std::ranges::none_of(loops, [&](const Loop* loop) { return is_bulk_copy(*loop, options_); }))
        refuse("a producer fetches by other means than bulk copies, too", store->buffer->name);
    }
    return fetch;
  }

  /// Consumers release what they have read as a group, so only its calls may read it.
  void check_consumers() const {
    const std::vector<StmtPtr>& children = body_->children();
    for (size_t i = fetch_end_; i < children.size(); ++i) {
      if (has_barrier(*children[i]) && i + 1 < children.size())
        refuse("the consumers of a producer meet at barriers of their own", loop_.var->name);
      walk_accesses(*children[i], [&](const Stmt& stmt, const AccessSite& access) {
        if (!is_fetched(access.buffer)) return;
        const auto loops = loops_above(stmt);
        if (std::ranges::none_of(loops,
                                 [](const Loop* loop) { return loop->annotations.contains(kTogetherAlong); }))
          refuse("what a producer fetches is read otherwise than by calls of groups", access.buffer->name);
      });
    }
    if (repeated_) refuse("a loop with a producer of its own is met more than once", loop_.var->name);
    if (!is_barrier(*children.back()))
      refuse("a loop with a producer of its own does not end with a barrier", loop_.var->name);
  }

  /// Makes the body a Handover from a producer to the others.
  void give_to_producer(const std::string& axis) {
    check_consumers();
    make_versions();
    auto fetches = std::make_unique<Seq>();
    for (size_t i = 0; i < fetch_end_; ++i) {
      StmtPtr child = body_->remove(0);
      if (!is_barrier(*child)) fetches->append(without_thread(std::move(child)));
    }
    const Expr last = outermost_->const_extent() - 1;
    Expr producer = eq(outermost_->var, last);
    for (const Var& var : thread_vars_) {
      if (var != outermost_->var) producer = logical_and(producer, eq(var, 0));
    }
    const Expr consumers = lt(outermost_->var, last);
    auto rest = std::make_unique<Seq>();
    while (body_->children().size() > 1) {
      StmtPtr child = body_->remove(0);
      rest->append(
          without_condition(std::move(child), [&](const Expr& one) { return equal(one, consumers); }));
    }
    use_version(*fetches, floormod(loop_.var, stages_));
    use_version(*rest, floormod(loop_.var, stages_));
    body_->remove(0);  // the barrier at the end, which the Handover contains
    body_->append(std::make_unique<Handover>(axis, stages_,
                                             std::make_unique<If>(producer, std::move(fetches)),
                                             std::make_unique<If>(consumers, std::move(rest))));
    loop_.loop_kind = LoopKind::Serial;
  }

  void rebuild() {
    for (size_t i = 0; i < fetch_end_; ++i) {
      StmtPtr child = body_->remove(0);
      if (!is_barrier(*child)) fetches_.push_back(std::move(child));
    }
    // The barrier at the beginning of the next iteration replaces the one at the end.
    if (is_barrier(*body_->children().back()) && !level_.empty()) body_->remove(body_->children().size() - 1);
    use_version(*body_, floormod(loop_.var, stages_));

    const Expr ahead = loop_.var + (stages_ - 1);
    StmtPtr next =
        group(std::make_unique<If>(lt(ahead, loop_.extent), fetch_for(ahead, floormod(ahead, stages_))));
    auto begin = std::make_unique<Seq>();
    if (asynchronous_) begin->append(std::make_unique<AsyncWait>(stages_ - 2));
    if (!level_.empty()) begin->append(std::make_unique<Barrier>(level_));
    begin->append(std::move(next));
    body_->insert(0, std::move(begin));
    for (int64_t stage = 0; stage + 1 < stages_; ++stage)
      insert_before(loop_, group(fetch_for(stage, stage)));
  }

  Program& program_;
  const BlockFacts& facts_;
  const LowerOptions& options_;
  const ExecutionModel& model_;
  Loop& loop_;
  Seq* body_ = nullptr;
  size_t fetch_end_ = 0;  // statements of the body before it are fetches, or barriers between fetches
  std::vector<Fetched> fetched_;
  std::vector<StmtPtr> fetches_;
  int64_t stages_ = 0;
  std::string level_;  // its iterations synchronise at barriers; "": only one thread
  std::vector<Var> thread_vars_;
  const Loop* outermost_ = nullptr;  // the outermost loop over threads
  bool repeated_ = false;            // each thread runs the loop several times, in an enclosing loop
  bool asynchronous_ = false;
};

}  // namespace

void pipeline_loops(Program& program, const BlockFacts& facts, const LowerOptions& options) {
  for (Loop* loop : collect<Loop>(program.root(), is_to_be_pipelined))
    LoopPipeline(program, facts, options, *loop).run();
}

}  // namespace tunesmith

#include "text/produced_loop.h"

#include <algorithm>
#include <vector>

#include "machine/execution.h"
#include "text/written_steps.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith::cuda {
namespace {

/// The statements of one side of the handover, under its common condition.
const If& conditional(const Stmt& side) {
  const Stmt* at = &side;
  for (const Seq* seq = at->as<Seq>(); seq != nullptr && seq->children().size() == 1; seq = at->as<Seq>())
    at = seq->children().front().get();
  check_invariant(at->kind == StmtKind::If, "each side of a handover is for some of the threads");
  return *at->as<If>();
}

/// Of a block and a thread. setmaxnreg gives registers in units of 8; what a copying thread needs fits 32.
constexpr int64_t kRegistersOfBlock = 65536, kRegisterUnit = 8, kRegistersOfProducer = 32;

int64_t whole_units(int64_t registers) { return registers / kRegisterUnit * kRegisterUnit; }

template <class Holds>
bool any_of_conjunction(const Expr& condition, const Holds& holds) {
  if (!condition.is(ExprKind::And)) return holds(condition);
  return any_of_conjunction(condition.arg(0), holds) || any_of_conjunction(condition.arg(1), holds);
}

/// How often the statement runs in one iteration of the enclosing loop.
int64_t times_in(const Loop& around, const Stmt& stmt) {
  int64_t times = 1;
  for (const Loop* loop : loops_above(stmt))
    if (is_ancestor(around, *loop) && loop != &around) times *= loop->const_extent();
  return times;
}

}  // namespace

bool has_producer(const Loop& loop) { return handover_of(loop) != nullptr; }

std::optional<SharedRegisters> shared_registers(int64_t consumers) {
  const int64_t groups = consumers + 1;
  const int64_t at_launch =
      whole_units(std::min<int64_t>(kRegistersOfBlock / (groups * kWarpgroup), kMaxRegistersOfThread));
  const int64_t of_consumer = whole_units((at_launch * groups - kRegistersOfProducer) / consumers);
  if (of_consumer > kMaxRegistersOfThread || of_consumer <= at_launch) return std::nullopt;
  return SharedRegisters{at_launch * groups - of_consumer * consumers, of_consumer};
}

ProducedLoop::ProducedLoop(const Loop& loop)
    : loop_(loop),
      handover_(*handover_of(loop)),
      fetch_(&conditional(*handover_.produce())),
      rest_(&conditional(*handover_.consume())) {
  find_threads();
  count_fetched();
  count_calls();
}

Expr ProducedLoop::version() const { return floormod(loop_.var, handover_.versions); }

void ProducedLoop::find_threads() {
  first_thread_ = first_of_group_ = bool_imm(true);
  for (const Loop* around : loops_above(loop_)) {
    if (around->loop_kind != LoopKind::Bound || grid_axis(around->thread).of_block) continue;
    const Expr first = eq(around->var, 0);
    first_thread_ = logical_and(first_thread_, first);
    if (around->thread != handover_.axis) {
      first_of_group_ = logical_and(first_of_group_, first);
    } else {
      consumers_ = around->const_extent() - 1;
      is_producer_ = eq(around->var, consumers_);
    }
  }
}

void ProducedLoop::check_parts(const Stmt& body) const {
  for (const Stmt* at = loop_.parent; at != body.parent; at = at->parent) {
    if (at->kind != StmtKind::Seq && at->kind != StmtKind::Allocate)
      throw LowerError("cuda", "a loop with a producer is not always come to, or more than once",
                       loop_.var->name);
  }
  walk(body, [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::Store || is_ancestor(loop_, stmt)) return;
    const Stmt* at = &stmt;
    while (at != &body && !is_for_consumers(*at)) at = at->parent;
    if (at == &body)
      throw LowerError("cuda", "a producer does more than to fetch", stmt.as<Store>()->buffer->name);
  });
}

/// Is the statement for threads of other groups than the producer's?
bool ProducedLoop::is_for_consumers(const Stmt& stmt) const {
  const If* branch = stmt.parent->as<If>();
  return branch != nullptr && branch->then_case() == &stmt &&
         any_of_conjunction(branch->condition, [&](const Expr& one) {
           int64_t value = 0;
           if (one.args().size() != 2 || !one.arg(0).same_as(is_producer_.arg(0)) ||
               !as_const_int(one.arg(1), &value))
             return false;
           return one.is(ExprKind::Lt) ? value <= consumers_ : one.is(ExprKind::Eq) && value < consumers_;
         });
}

void ProducedLoop::count_fetched() {
  for (const Loop* call : collect<Loop>(*fetch_, is_call)) {
    const Buffer& filled = tensor_call(*call).intrinsic->operands[0].buffer;
    fetched_bytes_ += times_in(loop_, *call) * filled->bytes();
  }
}

void ProducedLoop::count_calls() {
  size_t called = 0;
  for (const Loop* call : collect<Loop>(*rest_, is_call)) {
    const std::string& after = tensor_call(*call).intrinsic->implementations.at("cuda").after;
    if (after.find("pending") == std::string::npos || (!waits_.empty() && after != waits_))
      throw LowerError("cuda", "the calls behind a producer do not run on", loop_.var->name);
    waits_ = after;
    calls_ += times_in(loop_, *call);
    called += collect<Store>(*call).size();
  }
  if (called == 0 || called != collect<Store>(*rest_).size() ||
      find_first<If>(*rest_->then_case()) != nullptr)
    throw LowerError("cuda", "consumers of a producer do more than calls, or not always the same",
                     loop_.var->name);
}

}  // namespace tunesmith::cuda

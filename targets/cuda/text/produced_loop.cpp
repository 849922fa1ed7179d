#include "text/produced_loop.h"

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

/// How often the statement runs in one iteration of the enclosing loop.
int64_t times_in(const Loop& around, const Stmt& stmt) {
  int64_t times = 1;
  for (const Loop* loop : loops_above(stmt))
    if (is_ancestor(around, *loop) && loop != &around) times *= loop->const_extent();
  return times;
}

}  // namespace

bool has_producer(const Loop& loop) { return handover_of(loop) != nullptr; }

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
    }
  }
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

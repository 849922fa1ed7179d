#include "produced_loop.h"

#include <vector>

#include "execution.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/lower.h"
#include "written_steps.h"

namespace tunesmith::cuda {
namespace {

void flatten_into(const Stmt& stmt, std::vector<const Stmt*>& parts) {
  if (stmt.kind != StmtKind::Seq) return parts.push_back(&stmt);
  visit_children(stmt, [&](const Stmt& child) { flatten_into(child, parts); });
}

/// How often the statement runs in one iteration of the loop around.
int64_t times_in(const Loop& around, const Stmt& stmt) {
  int64_t times = 1;
  for (const Loop* loop : loops_above(stmt))
    if (is_ancestor(around, *loop) && loop != &around) times *= loop->const_extent();
  return times;
}

}  // namespace

bool has_producer(const Loop& loop) { return loop.annotations.contains(kProducer); }

ProducedLoop::ProducedLoop(const Loop& loop)
    : loop_(loop), versions_(std::get<int64_t>(loop.annotations.at(kSoftwarePipeline))) {
  std::vector<const Stmt*> parts;
  flatten_into(*loop.body(), parts);
  const bool known = parts.size() == 4 && parts[0]->kind == StmtKind::If &&
                     parts[1]->kind == StmtKind::Barrier && parts[2]->kind == StmtKind::If &&
                     parts[3]->kind == StmtKind::Barrier;
  check_invariant(known, "a loop with a producer is what this does, a barrier, the rest, a barrier");
  fetch_ = parts[0]->as<If>();
  rest_ = parts[2]->as<If>();
  find_threads();
  count_fetched();
  count_calls();
}

Expr ProducedLoop::version() const { return floormod(loop_.var, versions_); }

void ProducedLoop::find_threads() {
  const auto& axis = std::get<std::string>(loop_.annotations.at(kProducer));
  first_thread_ = first_of_group_ = bool_imm(true);
  for (const Loop* around : loops_above(loop_)) {
    if (around->loop_kind != LoopKind::Bound || grid_axis(around->thread).of_block) continue;
    const Expr first = eq(around->var, 0);
    first_thread_ = logical_and(first_thread_, first);
    if (around->thread != axis) {
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

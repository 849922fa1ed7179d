#include <algorithm>

#include "tunesmith/ir/fresh_copy.h"
#include "tunesmith/ir/move_accesses.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

[[noreturn]] void refuse(std::string_view reason, const Buffer& buffer) {
  throw LowerError("double_buffers", reason, buffer->name);
}

bool stores_to(const Stmt& stmt, const Buffer& buffer) {
  return find_first<Store>(stmt, [&](const Store& store) { return store.buffer == buffer; }) != nullptr;
}

/// The only statement in a sequence, else null.
Stmt* only_child(const Stmt& stmt) {
  const Seq* seq = stmt.as<Seq>();
  return seq != nullptr && seq->children().size() == 1 ? seq->children()[0].get() : nullptr;
}

/// The loop whose body is the allocation, apart from other allocations.
Loop* loop_around(const Allocate& allocate) {
  Stmt* around = allocate.parent;
  while (around != nullptr && (around->kind == StmtKind::Allocate || only_child(*around) != nullptr))
    around = around->parent;
  return around == nullptr ? nullptr : around->as<Loop>();
}

/// The only statement of the loop's body that fills the buffer.
Stmt& find_producer(const Buffer& buffer, const Loop& loop) {
  Stmt* body = loop.body();
  while (body->kind == StmtKind::Allocate || only_child(*body) != nullptr)
    body = body->kind == StmtKind::Allocate ? body->as<Allocate>()->body() : only_child(*body);
  const Seq* seq = body->as<Seq>();
  if (seq == nullptr) refuse("the loop's body is one statement", buffer);
  std::vector<Stmt*> writers;
  for (const StmtPtr& child : seq->children()) {
    if (stores_to(*child, buffer)) writers.push_back(child.get());
  }
  if (writers.size() != 1) refuse("more than one statement of the loop writes the buffer", buffer);
  return *writers[0];
}

/// Requires that the producer can run an iteration earlier: it writes only the buffer, and reads nothing else
/// that the loop writes.
void require_early(const Stmt& producer, const Loop& loop, const Buffer& buffer) {
  if (find_first<Allocate>(producer) != nullptr)
    refuse("the statement that writes the buffer has a buffer of its own", buffer);
  walk_accesses(producer, [&](const Stmt&, const AccessSite& access) {
    if (access.buffer == buffer) return;
    if (access.load == nullptr) refuse("the statement that writes the buffer writes another one", buffer);
    if (stores_to(loop, access.buffer))
      refuse("the statement that writes the buffer reads what the loop writes", buffer);
  });
}

/// Redirects accesses of the buffer to one half of the doubled one.
void use_half(Stmt& stmt, const Buffer& buffer, const Buffer& both, const Expr& half) {
  move_accesses(stmt, buffer, both, [&](const Stmt&, std::span<const Expr> indices) {
    std::vector<Expr> result{half};
    result.insert(result.end(), indices.begin(), indices.end());
    return result;
  });
}

Buffer doubled(const Buffer& buffer) {
  std::vector<int64_t> shape{2};
  shape.insert(shape.end(), buffer->shape.begin(), buffer->shape.end());
  std::vector<int64_t> strides;
  if (!buffer->strides.empty()) {
    strides.push_back(buffer->span());
    strides.insert(strides.end(), buffer->strides.begin(), buffer->strides.end());
  }
  return make_buffer(buffer->name, buffer->dtype, std::move(shape), buffer->scope, false, std::move(strides),
                     buffer->swizzle);
}

StmtPtr copy_for(Program& program, const Stmt& producer, const Var& var, const Expr& iteration) {
  Substitution map;
  map.set(var, iteration);
  return fresh_copy(program, producer, &map);
}

}  // namespace

void double_buffers(Program& program, const BlockFacts& facts) {
  for (const Buffer& buffer : facts.doubled) {
    Allocate* allocate =
        find_first<Allocate>(program.root(), [&](const Allocate& one) { return one.buffer == buffer; });
    if (allocate == nullptr) continue;  // no statement reads it
    Loop* loop = loop_around(*allocate);
    if (loop == nullptr) refuse("the buffer is not made anew in each iteration of a loop", buffer);
    if (loop->loop_kind != LoopKind::Serial) refuse("the loop is not serial", buffer);
    if (loop->const_extent() < 2) continue;
    Stmt& producer = find_producer(buffer, *loop);
    require_early(producer, *loop, buffer);

    const Buffer both = doubled(buffer);
    const Expr next = loop->var + 1;
    StmtPtr first = copy_for(program, producer, loop->var, 0);
    use_half(*first, buffer, both, 0);
    StmtPtr ahead = copy_for(program, producer, loop->var, next);
    use_half(*ahead, buffer, both, floormod(next, 2));
    replace(producer, std::make_unique<If>(lt(next, loop->extent), std::move(ahead)));
    use_half(*loop->body(), buffer, both, floormod(loop->var, 2));

    StmtPtr inside = allocate->take_body();
    replace(*allocate, std::move(inside));
    auto outside = std::make_unique<Allocate>(both, std::make_unique<Seq>());
    Seq& seq = *outside->body()->as<Seq>();
    StmtPtr whole = replace(*loop, std::move(outside));
    seq.append(std::move(first));
    seq.append(std::move(whole));
  }
}

}  // namespace tunesmith

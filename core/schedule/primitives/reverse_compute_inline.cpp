#include <algorithm>

#include <fmt/format.h>

#include "schedule/buffer_uses.h"
#include "schedule/index_inverse.h"
#include "schedule/kind_builder.h"
#include "schedule/primitives.h"
#include "schedule/tree_surgery.h"

namespace tunesmith {
namespace {

struct ReverseInline {
  Stage consumer;
  Stage producer;
  Buffer buffer;                 // between the two
  std::vector<int> iter_of_dim;  // the consumer's iterator at each index of `buffer`; -1 at an index 0
};

/// The last block before `consumer` that writes something it reads.
Block* last_producer(const Program& program, const Stage& consumer, Buffer* buffer) {
  Block* last = nullptr;
  for (const Buffer& read : buffers_read(*consumer.block)) {
    if (!is_intermediate(program, read)) continue;
    for (Block* writer : uses_of(program, read, consumer.scope).writers) {
      if (last != nullptr && precedes(*writer, *last)) continue;
      last = writer;
      *buffer = read;
    }
  }
  return last;
}

/// Every load of the buffer is at  [iterator, iterator, 0, ...]  with each iterator of the consumer once and
/// over the whole of its dimension.
std::optional<Refusal> access_refusal(ReverseInline* plan) {
  const Block& block = *plan->consumer.block;
  const Store& store = *body_store(block);
  std::vector<const LoadNode*> loads;
  walk_expr(store.value, [&](const Expr& part) {
    const LoadNode* load = part.as<LoadNode>();
    if (load != nullptr && load->buffer == plan->buffer) loads.push_back(load);
  });
  const Analyzer analyzer;
  std::vector<bool> used(block.iters.size());
  for (size_t d = 0; d < plan->buffer->shape.size(); ++d) {
    for (const LoadNode* load : loads) {
      if (load->mask() || !equal(load->indices()[d], loads[0]->indices()[d]))
        return Refusal{"the block reads its producer's buffer in more than one way", block.name, &store};
    }
    const Expr& index = loads[0]->indices()[d];
    const auto digit = index_digit(index, block.iters, analyzer);
    if (digit && digit->iter < 0 && plan->buffer->shape[d] == 1) {
      plan->iter_of_dim.push_back(-1);
      continue;
    }
    const bool plain = digit && digit->is_linear() && digit->scale == 1 && digit->offset.min == 0;
    const auto iter = plain ? static_cast<size_t>(digit->iter) : 0;
    if (!plain || used[iter] || block.iters[iter].extent != plan->buffer->shape[d])
      return Refusal{"the block does not read its producer's buffer element by element", block.name, &store};
    used[iter] = true;
    plan->iter_of_dim.push_back(digit->iter);
  }
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (!used[i] && block.iters[i].extent != 1)
      return Refusal{"the block does not read its producer's buffer element by element", block.name, &store};
  }
  return std::nullopt;
}

/// The consumer's other inputs must be there when the producer runs.
std::optional<Refusal> order_of_inputs_refusal(const Program& program, const ReverseInline& plan) {
  const Block& producer = *plan.producer.block;
  for (const Buffer& read : buffers_read(*plan.consumer.block)) {
    if (read == plan.buffer) continue;
    for (const Block* writer : uses_of(program, read, plan.consumer.scope).writers) {
      bool shared = false;
      for (const Stmt* at = common_ancestor(*writer, producer); at != nullptr; at = at->parent)
        shared = shared || at->kind == StmtKind::Loop;
      if (precedes(*writer, producer) && !shared) continue;
      return Refusal{"another input of the block is not finished where its producer stands", writer->name,
                     writer};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> plan_refusal(const Program& program, Block& block, ReverseInline* plan) {
  if (auto refusal = stage_refusal(program, block, &plan->consumer)) return refusal;
  if (block.has_reduction()) return Refusal{"the block has a reduction", block.name, &block};
  const Store* store = body_store(block);
  if (store == nullptr || store->mask)
    return Refusal{"the body of the block is not one store", block.name, &block};
  Block* producer = last_producer(program, plan->consumer, &plan->buffer);
  if (producer == nullptr) return Refusal{"the block has no producer", block.name, &block};
  if (auto refusal = stage_refusal(program, *producer, &plan->producer)) return refusal;
  if (producer->has_reduction())
    return Refusal{"the producer of the block is a reduction", producer->name, producer};
  const Store* made = body_store(*producer);
  if (made == nullptr || made->mask)
    return Refusal{"the body of the producer is not one store", producer->name, producer};
  const auto& readers = plan->producer.uses.readers;
  if (readers.size() != 1 || readers[0] != &block)
    return Refusal{"the producer of the block has another consumer", producer->name, readers[0]};
  if (auto refusal = access_refusal(plan)) return refusal;
  return order_of_inputs_refusal(program, *plan);
}

}  // namespace

void reverse_compute_inline(Program& program, BlockId id) {
  Block& block = block_at(program, id, "reverse_compute_inline");
  ReverseInline plan;
  throw_refusal("reverse_compute_inline", program, plan_refusal(program, block, &plan));

  auto& made = const_cast<Store&>(*body_store(*plan.producer.block));
  const Store& last = *body_store(block);
  Substitution map;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const auto dim = std::find(plan.iter_of_dim.begin(), plan.iter_of_dim.end(), static_cast<int>(i));
    const auto d = static_cast<size_t>(dim - plan.iter_of_dim.begin());
    map.set(block.iters[i].var, dim == plan.iter_of_dim.end() ? Expr(0) : made.indices[d]);
  }
  const Expr value = substitute(last.value, map);
  std::vector<Expr> indices;
  for (const Expr& index : last.indices) indices.push_back(substitute(index, map));
  made.value = rewrite_expr(value, [&](const Expr& part) {
    const LoadNode* load = part.as<LoadNode>();
    return load != nullptr && load->buffer == plan.buffer ? made.value : part;
  });
  made.buffer = plan.consumer.buffer;
  made.indices = std::move(indices);
  take_out(block);
  std::erase(program.intermediates, plan.buffer);
}

KindPtr reverse_compute_inline_kind() {
  return make_transformation("reverse_compute_inline", {{"block", ParamType::Block}}, ResultType::None,
                             [](Program& program, const Arguments& args) -> std::vector<Value> {
                               reverse_compute_inline(program, args.block(0));
                               return {};
                             });
}

void Schedule::reverse_compute_inline(BlockRV block) { execute(kind("reverse_compute_inline"), {block}); }

}  // namespace tunesmith

#include <algorithm>

#include <fmt/format.h>

#include "analysis/buffer_uses.h"
#include "analysis/element_reader.h"
#include "primitives/primitives.h"
#include "primitives/shared/inlined_size.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/tree_surgery.h"

namespace tunesmith {
namespace {

struct ReverseInline {
  Stage consumer;
  Stage producer;
  Buffer buffer;           // written by the producer, read by the consumer
  std::vector<Expr> read;  // the consumer's indices of `buffer`
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
  if (auto refusal = element_reader_refusal(block, plan->buffer, &plan->read)) return refusal;
  if (auto refusal = inlined_size_refusal(block, plan->buffer, made->value)) return refusal;
  return inputs_before_refusal(program, plan->consumer, plan->buffer, *producer);
}

}  // namespace

void reverse_compute_inline(Program& program, BlockId id) {
  Block& block = block_at(program, id, "reverse_compute_inline");
  ReverseInline plan;
  throw_refusal("reverse_compute_inline", program, plan_refusal(program, block, &plan));

  auto& made = const_cast<Store&>(*body_store(*plan.producer.block));
  const Store& last = *body_store(block);
  const Substitution map = reader_iters(block, plan.read, made.indices);
  const Expr value = substitute(last.value, map);
  std::vector<Expr> indices = substitute(last.indices, map);
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
  return make_transformation("reverse_compute_inline", reverse_compute_inline, {"block"});
}

void Schedule::reverse_compute_inline(BlockRV block) { execute(kind("reverse_compute_inline"), {block}); }

}  // namespace tunesmith

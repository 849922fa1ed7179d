#include <algorithm>

#include <fmt/format.h>

#include "affine/index_inverse.h"
#include "analysis/buffer_uses.h"
#include "primitives/primitives.h"
#include "primitives/shared/inlined_size.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/extents.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

/// The value of an element of the inlined buffer, from its indices.
class InlinedValue {
 public:
  InlinedValue(const Block& block, const Store& store) : block_(block), store_(store) {}

  bool is_invertible() const { return at(store_.indices).has_value(); }

  Expr of(const LoadNode& load) const {
    const std::optional<std::vector<Expr>> values = at(load.indices());
    const Expr value = substitute(store_.value, block_.iters_at(*values));
    return load.mask() ? select(load.mask(), value, constant(0, value.dtype())) : value;
  }

 private:
  std::optional<std::vector<Expr>> at(std::span<const Expr> values) const {
    return invert(iter_domains(block_), store_.indices, values);
  }

  const Block& block_;
  const Store& store_;
};

/// Does everything that the store reads exist only where its own element exists?
bool replaces_existence(const Store& store) {
  if (store.buffer->extents.empty()) return true;
  const Buffer whole = with_extents(store.buffer, {});
  return equal(existence(store), existence(Store(whole, store.indices, store.value)));
}

std::optional<Refusal> inline_refusal(const Program& program, Block& block, Stage* stage) {
  if (auto refusal = stage_refusal(program, block, stage)) return refusal;
  if (!is_intermediate(program, stage->buffer))
    return Refusal{"the block writes an output of the program", stage->buffer->name, &block};
  if (block.has_reduction()) return Refusal{"the block has a reduction", block.name, &block};
  const Store* store = body_store(block);
  if (store == nullptr || store->mask)
    return Refusal{"the body of the block is not one store", block.name, &block};
  if (stage->uses.readers.empty()) return Refusal{"the block has no consumer", block.name, &block};
  const auto& readers = stage->uses.readers;
  if (contains(readers, &block)) return Refusal{"the block reads what it writes", block.name, &block};
  for (const Buffer& read : buffers_read(block)) {
    for (const Block* writer : uses_of(program, read, stage->scope).writers) {
      if (has_opaque_iter(*writer))
        return Refusal{"an input of the block is produced in a fixed order", writer->name, writer};
    }
  }
  if (!InlinedValue(block, *store).is_invertible())
    return Refusal{"the indices do not determine the iteration that writes an element", block.name, store};
  if (!replaces_existence(*store) && reduces_varying(program))
    return Refusal{"the extent of a reduction may depend on the buffer", stage->buffer->name, &block};
  for (const Block* reader : readers) {
    if (auto refusal = inlined_size_refusal(*reader, stage->buffer, store->value)) return refusal;
  }
  return std::nullopt;
}

}  // namespace

void compute_inline(Program& program, BlockId id) {
  Block& block = block_at(program, id, "compute_inline");
  Stage stage;
  throw_refusal("compute_inline", program, inline_refusal(program, block, &stage));

  const InlinedValue value(block, *body_store(block));
  const Buffer buffer = stage.buffer;
  for (Block* reader : stage.uses.readers) {
    rewrite_exprs(*reader, [&](const Expr& part) {
      const LoadNode* load = part.as<LoadNode>();
      return load != nullptr && load->buffer == buffer ? value.of(*load) : part;
    });
  }
  take_out(block);
  std::erase(program.intermediates, buffer);
}

bool may_compute_inline(const Program& program, BlockId id) {
  Block* block = program.find_block(id);
  Stage stage;
  return block != nullptr && !inline_refusal(program, *block, &stage).has_value();
}

KindPtr compute_inline_kind() { return make_transformation("compute_inline", compute_inline, {"block"}); }

void Schedule::compute_inline(BlockRV block) { execute(kind("compute_inline"), {block}); }

}  // namespace tunesmith

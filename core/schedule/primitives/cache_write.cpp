#include <fmt/format.h>

#include "schedule/buffer_uses.h"
#include "schedule/copy_nest.h"
#include "schedule/kind_builder.h"
#include "schedule/primitives.h"
#include "schedule/tree_surgery.h"

namespace tunesmith {
namespace {

/// The block writes every element of its buffer: the copy reads them all.
bool writes_everything(const Block& block, const Buffer& buffer) {
  const Store* store = body_store(block);
  if (store == nullptr) return false;
  std::vector<IterDomain> domains;
  for (const IterVar& iter : block.iters) {
    if (iter.kind == IterKind::Spatial) domains.push_back({iter.var, iter.extent});
  }
  // The usual case, [i, j, 0, ...], needs no theory.
  size_t next = 0;
  bool plain = true;
  for (size_t d = 0; d < buffer->shape.size(); ++d) {
    const Expr& index = store->indices[d];
    if (buffer->shape[d] == 1 && is_const_int(index, 0)) continue;
    while (next < domains.size() && domains[next].extent == 1 && index.get() != domains[next].var.get())
      ++next;
    plain = plain && next < domains.size() && index.get() == domains[next].var.get() &&
            domains[next].extent == buffer->shape[d];
    ++next;
  }
  return plain || check_iter_map(store->indices, buffer->shape, domains, bool_imm(true)).bijective;
}

std::optional<Refusal> write_refusal(const Program& program, Block& block, Stage* stage) {
  if (auto refusal = stage_refusal(program, block, stage)) return refusal;
  if (!writes_everything(block, stage->buffer))
    return Refusal{"the block does not write every element of its buffer", stage->buffer->name, &block};
  const Stmt& nest = outermost_in_scope(block);
  for (const Block* reader : stage->uses.readers) {
    if (is_ancestor(nest, *reader))
      return Refusal{"a reader of the buffer stands in the loop nest of its writer", reader->name, reader};
  }
  return std::nullopt;
}

}  // namespace

BlockId cache_write(Program& program, BlockId id, int64_t write_index, std::string_view scope) {
  Block& block = block_at(program, id, "cache_write");
  Stage stage;
  throw_refusal("cache_write", program, write_refusal(program, block, &stage));
  const Buffer buffer = accessed_buffer(program, block, "write", write_index, "cache_write");
  const Buffer cache = add_cache_buffer(program, buffer, scope);
  replace_buffer_in(block, buffer, cache);
  CopyNest copy = make_copy_nest(program, cache->name, cache, buffer);
  insert_after(outermost_in_scope(block), std::move(copy.nest));
  return copy.block->id;
}

KindPtr cache_write_kind() {
  return make_transformation(
      "cache_write",
      {{"block", ParamType::Block}, {"write_index", ParamType::Int}, {"scope", ParamType::String}},
      ResultType::Block, [](Program& program, const Arguments& args) -> std::vector<Value> {
        return {cache_write(program, args.block(0), args.integer(1), args.string(2))};
      });
}

BlockRV Schedule::cache_write(BlockRV block, int write_index, std::string_view scope) {
  return as_handle<BlockRV>(execute(kind("cache_write"), {block, int64_t{write_index}, std::string(scope)}));
}

}  // namespace tunesmith

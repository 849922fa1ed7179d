#include "analysis/element_reader.h"

#include <algorithm>

#include "affine/index_inverse.h"
#include "tunesmith/analysis/blocks.h"
#include "tunesmith/analysis/element_reader.h"
#include "tunesmith/ir/tree_surgery.h"

namespace tunesmith {

std::optional<Refusal> element_reader_refusal(const Block& block, const Buffer& buffer,
                                              std::vector<Expr>* indices) {
  const Store& store = *body_store(block);
  std::vector<const LoadNode*> loads;
  walk_expr(store.value, [&](const Expr& part) {
    const LoadNode* load = part.as<LoadNode>();
    if (load != nullptr && load->buffer == buffer) loads.push_back(load);
  });
  indices->assign(loads[0]->indices().begin(), loads[0]->indices().end());
  for (const LoadNode* load : loads) {
    if (load->mask() || !equal_indices(load->indices(), *indices))
      return Refusal{"the block reads its producer's buffer in more than one way", block.name, &store};
  }
  std::vector<bool> used(block.iters.size());
  const Refusal no_element{"the block does not read its producer's buffer element by element", block.name,
                           &store};
  for (size_t d = 0; d < indices->size(); ++d) {
    const Expr& index = (*indices)[d];
    if (index.is(ExprKind::IntImm) && buffer->shape[d] == 1) continue;
    const int iter = index.is(ExprKind::Var) ? block.iter_index(Var::from(index)) : -1;
    const auto i = static_cast<size_t>(iter);
    if (iter < 0 || used[i] || block.iters[i].extent != buffer->shape[d]) return no_element;
    used[i] = true;
  }
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (!used[i] && block.iters[i].extent != 1) return no_element;
  }
  return std::nullopt;
}

std::optional<Refusal> inputs_before_refusal(const Program& program, const Stage& consumer,
                                             const Buffer& buffer, const Block& producer) {
  for (const Buffer& read : buffers_read(*consumer.block)) {
    if (read == buffer) continue;
    for (const Block* writer : uses_of(program, read, consumer.scope).writers) {
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

Substitution reader_iters(const Block& block, std::span<const Expr> indices, std::span<const Expr> values) {
  return block.iters_at(*invert(iter_domains(block), indices, values));
}

std::optional<Substitution> writer_iters(const Block& block, std::span<const Expr> indices) {
  std::vector<IterDomain> spatial;
  for (const IterVar& iter : block.iters) {
    if (iter.kind == IterKind::Spatial) spatial.push_back({iter.var, iter.extent});
  }
  const std::optional<std::vector<Expr>> values = invert(spatial, body_store(block)->indices, indices);
  if (!values) return std::nullopt;
  Substitution iters;
  for (size_t i = 0; i < spatial.size(); ++i) iters.set(spatial[i].var, (*values)[i]);
  return iters;
}

const Block* element_reader_of(const Program& program, const Block& block) {
  const std::vector<Access> written = writes_of(block);
  if (written.size() != 1 || writes_output(program, block)) return nullptr;
  const Buffer& made = written.front().buffer;
  const std::vector<Block*> readers = readers_of(program, made);
  Stage stage;
  std::vector<Expr> indices;
  if (readers.size() != 1 || stage_refusal(program, *readers.front(), &stage) ||
      readers.front()->has_reduction() || body_store(*readers.front()) == nullptr ||
      element_reader_refusal(*readers.front(), made, &indices) ||
      inputs_before_refusal(program, stage, made, block))
    return nullptr;
  return readers.front();
}

}  // namespace tunesmith

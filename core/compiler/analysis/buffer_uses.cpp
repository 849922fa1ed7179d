#include "analysis/buffer_uses.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/accesses.h"
#include "analysis/touched_region.h"
#include "tunesmith/affine/iter_map.h"
#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

class UseCollector {
 public:
  UseCollector(const Buffer& buffer, const Block* scope, BufferUses* uses)
      : buffer_(buffer), scope_(scope), uses_(uses) {}

  void visit(Stmt& stmt, Block* user, bool inside) {
    if (Block* block = stmt.as<Block>()) {
      if (inside && user == nullptr) user = block;
      inside = inside || block == scope_;
    }
    const Store* store = stmt.as<Store>();
    visit_accesses(stmt, [&](const AccessSite& access) {
      if (access.buffer != buffer_) return;
      if (access.load == nullptr) {
        add(uses_->writers, user);
      } else if (store == nullptr || store->buffer != buffer_ ||
                 !equal_indices(access.indices, store->indices)) {
        add(uses_->readers, user);
      }
    });
    visit_children(stmt, [&](Stmt& child) { visit(child, user, inside); });
  }

 private:
  void add(std::vector<Block*>& list, Block* user) {
    if (user == nullptr) {
      uses_->outside = true;
    } else if (list.empty() || list.back() != user) {
      list.push_back(user);
    }
  }

  const Buffer& buffer_;
  const Block* scope_;
  BufferUses* uses_;
};

std::vector<Buffer> buffers_of(const std::vector<Access>& accesses) {
  std::vector<Buffer> list;
  for (const Access& access : accesses) {
    if (!contains(list, access.buffer)) list.push_back(access.buffer);
  }
  return list;
}

}  // namespace

BufferUses uses_of(const Program& program, const Buffer& buffer, const Block* scope) {
  BufferUses uses;
  auto& root = const_cast<Seq&>(program.root());  // as in Program::blocks(), which is const
  UseCollector(buffer, scope, &uses).visit(root, nullptr, scope == nullptr);
  return uses;
}

std::vector<Buffer> buffers_read(const Block& block) { return buffers_of(read_accesses(block)); }
std::vector<Buffer> buffers_written(const Block& block) { return buffers_of(write_accesses(block)); }

bool is_intermediate(const Program& program, const Buffer& buffer) {
  return contains(program.intermediates, buffer);
}
bool is_output(const Program& program, const Buffer& buffer) { return contains(program.outputs, buffer); }

namespace {

/// True if the instances, over their iterators' domains, write all elements.
bool instances_write_everything(const Block& block, const Buffer& buffer) {
  const Store* store = body_store(block);
  if (store == nullptr) return false;
  std::vector<IterDomain> domains;
  for (const IterVar& iter : block.iters) {
    if (iter.kind == IterKind::Spatial) domains.push_back({iter.var, iter.extent});
  }
  // A fast path for the usual case, [i, j, 0, ...].
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

/// As seen from outside all loops of the block's scope.
bool written_region_is_whole(const Block& block, const Buffer& buffer) {
  const Stmt* top = block.parent;
  while (top->parent != nullptr && top->kind != StmtKind::Block) top = top->parent;
  std::vector<Expr> conditions;
  const std::optional<Region> region = written_region(block, buffer, *top, &conditions);
  Region whole;
  for (const int64_t extent : buffer->shape) whole.push_back({0, extent});
  return region.has_value() && conditions.empty() && covers_within(*region, whole, buffer, Analyzer());
}

}  // namespace

bool every_instance_runs(const Block& block) {
  const std::vector<Loop*> loops = loops_above(block);
  if (!std::all_of(loops.begin(), loops.end(), [](const Loop* loop) { return is_const_int(loop->min, 0); }))
    return false;
  const auto domains = used_domains(domains_of(loops), block.bindings, block.predicate);
  return check_iter_map(block.bindings, iter_extents(block), domains, block.predicate).bijective;
}

bool writes_everything(const Block& block, const Buffer& buffer) {
  return instances_write_everything(block, buffer) &&
         (every_instance_runs(block) || written_region_is_whole(block, buffer));
}

std::optional<Refusal> stage_refusal(const Program& program, Block& block, Stage* stage) {
  const std::vector<Buffer> written = buffers_written(block);
  if (written.size() != 1) {
    return Refusal{"the block does not write exactly one buffer",
                   fmt::format("{} writes {}", block.name, written.size()), &block};
  }
  if (auto refusal = opaque_refusal(block, "the block has an opaque iterator")) return refusal;
  stage->block = &block;
  stage->scope = enclosing_block(block);
  stage->buffer = written[0];
  stage->uses = uses_of(program, stage->buffer, stage->scope);
  for (const Block* writer : stage->uses.writers) {
    if (writer == &block) continue;
    return Refusal{"the block is not the only writer of its buffer",
                   fmt::format("{} also writes {}", writer->name, stage->buffer->name), writer};
  }
  if (stage->uses.outside) {
    return Refusal{"the buffer is used outside the scope of the block", stage->buffer->name, &block};
  }
  if (block.has_reduction() && block.init() == nullptr) {
    return Refusal{"the block accumulates into a buffer that it does not initialise", block.name, &block};
  }
  return std::nullopt;
}

std::optional<Refusal> reader_in_nest_refusal(const Stage& stage) {
  const Stmt& nest = outermost_in_scope(*stage.block);
  for (const Block* reader : stage.uses.readers) {
    if (is_ancestor(nest, *reader))
      return Refusal{"a reader of the buffer stands in the loop nest of its writer", reader->name, reader};
  }
  return std::nullopt;
}

Stage require_stage(const Program& program, Block& block, std::string_view primitive) {
  Stage stage;
  throw_refusal(primitive, program, stage_refusal(program, block, &stage));
  return stage;
}

}  // namespace tunesmith

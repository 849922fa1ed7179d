#include "tunesmith/analysis/verify.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "affine/index_range.h"
#include "analysis/concurrency.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

/// Walks the program once and stops at the first fault.
class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}

  std::string run() {
    buffers();
    if (program_.root().parent != nullptr) found("the root has a parent", nullptr);
    statement(program_.root());
    if (problem_.empty()) order_of_stages();
    if (problem_.empty()) kinds_of_loops();
    return problem_;
  }

 private:
  void found(const std::string& what, const Stmt* place) {
    if (problem_.empty()) problem_ = what + "\n" + to_string(program_, place);
  }

  void buffers() {
    std::set<std::string> names;
    for (const Buffer& buffer : program_.buffers()) {
      if (!names.insert(buffer->name).second) {
        found(fmt::format("two buffers have the name '{}'", buffer->name), nullptr);
      }
      extents(*buffer);
    }
  }

  void extents(const BufferNode& buffer) {
    for (size_t d = 0; d < buffer.extents.size(); ++d) {
      const Expr& extent = buffer.extents[d];
      if (!extent) continue;
      const Interval range = Analyzer().bounds(extent);
      if (range.min < 0 || range.max > buffer.shape[d])
        found(fmt::format("extent {} of '{}' leaves [0, {}]", d, buffer.name, buffer.shape[d]), nullptr);
      for (const Var& var : vars_of(extent)) {
        if (!is_parameter(var))
          found(fmt::format("extent {} of '{}' depends on what is no parameter: '{}'", d, buffer.name,
                            var->name),
                nullptr);
      }
    }
  }

  bool is_parameter(const Var& var) const {
    return std::ranges::any_of(program_.parameters,
                               [&](const ExtentParameter& one) { return one.var == var; });
  }

  bool declared(const Buffer& buffer) const {
    const std::vector<Buffer> known = program_.buffers();
    return contains(known, buffer);
  }

  void statement(const Stmt& stmt) {
    if (!problem_.empty()) return;
    visit_children(stmt, [&](const Stmt& child) {
      if (child.parent != &stmt) found("a statement's parent link is wrong", &child);
      if (stmt.kind == StmtKind::Seq && child.kind == StmtKind::Seq) {
        found("a sequence stands directly in another", &child);
      }
    });
    if (!problem_.empty()) return;
    switch (stmt.kind) {
      case StmtKind::Loop:
        return loop(static_cast<const Loop&>(stmt));
      case StmtKind::Block:
        return block(static_cast<const Block&>(stmt));
      case StmtKind::Store:
        store(static_cast<const Store&>(stmt));
        break;
      case StmtKind::Allocate:
        found("an allocation stands in a schedule", &stmt);
        break;
      case StmtKind::Barrier:
        found("a barrier stands in a schedule", &stmt);
        break;
      case StmtKind::AsyncGroup:
      case StmtKind::AsyncWait:
        found("an asynchronous copy stands in a schedule", &stmt);
        break;
      case StmtKind::Handover:
        found("a handover stands in a schedule", &stmt);
        break;
      default:
        break;
    }
    visit_exprs(stmt, [&](const Expr& expr) { expression(expr, stmt); });
    visit_children(stmt, [&](const Stmt& child) { statement(child); });
  }

  void define(const Var& var, const Stmt& place) {
    if (!defined_.insert(var.get()->serial).second) {
      found(fmt::format("the variable '{}' is defined twice", var->name), &place);
    }
    visible_.push_back(var);
  }

  void loop(const Loop& loop) {
    int64_t extent = 0;
    if (!ids_.insert(static_cast<uint32_t>(loop.id)).second) found("two statements have the same id", &loop);
    if (!is_const_int(loop.min, 0) || !as_const_int(loop.extent, &extent) || extent < 1) {
      found("a loop's range is not constant from 0", &loop);
    }
    if (loop.body() == nullptr) return found("a loop has no body", &loop);
    if ((loop.loop_kind == LoopKind::Bound) == loop.thread.empty()) {
      found("a loop has a thread axis and is not bound, or the other way round", &loop);
    }
    define(loop.var, loop);
    statement(*loop.body());
    visible_.pop_back();
  }

  void block(const Block& block) {
    if (!ids_.insert(static_cast<uint32_t>(block.id)).second)
      found("two statements have the same id", &block);
    if (!block_names_.insert(block.name).second) found("two blocks have the same name", &block);
    if (block.bindings.size() != block.iters.size()) {
      problem_ = fmt::format("the block '{}' has not as many bindings as iteration variables", block.name);
      return;  // the printer could not show it
    }
    if (block.body() == nullptr) return found("a block has no body", &block);
    for (const Expr& binding : block.bindings) expression(binding, block);
    expression(block.predicate, block);
    if (!problem_.empty()) return;
    for (size_t i = 0; i < block.iters.size(); ++i) {
      const IterVar& iter = block.iters[i];
      if (iter.extent < 1) found("an iteration variable's extent is not positive", &block);
      if (const auto point =
              point_outside(block.bindings[i], iter.extent, ranges_around(block), block.predicate)) {
        found(fmt::format("the binding of '{}' leaves [0, {}): {}", iter.var->name, iter.extent, *point),
              &block);
      }
    }

    const std::vector<Var> outside = std::move(visible_);
    visible_.clear();
    const std::vector<Block const*> blocks_outside = blocks_;
    blocks_.push_back(&block);
    for (const Block* enclosing : blocks_outside) {
      for (const IterVar& iter : enclosing->iters) visible_.push_back(iter.var);
    }
    for (const IterVar& iter : block.iters) define(iter.var, block);
    if (block.init() != nullptr) {
      if (!block.has_reduction()) found("a block without reduction has an init", &block);
      const std::set<uint64_t> before = defined_;
      statement(*block.init());
      defined_ = before;
    }
    statement(*block.body());
    blocks_ = blocks_outside;
    visible_ = outside;
  }

  /// The ranges of the loops around the statement and of the iteration variables of the blocks around it.
  static std::vector<IterDomain> ranges_around(const Stmt& stmt) {
    std::vector<IterDomain> ranges;
    for (const Stmt* above = stmt.parent; above != nullptr; above = above->parent) {
      if (const auto* loop = above->as<Loop>()) ranges.push_back({loop->var, loop->const_extent()});
      if (const auto* block = above->as<Block>()) {
        for (const IterVar& iter : block->iters) ranges.push_back({iter.var, iter.extent});
      }
    }
    return ranges;
  }

  void expression(const Expr& expr, const Stmt& place) {
    if (!problem_.empty()) return;
    if (!expr) return found("an expression is null", &place);
    for (const Var& var : vars_of(expr)) {
      if (!contains(visible_, var) && !is_parameter(var)) {
        return found(fmt::format("the variable '{}' is not defined here", var->name), &place);
      }
    }
    loads(expr, place, /*guarded=*/place.kind == StmtKind::If);
  }

  void loads(const Expr& expr, const Stmt& place, bool guarded) {
    if (const auto* node = expr.as<LoadNode>())
      access(node->buffer, node->indices(), place, guarded || node->mask());
    for (const Expr& arg : expr.args()) {
      loads(arg, place, guarded || expr.is(ExprKind::Select));
    }
  }

  void store(const Store& store) {
    if (blocks_.empty()) return found("a store stands outside all blocks", &store);
    access(store.buffer, store.indices, store, static_cast<bool>(store.mask));
    if (store.value && store.value.dtype().scalar() != store.buffer->dtype) {
      found(fmt::format("{} is stored to '{}' of {}", store.value.dtype().str(), store.buffer->name,
                        store.buffer->dtype.str()),
            &store);
    }
    if (contains(program_.inputs, store.buffer)) {
      found(fmt::format("the input '{}' is written", store.buffer->name), &store);
    }
  }

  void access(const Buffer& buffer, std::span<const Expr> indices, const Stmt& place, bool guarded) {
    if (!declared(buffer)) return found(fmt::format("the buffer '{}' is not declared", buffer->name), &place);
    if (indices.size() != buffer->shape.size()) {
      return found(
          fmt::format("'{}' has {} dimensions, not {}", buffer->name, buffer->shape.size(), indices.size()),
          &place);
    }
    for (const Stmt* above = &place; above != nullptr; above = above->parent) {
      guarded = guarded || above->kind == StmtKind::If;
    }
    if (guarded) return;
    for (size_t d = 0; d < indices.size(); ++d) {
      // An outer block's predicate may skip instances, which then make no accesses: reports nothing inside
      // such a block.
      const Block* around = blocks_.empty() ? nullptr : blocks_.back();
      if (around == nullptr || !is_const_int(around->predicate, 1)) continue;
      if (const auto point =
              point_outside(indices[d], buffer->shape[d], ranges_around(place), bool_imm(true))) {
        found(fmt::format("index {} of '{}' leaves [0, {}): {}", d, buffer->name, buffer->shape[d], *point),
              &place);
      }
    }
  }

  /// Intermediates and outputs must be written by another block earlier in the text.
  void order_of_stages() {
    std::vector<Buffer> written = program_.inputs;
    const auto is_written = [&](const Buffer& buffer) { return contains(written, buffer); };
    for (const Block* block : program_.blocks()) {
      if (holds_blocks(*block)) continue;  // its inner blocks are checked instead
      for (const Access& write : writes_of(*block)) {
        if (!block_reads_first(*block, write.buffer)) written.push_back(write.buffer);
      }
      for (const Access& read : reads_of(*block)) {
        if (!is_written(read.buffer)) {
          found(fmt::format("'{}' is read before it is written", read.buffer->name), block);
          return;
        }
      }
    }
  }

  static bool block_reads_first(const Block& block, const Buffer& buffer) {
    return block.init() == nullptr && touches(reads_of(block), buffer);
  }

  void kinds_of_loops() {
    for (const Loop* loop : collect<Loop>(program_.root())) {
      const auto refusal = loop_kind_refusal(program_, *loop, loop->loop_kind);
      if (!refusal) continue;
      return found(fmt::format("the loop '{}' may not be {}: {} ({})", loop->var->name,
                               loop_kind_name(loop->loop_kind), refusal->reason, refusal->detail),
                   loop);
    }
  }

  const Program& program_;
  std::string problem_;
  std::set<uint32_t> ids_;
  std::set<std::string> block_names_;
  std::set<uint64_t> defined_;  // serials of all variables
  std::vector<Var> visible_;
  std::vector<Block const*> blocks_;  // the blocks around the statement
};

}  // namespace

std::string verify(const Program& program) { return Verifier(program).run(); }

}  // namespace tunesmith

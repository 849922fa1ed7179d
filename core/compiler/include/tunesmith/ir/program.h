// Programs: inputs, outputs, intermediate buffers and a tree of loops and blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/stmt.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A dynamic extent, whose value is passed with each call. The program is correct for every value in the
/// variable's range.
struct ExtentParameter {
  Var var;
  /// The values at which the program is measured, ascending; empty: the default (typical_values). They do not
  /// affect what the program computes.
  std::vector<int64_t> typical;
};

/// Movable; copied only by clone(). Belongs to one thread at a time.
class Program {
 public:
  Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  std::string name;
  /// Empty if all extents are static. Shapes and loops have the extents for the highest values
  /// (BufferNode::extents).
  std::vector<ExtentParameter> parameters;
  std::vector<Buffer> inputs;
  std::vector<Buffer> outputs;
  /// Buffers that are neither input nor output. Lowering chooses where they are allocated.
  std::vector<Buffer> intermediates;
  /// Annotations of the whole program ("unroll_max_step", ...), set by annotating the root.
  Annotations annotations;

  /// The root Seq; never null.
  Seq& root() { return *root_; }
  const Seq& root() const { return *root_; }

  /// Copies the statements; ids, variables, buffers and expressions are shared.
  Program clone() const;

  /// Makes a loop with a fresh id over [0, extent) around `body`.
  std::unique_ptr<Loop> make_loop(Var var, int64_t extent, StmtPtr body);
  /// Makes serial loops around `body`, outermost first; `body` itself if `loops` is empty.
  StmtPtr make_nest(std::span<const IterDomain> loops, StmtPtr body);
  /// Makes a block with a fresh id; a suffix "_1", "_2", ... makes its name unique in the program.
  std::unique_ptr<Block> make_block(std::string_view block_name, std::vector<IterVar> iters,
                                    std::vector<Expr> bindings, StmtPtr init, StmtPtr body);
  /// A buffer name that begins with `base` and is not used in the program.
  std::string fresh_buffer_name(std::string_view base) const;
  std::string fresh_block_name(std::string_view base) const;

  /// Null if the block does not exist (any more).
  Block* find_block(BlockId id) const;
  Block* find_block(std::string_view block_name) const;
  Loop* find_loop(LoopId id) const;
  /// All blocks in text order.
  std::vector<Block*> blocks() const;
  /// inputs, outputs, intermediates.
  std::vector<Buffer> buffers() const;
  /// Replaces a buffer everywhere: lists, loads and stores.
  void swap_buffer(const Buffer& from, const Buffer& to);

 private:
  std::unique_ptr<Seq> root_;
  uint32_t next_id_ = 0;
};

/// A hash of what the program computes and how, equal on every machine. Ignores the names of the program,
/// buffers, blocks and variables, so two layers of a network with equal shapes have equal hashes.
uint64_t structural_hash(const Program& program);

}  // namespace tunesmith
#pragma GCC visibility pop

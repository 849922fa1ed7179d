// A program: inputs, outputs, intermediate buffers and one tree of loops and blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/stmt.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// What a program is for an interval of: an extent, given with each call. A program is right for every value
/// of the variable's range.
struct ExtentParameter {
  Var var;
  /// The values at which programs are measured, ascending; empty: the default (typical_values). They do not
  /// change what the program computes.
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
  /// Empty for a program of fixed extents. Shapes and loops have the extents for the highest values
  /// (BufferNode::extents).
  std::vector<ExtentParameter> parameters;
  std::vector<Buffer> inputs;
  std::vector<Buffer> outputs;
  /// Buffers that are neither input nor output. Lowering decides where they live.
  std::vector<Buffer> intermediates;
  /// Annotations of the whole program ("unroll_max_step", ...), set by annotating the root.
  Annotations annotations;

  /// The root Seq; never null.
  Seq& root() { return *root_; }
  const Seq& root() const { return *root_; }

  /// Copies one node per statement. Ids, variables, buffers and expressions are kept.
  Program clone() const;

  /// Makes a loop from 0 with a constant extent and a fresh id around `body`.
  std::unique_ptr<Loop> make_loop(Var var, int64_t extent, StmtPtr body);
  /// Makes serial loops around `body`, the first the outermost; `body` itself when there are none.
  StmtPtr make_nest(std::span<const IterDomain> loops, StmtPtr body);
  /// Makes a block with a fresh id; its name is made unique within the program by a suffix "_1", "_2", ...
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

/// A hash of what the program computes and how, the same on every machine. Names (of the program, buffers,
/// blocks and variables) do not count: two layers of a network with equal shapes have equal hashes.
uint64_t structural_hash(const Program& program);

}  // namespace tunesmith
#pragma GCC visibility pop

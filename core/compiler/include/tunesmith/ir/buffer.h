// A buffer: a named, typed, shaped piece of memory in a scope. Immutable and shared; identity is the object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include "tunesmith/ir/dtype.h"

#pragma GCC visibility push(default)
namespace tunesmith {

class Expr;

/// Memory scopes of the kernel. Targets may add their own names (ir/execution_model.h).
///   global    memory of the program, seen by all threads
///   local     memory of one thread; allocated where the accesses' common loop nest begins
///   register  SSA values; lowering refuses a program in which it cannot keep them there
inline constexpr const char* kScopeGlobal = "global";
inline constexpr const char* kScopeLocal = "local";
inline constexpr const char* kScopeRegister = "register";

/// A permutation of a buffer's elements that puts the same column of neighbouring rows into
/// different memory banks: pieces of 16 bytes move within their row. The identity when `bits` is 0.
struct Swizzle {
  int bits = 0;  // number of bits of an element's index that change: those from `to` on,
  int to = 0;
  int from = 0;  // each where its counterpart from `from` on is set; from >= to + bits

  /// The position of the element with this index. The map is its own inverse.
  int64_t place_of(int64_t index) const {
    return index ^ ((index >> from & ((int64_t{1} << bits) - 1)) << to);
  }
  /// The period of the pattern: place_of(index + period()) is place_of(index) + period().
  int64_t period() const { return bits == 0 ? 1 : int64_t{1} << (from + bits); }

  bool operator==(const Swizzle&) const = default;
};

class BufferNode : public boost::intrusive_ref_counter<BufferNode> {
 public:
  BufferNode(std::string name, DType dtype, std::vector<int64_t> shape, std::string scope);
  ~BufferNode();

  const std::string name;
  const DType dtype;
  const std::vector<int64_t> shape;
  const std::string scope;
  /// An input whose contents do not change between calls (weights): its layout may be chosen ahead of time.
  bool constant = false;
  /// Elements between neighbours along each dimension; empty = row-major without gaps.
  std::vector<int64_t> strides;
  /// In a lowered program, the element at offset o lies at swizzle.place_of(o).
  /// Code that computes addresses applies it; everything else ignores it.
  Swizzle swizzle;
  /// Where extents vary: for each dimension how much of `shape` there is, an index over parameters of the
  /// program, or null where all is. An element beyond does not exist: what a block would store to one, or
  /// make of one (ir/extents.h), does not happen; other programs touch none. Places in memory are those of
  /// `shape`, of arguments without strides those of what there is (is_packed). Empty where nothing varies.
  std::vector<Expr> extents;

  int64_t elements() const;
  /// The number of elements from the first to the last, with strides.
  int64_t span() const;
  int64_t bytes() const { return span() * dtype.bytes(); }
  /// Row-major strides unless given.
  std::vector<int64_t> effective_strides() const;
};

/// Never null where a buffer is expected. Compare with `==` for identity.
using Buffer = boost::intrusive_ptr<const BufferNode>;

Buffer make_buffer(std::string name, DType dtype, std::vector<int64_t> shape,
                   std::string scope = kScopeGlobal, bool constant = false, std::vector<int64_t> strides = {},
                   Swizzle swizzle = {});
/// The same but for BufferNode::extents. A new buffer, unless they are empty.
Buffer with_extents(const Buffer& buffer, std::vector<Expr> extents);

}  // namespace tunesmith
#pragma GCC visibility pop

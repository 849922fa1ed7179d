// The elements of one buffer during execution, and their accesses.
#pragma once

#include <cstdint>
#include <vector>

#include "tunesmith/verification/tensor.h"

namespace tunesmith::interp {

/// Accesses of an element by iterations of one parallel
/// loop. Valid if `epoch` is the loop's current execution.
struct Touches {
  static constexpr int64_t kNobody = -1;
  static constexpr int64_t kSeveral = -2;
  uint64_t epoch = 0;
  int64_t writer = kNobody;
  int64_t reader = kNobody;
};

/// Values are kept as f64 or i64 and are always values of the buffer's type.
struct Storage {
  explicit Storage(const BufferNode& node);

  void load_from(const Tensor& tensor);
  void store_to(Tensor& tensor) const;

  /// Calls `visit` with the row-major position and the offset of each element.
  template <typename Visit>
  void visit_elements(const Visit& visit) const {
    if (!packed.empty()) {
      for (size_t at = 0; at < packed.size(); ++at) visit(packed[at], at);
      return;
    }
    visit_runs(*buffer, [&](const ElementRun& run) {
      for (int64_t i = 0; i < run.count; ++i) visit(run.element + i, static_cast<size_t>(run.begin + i));
    });
  }

  /// Elements beyond these extents do not exist. `is_packed`: the others lie without gaps.
  void limit(const std::vector<int64_t>& extents, bool is_packed);
  bool exists(size_t offset) const { return missing.empty() || !missing[offset]; }

  /// Begins a new life of the buffer, in which every element is unwritten.
  void begin(size_t parallel_loops_around) {
    ++life;
    alive = true;
    level = parallel_loops_around;
  }
  bool is_written(size_t offset) const { return always_written || written[offset] == life; }
  /// Marks an element as overwritten.
  void clobber(size_t offset) { written[offset] = 0; }
  /// Is an asynchronous store to the element under way?
  bool is_pending(size_t offset) const { return !pending.empty() && pending[offset] != 0; }
  /// The accesses of an element known to the parallel loop at `depth`.
  Touches& touches(size_t depth, size_t offset);

  const BufferNode* buffer;
  std::vector<int64_t> strides;
  std::vector<double> floats;
  std::vector<int64_t> ints;
  std::vector<uint32_t> written;  // the life in which the element was last written
  std::vector<bool> missing;      // does not exist; empty: all do
  std::vector<int64_t> packed;    // row-major positions of what lies without gaps; empty: as `strides` say
  std::vector<char> pending;      // is an asynchronous store under way? empty: none has ever been
  uint32_t life = 0;
  bool alive = false;
  bool always_written = false;  // inputs
  bool read_only = false;
  /// The number of parallel loops around its allocation: each of their iterations has its own instance.
  size_t level = 0;

 private:
  std::vector<std::vector<Touches>> touches_;  // by depth
};

}  // namespace tunesmith::interp

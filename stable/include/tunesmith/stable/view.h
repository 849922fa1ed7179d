// The parts of programs: kinds, types, buffers, and views: snapshots, pointers into them, expressions,
// annotations. The numbers are those of c/program.h; a newer kernel may have more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/stable/c/program.h"
#include "tunesmith/stable/error.h"

namespace tunesmith {
inline namespace stable {

enum class BlockId : uint32_t {};
enum class LoopId : uint32_t {};
/// Results of sample_compute_location that are no loops.
inline constexpr LoopId kRootLocation{TUNESMITH_ROOT_LOCATION};
inline constexpr LoopId kInlineLocation{TUNESMITH_INLINE_LOCATION};

/// The annotation of a block that calls a tensor intrinsic: the intrinsic's name.
inline constexpr const char* kTensorIntrinsic = "tensor_intrinsic";
/// The annotation of a pipelined loop, made by the instruction with this name.
inline constexpr const char* kSoftwarePipeline = "software_pipeline";

enum class ExprKind : uint16_t {
  IntImm = TUNESMITH_EXPRESSION_KIND_INTEGER,
  FloatImm = TUNESMITH_EXPRESSION_KIND_REAL,
  Var = TUNESMITH_EXPRESSION_KIND_VARIABLE,
  Add = TUNESMITH_EXPRESSION_KIND_ADD,
  Sub = TUNESMITH_EXPRESSION_KIND_SUBTRACT,
  Mul = TUNESMITH_EXPRESSION_KIND_MULTIPLY,
  Div = TUNESMITH_EXPRESSION_KIND_DIVIDE,
  FloorDiv = TUNESMITH_EXPRESSION_KIND_FLOOR_DIVIDE,
  FloorMod = TUNESMITH_EXPRESSION_KIND_FLOOR_MODULO,
  Min = TUNESMITH_EXPRESSION_KIND_MINIMUM,
  Max = TUNESMITH_EXPRESSION_KIND_MAXIMUM,
  Eq = TUNESMITH_EXPRESSION_KIND_EQUAL,
  Ne = TUNESMITH_EXPRESSION_KIND_NOT_EQUAL,
  Lt = TUNESMITH_EXPRESSION_KIND_LESS,
  Le = TUNESMITH_EXPRESSION_KIND_LESS_EQUAL,
  And = TUNESMITH_EXPRESSION_KIND_AND,
  Or = TUNESMITH_EXPRESSION_KIND_OR,
  Not = TUNESMITH_EXPRESSION_KIND_NOT,
  Select = TUNESMITH_EXPRESSION_KIND_SELECT,
  Cast = TUNESMITH_EXPRESSION_KIND_CAST,
  Call = TUNESMITH_EXPRESSION_KIND_CALL,
  Load = TUNESMITH_EXPRESSION_KIND_LOAD,
  Ramp = TUNESMITH_EXPRESSION_KIND_RAMP,
  Broadcast = TUNESMITH_EXPRESSION_KIND_BROADCAST
};

/// Elementwise functions of a Call.
enum class MathOp : uint32_t {
  Exp = TUNESMITH_MATH_EXP,
  Log = TUNESMITH_MATH_LOG,
  Tanh = TUNESMITH_MATH_TANH,
  Erf = TUNESMITH_MATH_ERF,
  Sqrt = TUNESMITH_MATH_SQRT,
  Rsqrt = TUNESMITH_MATH_RSQRT,
  Pow = TUNESMITH_MATH_POW,
  Abs = TUNESMITH_MATH_ABS,
  Sigmoid = TUNESMITH_MATH_SIGMOID,
  Floor = TUNESMITH_MATH_FLOOR,
  Ceil = TUNESMITH_MATH_CEIL,
  RoundTf32 = TUNESMITH_MATH_ROUND_TF32,
#if TUNESMITH_STABLE_MINOR >= 1
  Sin = TUNESMITH_MATH_SIN,
  Cos = TUNESMITH_MATH_COS,
  BitAnd = TUNESMITH_MATH_BIT_AND,
  BitOr = TUNESMITH_MATH_BIT_OR,
  BitXor = TUNESMITH_MATH_BIT_XOR,
  ShiftLeft = TUNESMITH_MATH_SHIFT_LEFT,
  ShiftRight = TUNESMITH_MATH_SHIFT_RIGHT,
  RoundEven = TUNESMITH_MATH_ROUND_EVEN,
#endif
};

struct DType {
  constexpr DType(uint32_t type_code, uint8_t type_bits)
      : code(static_cast<uint8_t>(type_code)), bits(type_bits), lanes(1) {}
  explicit DType(tunesmith_type type) : code(type.code), bits(type.bits), lanes(type.lanes) {}

  uint8_t code;  // tunesmith_type_code
  uint8_t bits;
  uint16_t lanes;

  bool operator==(const DType&) const = default;
  bool is_float() const {
    return code == TUNESMITH_TYPE_CODE_FLOAT || code == TUNESMITH_TYPE_CODE_BRAIN_FLOAT;
  }
  bool is_bool() const { return code == TUNESMITH_TYPE_CODE_BOOLEAN; }
  bool is_index() const { return code == TUNESMITH_TYPE_CODE_INDEX; }
  /// "f32", "bf16", "index"; with lanes "f32x8".
  std::string str() const {
    constexpr const char* kNames[] = {"unknown", "bool", "i",    "u",
                                      "f",       "bf",   "index"};  // by tunesmith_type_code
    const std::string size = is_bool() || is_index() ? "" : std::to_string(bits);
    return kNames[code < 7 ? code : 0] + size + (lanes == 1 ? "" : "x" + std::to_string(lanes));
  }
  /// Bytes of one lane in memory.
  int bytes() const { return (bits + 7) / 8; }
};

inline constexpr DType kF64{TUNESMITH_TYPE_CODE_FLOAT, 64}, kF32{TUNESMITH_TYPE_CODE_FLOAT, 32};
inline constexpr DType kF16{TUNESMITH_TYPE_CODE_FLOAT, 16}, kBF16{TUNESMITH_TYPE_CODE_BRAIN_FLOAT, 16};
inline constexpr DType kI64{TUNESMITH_TYPE_CODE_SIGNED, 64}, kI32{TUNESMITH_TYPE_CODE_SIGNED, 32};
inline constexpr DType kI16{TUNESMITH_TYPE_CODE_SIGNED, 16}, kI8{TUNESMITH_TYPE_CODE_SIGNED, 8};
inline constexpr DType kU64{TUNESMITH_TYPE_CODE_UNSIGNED, 64}, kU32{TUNESMITH_TYPE_CODE_UNSIGNED, 32};
inline constexpr DType kU16{TUNESMITH_TYPE_CODE_UNSIGNED, 16}, kU8{TUNESMITH_TYPE_CODE_UNSIGNED, 8};
inline constexpr DType kBool{TUNESMITH_TYPE_CODE_BOOLEAN, 1}, kIndex{TUNESMITH_TYPE_CODE_INDEX, 64};

/// A buffer: a named, typed, shaped piece of memory in a scope.
struct BufferNode {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  std::string scope;
  bool constant = false;  // an input whose contents do not change between calls

  int64_t elements() const {
    int64_t product = 1;
    for (const int64_t extent : shape) product *= extent;
    return product;
  }
};

/// Never null. Within a program, buffers with equal names are equal.
using Buffer = std::shared_ptr<const BufferNode>;

inline Buffer make_buffer(const tunesmith_buffer& from) {
  return std::make_shared<const BufferNode>(
      BufferNode{{from.name.data, static_cast<size_t>(from.name.size)},
                 DType(from.type),
                 {from.shape, from.shape + from.dimensions},
                 {from.scope.data, static_cast<size_t>(from.scope.size)},
                 from.constant != 0});
}

namespace detail {

/// A snapshot that the plugin holds. `program`: the program of the snapshot, for queries; null if it no
/// longer exists.
struct Snapshot {
  Snapshot(const tunesmith_snapshot* taken, const tunesmith_program* of) : data(taken), program(of) {}
  ~Snapshot() { tables.program->release(data); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  const tunesmith_statement& statement(uint32_t at_) const {
    return element<tunesmith_statement>(data->statements, at_);
  }
  const tunesmith_expression& expression(uint32_t at_) const {
    return element<tunesmith_expression>(data->expressions, at_);
  }
  uint32_t link(uint32_t at_) const { return element<uint32_t>(data->links, at_); }

  const tunesmith_snapshot* data;
  const tunesmith_program* program;
};

}  // namespace detail

/// An optional view that is used like a pointer; it makes the view when it is dereferenced.
template <typename T>
class Pointer {
 public:
  Pointer() = default;
  Pointer(std::nullptr_t) {}  // NOLINT: as a pointer
  Pointer(const detail::Snapshot* snapshot, uint32_t position)
      : snapshot_(position == TUNESMITH_NONE ? nullptr : snapshot), position_(position) {}

  explicit operator bool() const { return snapshot_ != nullptr; }
  T operator*() const { return T(*snapshot_, position_); }
  struct Arrow {
    T view;
    const T* operator->() const { return &view; }
  };
  Arrow operator->() const { return {**this}; }
  bool operator==(const Pointer&) const = default;
  bool operator==(std::nullptr_t) const { return snapshot_ == nullptr; }

  uint32_t position() const { return position_; }

 private:
  const detail::Snapshot* snapshot_ = nullptr;
  uint32_t position_ = TUNESMITH_NONE;
};

/// A loop's variable or a block's iterator.
struct Var {
  uint32_t position = TUNESMITH_NONE;
  std::string_view name;
  bool operator==(const Var& other) const { return position == other.position; }
};

/// An expression, or null.
class Expr {
 public:
  Expr() = default;
  Expr(const detail::Snapshot* snapshot, uint32_t position)
      : snapshot_(position == TUNESMITH_NONE ? nullptr : snapshot), position_(position) {}

  explicit operator bool() const { return snapshot_ != nullptr; }
  ExprKind kind() const { return static_cast<ExprKind>(data().kind); }
  bool is(ExprKind k) const { return snapshot_ != nullptr && kind() == k; }
  DType dtype() const { return DType(data().type); }
  /// Operands in the order given at tunesmith_expression_kind; a load has its indices, then its mask, if any.
  std::vector<Expr> args() const { return list(data().operands.count); }
  Expr arg(uint32_t i) const { return {snapshot_, snapshot_->link(data().operands.first + i)}; }
  /// The indices of a load.
  std::vector<Expr> indices() const { return list(data().indices); }
  Buffer buffer() const;

  std::optional<int64_t> as_int() const {
    return is(ExprKind::IntImm) ? std::optional(data().as.integer) : std::nullopt;
  }
  /// The value of a FloatImm.
  double real() const { return data().as.real; }
  MathOp op() const { return static_cast<MathOp>(data().as.integer); }
  Var var() const;

 private:
  const tunesmith_expression& data() const { return snapshot_->expression(position_); }
  std::vector<Expr> list(uint32_t count) const {
    std::vector<Expr> all;
    for (uint32_t i = 0; i < count; ++i) all.push_back(arg(i));
    return all;
  }

  const detail::Snapshot* snapshot_ = nullptr;
  uint32_t position_ = TUNESMITH_NONE;
};

/// Facts about a loop, a block or the program, by key.
class Annotations {
 public:
  Annotations(const detail::Snapshot* snapshot, tunesmith_range range) : snapshot_(snapshot), range_(range) {}

  bool contains(std::string_view key) const { return find(key) != nullptr; }
  size_t size() const { return range_.count; }
  std::optional<int64_t> find_int(std::string_view key) const {
    const tunesmith_value* found = find(key);
    return found != nullptr && found->tag == TUNESMITH_TAG_INTEGER ? std::optional(found->as.integer)
                                                                   : std::nullopt;
  }
  std::optional<std::string_view> find_string(std::string_view key) const {
    const tunesmith_value* found = find(key);
    if (found == nullptr || found->tag != TUNESMITH_TAG_TEXT) return std::nullopt;
    return std::string_view(found->as.text, found->count);
  }

 private:
  const tunesmith_value* find(std::string_view key) const {
    for (uint32_t i = 0; i < range_.count; ++i) {
      const auto& each =
          detail::element<tunesmith_annotation>(snapshot_->data->annotations, range_.first + i);
      if (detail::view(each.key) == key) return &each.value;
    }
    return nullptr;
  }

  const detail::Snapshot* snapshot_;
  tunesmith_range range_;
};

namespace detail {

inline Var var_at(const Snapshot& snapshot, uint64_t position) {
  return {static_cast<uint32_t>(position),
          view(element<tunesmith_variable>(snapshot.data->variables, position).name)};
}
inline Buffer buffer_at(const Snapshot& snapshot, uint64_t position) {
  return make_buffer(element<tunesmith_buffer>(snapshot.data->buffers, position));
}

}  // namespace detail

inline Buffer Expr::buffer() const {
  return detail::buffer_at(*snapshot_, static_cast<uint64_t>(data().as.integer));
}
inline Var Expr::var() const { return detail::var_at(*snapshot_, static_cast<uint64_t>(data().as.integer)); }

}  // namespace stable
}  // namespace tunesmith

// What views of programs are made of: snapshots, pointers into them, expressions, annotations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tunesmith/stable/error.h"
#include "tunesmith/stable/types.h"

namespace tunesmith {
inline namespace stable {

namespace detail {

/// A snapshot that the plugin holds. `program`: what it was taken of, for questions; null once that is gone.
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

/// A view that may be none: as a pointer, but what it points to is made when it is looked at.
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

/// An expression; null where there is none.
class Expr {
 public:
  Expr() = default;
  Expr(const detail::Snapshot* snapshot, uint32_t position)
      : snapshot_(position == TUNESMITH_NONE ? nullptr : snapshot), position_(position) {}

  explicit operator bool() const { return snapshot_ != nullptr; }
  ExprKind kind() const { return static_cast<ExprKind>(data().kind); }
  bool is(ExprKind k) const { return snapshot_ != nullptr && kind() == k; }
  DType dtype() const { return DType(data().type); }
  /// Operands in the order written at tunesmith_expression_kind; a load's are its indices, and its mask.
  std::vector<Expr> args() const { return list(data().operands.count); }
  Expr arg(uint32_t i) const { return {snapshot_, snapshot_->link(data().operands.first + i)}; }
  /// Of a load.
  std::vector<Expr> indices() const { return list(data().indices); }
  Buffer buffer() const;

  std::optional<int64_t> as_int() const {
    return is(ExprKind::IntImm) ? std::optional(data().as.integer) : std::nullopt;
  }
  /// Of a FloatImm.
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

/// Key -> value facts about a loop, a block or the program.
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

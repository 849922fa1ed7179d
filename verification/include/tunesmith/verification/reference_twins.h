// The buffers that accompany each buffer of a program in the
// reference, and which values every correct program computes exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// The data on which outputs are compared.
enum class DataKind : uint8_t {
  Random,  // real numbers, one of the two data sets (data_sets.h)
  Exact,   // small integers, the other data set
  Any      // arbitrary: many values may be equal, so that roundings have the same direction
};

/// Quantities collected while a buffer sums terms t with partial sums s. Null if not needed.
struct SumTwins {
  Buffer magnitude;  // sum of |t|; beyond any type's range if a t is no integer or not exact
  Buffer squares;    // sum of t * t
  Buffer roundings;  // sum of s * s, over the additions that can round
  Buffer errors;     // sum of the errors of the t
  Buffer count;      // number of additions that can round
  Buffer lost;       // sum of the t that the largest partial sum may absorb, in a stage of its own
  double terms = 1;  // per element: the extents of the reduction
  bool integral = false;
  bool linear =
      false;  // roundings is the sum of |s| and of the root of all t * t before: they may all go one way
  bool drifts = false;     // so long that s may outgrow the t, whose roundings then go one way
  DType counts_in = kF64;  // the coarsest type of the additions and of what makes the terms
};

struct BufferTwins {
  Buffer value;  // with floats as f64
  Buffer bound;  // f64; null if every correct program computes the same bits
  std::optional<SumTwins> sum;
};

/// The stores into one buffer.
struct BufferStores;

/// A value; refers to the program's buffers, which must outlive it.
class Twins {
 public:
  Twins(const Program& program, DataKind data);

  DataKind data() const { return data_; }
  const BufferTwins& of(const Buffer& buffer) const { return twins_.at(buffer.get()); }

  /// `expr` with floats as f64 and buffers replaced.
  Expr value(const Expr& expr) const;
  /// True if no order of evaluation and no rounding can change it.
  bool exact(const Expr& expr) const;
  /// Do its values span orders of magnitude, like exponentials, although those of the data do not?
  bool spreads(const Expr& expr) const;
  /// Is it a floating value that is an integer, unless an intermediate exceeds its type's exact range?
  bool integral(const Expr& expr) const;

 private:
  /// Computes which buffers are exact, integral and spread.
  void find_facts(const Program& program, const std::unordered_map<const BufferNode*, BufferStores>& stores);
  /// For a buffer that `update` sums up.
  SumTwins sum_twins(const Buffer& buffer, const Store& update) const;

  DataKind data_;
  std::unordered_map<const BufferNode*, BufferTwins> twins_;  // for look-up only, never iterated
  std::unordered_map<const BufferNode*, bool> exact_;
  std::unordered_map<const BufferNode*, bool> integral_;
  std::unordered_map<const BufferNode*, bool> spreads_;
};

/// True if every value of `from` is a value of `to`, or (to integers) if the cast has one correct result.
bool holds_all_of(DType to, DType from);

/// For a product with 1 or -1 (a negation), the other factor: the product
/// equals it up to the sign, without rounding. Null for other products,
/// and in bf16, since a conversion to bf16 may flush denormals.
Expr exact_factor(const Expr& product);

/// The coarsest type in which `expr` adds, subtracts or multiplies; f64 if it does not.
DType coarsest_arithmetic(const Expr& expr);

/// What `store` adds to the element that it updates; null if it is no floating sum of a reduction.
Expr summand(const Store& store);

}  // namespace tunesmith

// What stands in the reference beside each buffer of a program, and which values every right program computes
// to the bit.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// What outputs are compared on.
enum class DataKind : uint8_t {
  Random,  // reals, one of the two data sets (data_sets.h)
  Exact,   // small integers, the other one
  Any      // whatever a program may be given: many values may be equal, so that their roundings go one way
};

/// What is gathered while a buffer sums up terms t with the partial sums s. Null where it is not needed.
struct SumTwins {
  Buffer magnitude;  // sum of |t|; more than any type holds where a t is no integer or not exact
  Buffer squares;    // sum of t * t
  Buffer roundings;  // sum of s * s, over the additions that can round
  Buffer errors;     // sum of the errors that the t themselves have
  Buffer count;      // of additions that can round
  Buffer lost;       // of the t that the largest partial sum may absorb, in a stage of its own
  double terms = 1;  // of one element: the extents of the reduction
  bool integral = false;
  bool linear =
      false;  // roundings is the sum of |s| and of the root of all t * t before: they may all go one way
  bool drifts = false;     // so long that s may outgrow the t, whose roundings then go one way
  DType counts_in = kF64;  // the coarsest type of the additions and of what makes the terms
};

struct BufferTwins {
  Buffer value;  // floats in f64
  Buffer bound;  // f64; null where every right program computes the same bits
  std::optional<SumTwins> sum;
};

/// The stores into one buffer.
struct BufferStores;

/// A value; refers to the program's buffers, which must live as long.
class Twins {
 public:
  Twins(const Program& program, DataKind data);

  DataKind data() const { return data_; }
  const BufferTwins& of(const Buffer& buffer) const { return twins_.at(buffer.get()); }

  /// `expr` with floats in f64 and buffers replaced.
  Expr value(const Expr& expr) const;
  /// True when no order of evaluation and no rounding changes it.
  bool exact(const Expr& expr) const;
  /// Do its values lie orders of magnitude apart, as exponentials do, though those of the data do not?
  bool spreads(const Expr& expr) const;
  /// A floating value that is an integer, if nothing on the way to it exceeds what its type counts to.
  bool integral(const Expr& expr) const;

 private:
  /// Which buffers are exact, integral and spread.
  void find_facts(const Program& program, const std::unordered_map<const BufferNode*, BufferStores>& stores);
  /// Of a buffer that `update` sums up.
  SumTwins sum_twins(const Buffer& buffer, const Store& update) const;

  DataKind data_;
  std::unordered_map<const BufferNode*, BufferTwins> twins_;  // looked up, never walked
  std::unordered_map<const BufferNode*, bool> exact_;
  std::unordered_map<const BufferNode*, bool> integral_;
  std::unordered_map<const BufferNode*, bool> spreads_;
};

/// True when every value of `from` is one of `to`, or (to integers) when a cast has one right result.
bool holds_all_of(DType to, DType from);

/// Of a product with 1 or -1, as negation is written, the other factor: the product has its value but for the
/// sign, and no rounding. Null for any other, and in bf16, a conversion to which may take a denormal for
/// zero.
Expr exact_factor(const Expr& product);

/// The coarsest type in which `expr` adds, subtracts or multiplies; f64 where it does not.
DType coarsest_arithmetic(const Expr& expr);

/// What `store` adds to the element it updates; null when it is no floating sum of a reduction.
Expr summand(const Store& store);

}  // namespace tunesmith

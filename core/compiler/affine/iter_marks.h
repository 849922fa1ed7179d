// The iterators of check_iter_map: loops, and sums of pieces of iterators that are split again.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "tunesmith/affine/iter_map.h"

namespace tunesmith::affine {

/// (mark // lower) % extent * scale, with values of the piece in [0, extent).
struct Piece {
  int mark = 0;
  int64_t lower = 1;
  int64_t extent = 1;
  int64_t scale = 1;

  bool same_source(const Piece& other) const {
    return mark == other.mark && lower == other.lower && extent == other.extent;
  }
};

struct PieceSum {
  using Pieces = boost::container::small_vector<Piece, 4>;
  Pieces pieces;  // by decreasing |scale|
  int64_t base = 0;

  void add(Piece piece);
  void add_scaled(const PieceSum& other, int64_t factor);
  int64_t min() const;
  int64_t max() const;
  /// Does the sum's value determine the value of each of its pieces?
  bool separable() const;
};

/// A loop (no pieces), or a separable sum of pieces.
struct Mark {
  PieceSum::Pieces pieces;
  int64_t extent = 1;
  int64_t natural_extent = 1;  // the extent without predicates
  bool constrained = false;
};

/// All marks of one map. The domains come first, in their order.
class MarkTable {
 public:
  MarkTable(std::span<const IterDomain> domains, const Analyzer& analyzer);

  const std::vector<Mark>& marks() const { return marks_; }
  /// The expression as a sum of pieces; nothing if it has another form.
  std::optional<PieceSum> parse(const Expr& expr);
  /// Assumes  sum < bound. False if the constraint cannot be used.
  bool constrain(PieceSum sum, int64_t bound);
  /// Replaces pieces that together form a constrained mark, or a quotient of one, by a piece of that mark.
  void group(PieceSum& sum) const;
  /// The number of points of the domains that satisfy all constraints; nothing if it is unknown.
  std::optional<int64_t> count_points() const;
  /// Does the piece extend to the top of its mark, so that its modulo is redundant?
  bool at_top(const Piece& piece) const { return piece.lower * piece.extent >= mark(piece.mark).extent; }
  const Mark& mark(int m) const { return marks_[static_cast<size_t>(m)]; }

 private:
  std::optional<PieceSum> divide(const PieceSum& sum, int64_t divisor);
  std::optional<PieceSum> modulo(const PieceSum& sum, int64_t divisor);
  /// The piece with the value of `sum`; nothing if the sum is not separable.
  std::optional<Piece> piece_of(PieceSum sum);
  Piece divide_piece(const Piece& piece, int64_t divisor);
  Piece modulo_piece(const Piece& piece, int64_t divisor);
  int find_or_add(const PieceSum& sum);
  bool group_into(int m, PieceSum& sum) const;
  /// The digits of marks that constraints use.
  struct Digits {
    std::vector<Piece> used;
    std::vector<bool> whole;    // marks of which all digits are used
    std::vector<bool> counted;  // marks whose constraint has been counted
    int64_t points = 1;
  };
  static bool use(const Piece& piece, Digits& digits);
  bool use_pieces(int m, Digits& digits) const;
  bool count_constraint(int m, Digits& digits) const;
  bool use_source(const Piece& piece, Digits& digits) const;
  Piece free_digits(const Mark& constrained) const;

  std::span<const IterDomain> domains_;
  const Analyzer& analyzer_;
  std::vector<Mark> marks_;
  std::vector<int> constrained_;  // in the order of creation
};

}  // namespace tunesmith::affine

#include "affine/iter_marks.h"

#include <algorithm>
#include <numeric>

#include "affine/interval.h"

namespace tunesmith::affine {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// A sum whose pieces all have positive scales, split for a division.
struct Division {
  PieceSum whole;      // the pieces that the divisor divides, divided
  PieceSum rest;       // the other pieces
  int64_t common = 1;  // gcd of the divisor and all scales of `rest`
};

/// Nothing if the sum does not allow it.
std::optional<Division> take_apart(const PieceSum& sum, int64_t divisor) {
  if (sum.base % divisor != 0) return std::nullopt;
  Division division;
  division.whole.base = sum.base / divisor;
  division.common = divisor;
  for (const Piece& piece : sum.pieces) {
    if (piece.scale % divisor == 0) {
      Piece divided = piece;
      divided.scale /= divisor;
      division.whole.add(divided);
      continue;
    }
    if (piece.scale < 0) return std::nullopt;
    division.rest.add(piece);
    division.common = std::gcd(division.common, piece.scale);
  }
  return division;
}

/// True if the sum contains no other piece of the mark.
bool stands_alone(const Piece& piece, const PieceSum& sum) {
  const auto same_mark = [&](const Piece& other) { return other.mark == piece.mark; };
  return std::count_if(sum.pieces.begin(), sum.pieces.end(), same_mark) == 1;
}

PieceSum divided_scales(const PieceSum& sum, int64_t divisor) {
  PieceSum result = sum;
  for (Piece& piece : result.pieces) piece.scale /= divisor;
  return result;
}

}  // namespace

void PieceSum::add(Piece piece) {
  if (piece.extent <= 1 || piece.scale == 0) return;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece known = pieces[i];
    const auto drop = [&] { pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i)); };
    if (known.same_source(piece)) {
      drop();
      piece.scale += known.scale;
      return add(piece);
    }
    // Adjacent digits of one mark are one piece.
    if (known.mark == piece.mark) {
      const Piece& low = known.lower < piece.lower ? known : piece;
      const Piece& high = known.lower < piece.lower ? piece : known;
      if (high.lower == low.lower * low.extent && high.scale == low.scale * low.extent) {
        const Piece merged{low.mark, low.lower, low.extent * high.extent, low.scale};
        drop();
        return add(merged);
      }
    }
  }
  const auto coarser = [](const Piece& a, const Piece& b) {
    if (std::abs(a.scale) != std::abs(b.scale)) return std::abs(a.scale) > std::abs(b.scale);
    return std::pair(a.mark, a.lower) < std::pair(b.mark, b.lower);
  };
  pieces.insert(std::upper_bound(pieces.begin(), pieces.end(), piece, coarser), piece);
}

void PieceSum::add_scaled(const PieceSum& other, int64_t factor) {
  base += other.base * factor;
  for (Piece piece : other.pieces) {
    piece.scale *= factor;
    add(piece);
  }
}

int64_t PieceSum::min() const {
  int64_t total = base;
  for (const Piece& piece : pieces) total += std::min<int64_t>(0, piece.scale * (piece.extent - 1));
  return total;
}

int64_t PieceSum::max() const {
  int64_t total = base;
  for (const Piece& piece : pieces) total += std::max<int64_t>(0, piece.scale * (piece.extent - 1));
  return total;
}

bool PieceSum::separable() const {
  int64_t reach = 0;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    if (std::abs(piece->scale) <= reach) return false;
    reach += std::abs(piece->scale) * (piece->extent - 1);
  }
  return true;
}

MarkTable::MarkTable(std::span<const IterDomain> domains, const Analyzer& analyzer)
    : domains_(domains), analyzer_(analyzer) {
  for (const IterDomain& domain : domains) marks_.push_back({{}, domain.extent, domain.extent, false});
}

std::optional<PieceSum> MarkTable::parse(const Expr& expr) {
  const LinearForm form = analyzer_.linear(expr);
  // Prevents overflow in products of scales and extents.
  constexpr int64_t kLimit = int64_t{1} << 40;
  const auto small = [](int64_t value) { return value < kLimit && value > -kLimit; };
  if (!small(form.constant) || !analyzer_.bounds(expr).bounded()) return std::nullopt;
  PieceSum sum;
  sum.base = form.constant;
  for (const auto& [coefficient, atom] : form.terms) {
    if (!small(coefficient)) return std::nullopt;
    if (atom.is(ExprKind::Var)) {
      const auto domain = std::find_if(domains_.begin(), domains_.end(),
                                       [&](const IterDomain& d) { return d.var.get() == atom.get(); });
      if (domain == domains_.end()) return std::nullopt;
      sum.add({static_cast<int>(domain - domains_.begin()), 1, domain->extent, coefficient});
      continue;
    }
    int64_t divisor = 0;
    const bool is_quotient = atom.is(ExprKind::FloorDiv);
    if (!is_quotient && !atom.is(ExprKind::FloorMod)) return std::nullopt;
    if (!as_const_int(atom.arg(1), &divisor) || divisor <= 0 || !small(divisor)) return std::nullopt;
    const auto operand = parse(atom.arg(0));
    if (!operand) return std::nullopt;
    const auto part = is_quotient ? divide(*operand, divisor) : modulo(*operand, divisor);
    if (!part) return std::nullopt;
    sum.add_scaled(*part, coefficient);
  }
  return sum;
}

std::optional<PieceSum> MarkTable::divide(const PieceSum& sum, int64_t divisor) {
  auto division = take_apart(sum, divisor);
  if (!division) return std::nullopt;
  PieceSum& whole = division->whole;
  if (division->rest.max() < divisor) return whole;
  const auto piece = piece_of(divided_scales(division->rest, division->common));
  if (!piece) return std::nullopt;
  whole.add(divide_piece(*piece, divisor / division->common));
  return whole;
}

std::optional<PieceSum> MarkTable::modulo(const PieceSum& sum, int64_t divisor) {
  const auto division = take_apart(sum, divisor);
  if (!division) return std::nullopt;
  if (division->rest.max() < divisor) return division->rest;
  const auto piece = piece_of(divided_scales(division->rest, division->common));
  if (!piece) return std::nullopt;
  PieceSum result;
  Piece part = modulo_piece(*piece, divisor / division->common);
  part.scale = division->common;
  result.add(part);
  return result;
}

Piece MarkTable::divide_piece(const Piece& piece, int64_t divisor) {
  const int64_t values = ceil_div(piece.extent, divisor);
  if (values == 1) return {piece.mark, 1, 1, 1};
  if (at_top(piece) || piece.extent % divisor == 0) return {piece.mark, piece.lower * divisor, values, 1};
  PieceSum alone;
  alone.add(piece);
  return {find_or_add(alone), divisor, values, 1};
}

Piece MarkTable::modulo_piece(const Piece& piece, int64_t divisor) {
  if (divisor >= piece.extent) return piece;
  if (at_top(piece) || piece.extent % divisor == 0) return {piece.mark, piece.lower, divisor, 1};
  PieceSum alone;
  alone.add(piece);
  return {find_or_add(alone), 1, divisor, 1};
}

// A number has many forms: with x = 4*a + b,  x // 10  may be written  (2*a + b//2) // 5,  and  x % 12  as
// 4*(a%3) + b. All are normalised to pieces of one mark, x, by undoing the division at the finest piece and
// the modulo at the coarsest.
std::optional<Piece> MarkTable::piece_of(PieceSum sum) {
  group(sum);
  if (sum.pieces.size() == 1 && sum.pieces[0].scale == 1) return sum.pieces[0];
  if (!sum.separable()) return std::nullopt;
  const Piece finest = sum.pieces.back();
  const Piece coarsest = sum.pieces.front();
  const int64_t lower = finest.scale == 1 && stands_alone(finest, sum) ? finest.lower : 1;
  const bool cut = !at_top(coarsest) && stands_alone(coarsest, sum);
  const int64_t modulus = coarsest.scale * coarsest.extent;
  const int64_t whole = saturating_mul(coarsest.scale, mark(coarsest.mark).extent);
  if (!representable(saturating_mul(whole, lower))) return std::nullopt;

  PieceSum lifted;
  for (Piece piece : sum.pieces) {
    if (cut && piece.same_source(coarsest)) piece.extent = ceil_div(mark(piece.mark).extent, piece.lower);
    if (lower > 1 && piece.same_source(finest)) {
      piece.extent = std::min(piece.extent * lower, mark(piece.mark).extent);
      piece.lower = 1;
    } else {
      piece.scale *= lower;
    }
    lifted.add(piece);
  }
  const int m = find_or_add(lifted);
  return Piece{m, lower, std::min(modulus, ceil_div(mark(m).extent, lower)), 1};
}

int MarkTable::find_or_add(const PieceSum& sum) {
  const auto same = [](const Piece& a, const Piece& b) { return a.same_source(b) && a.scale == b.scale; };
  for (size_t m = domains_.size(); m < marks_.size(); ++m) {
    const auto& known = marks_[m].pieces;
    if (std::equal(known.begin(), known.end(), sum.pieces.begin(), sum.pieces.end(), same))
      return static_cast<int>(m);
  }
  const int64_t extent = sum.max() + 1;
  marks_.push_back({sum.pieces, extent, extent, false});
  return static_cast<int>(marks_.size() - 1);
}

void MarkTable::group(PieceSum& sum) const {
  for (Piece& piece : sum.pieces)
    piece.extent = std::min(piece.extent, ceil_div(mark(piece.mark).extent, piece.lower));
  for (const int m : constrained_) group_into(m, sum);
}

bool MarkTable::group_into(int m, PieceSum& sum) const {
  const auto& wanted = mark(m).pieces;
  // The part of the mark's finest piece that is divided away determines which quotient of the mark the sum
  // may hold.
  const Piece& finest = wanted.back();
  int64_t quotient = 0;
  int64_t factor = 0;
  for (const Piece& piece : sum.pieces) {
    if (piece.mark != finest.mark || piece.lower % finest.lower != 0) continue;
    const int64_t divisor = piece.lower / finest.lower;
    if (piece.extent != ceil_div(finest.extent, divisor)) continue;
    if (divisor > 1 && (finest.scale != 1 || (!at_top(finest) && finest.extent % divisor != 0))) continue;
    if (piece.scale % finest.scale != 0) continue;
    quotient = divisor;
    factor = piece.scale / finest.scale;
    break;
  }
  if (quotient == 0) return false;
  PieceSum left = sum;
  for (const Piece& want : wanted) {
    const bool last = want.same_source(finest);
    const auto found = std::find_if(left.pieces.begin(), left.pieces.end(), [&](const Piece& piece) {
      if (last) return piece.mark == want.mark && piece.lower == want.lower * quotient;
      return piece.same_source(want) && want.scale % quotient == 0 &&
             piece.scale == factor * (want.scale / quotient);
    });
    if (found == left.pieces.end()) return false;
    left.pieces.erase(found);
  }
  left.add({m, quotient, ceil_div(mark(m).extent, quotient), factor});
  sum = std::move(left);
  return true;
}

bool MarkTable::constrain(PieceSum sum, int64_t bound) {
  sum.base = 0;
  int64_t scale = 0;
  for (const Piece& piece : sum.pieces) {
    if (piece.scale < 0) return false;
    scale = std::gcd(scale, piece.scale);
  }
  if (scale == 0 || bound <= 0) return false;
  sum = divided_scales(sum, scale);
  bound = ceil_div(bound, scale);
  group(sum);
  if (sum.max() < bound) return true;
  if (!sum.separable()) return false;
  // x // d < bound  is  x < d * bound.
  if (const Piece finest = sum.pieces.back();
      finest.scale == 1 && finest.lower > 1 && stands_alone(finest, sum)) {
    const int64_t lower = finest.lower;
    Piece lifted{finest.mark, 1, std::min(finest.extent * lower, mark(finest.mark).extent), 1};
    sum.pieces.pop_back();
    for (Piece& piece : sum.pieces) piece.scale *= lower;
    sum.add(lifted);
    bound *= lower;
    group(sum);
    if (sum.max() < bound) return true;
  }
  const Piece& only = sum.pieces.front();
  const bool known = sum.pieces.size() == 1 && only.lower == 1 && at_top(only) && mark(only.mark).constrained;
  const int m = known ? only.mark : find_or_add(sum);
  Mark& target = marks_[static_cast<size_t>(m)];
  target.extent = std::min(target.extent, bound);
  if (!target.constrained) constrained_.push_back(m);
  target.constrained = true;
  return true;
}

// Counts points by digits. A constraint  x < bound  on a number of uniform, independent digits leaves `bound`
// values, each with as many points as before; constraints on different digits multiply.

/// False if the digits are in use already.
bool MarkTable::use(const Piece& piece, Digits& digits) {
  if (piece.extent == 1) return true;
  const int64_t end = piece.lower * piece.extent;
  for (const Piece& other : digits.used) {
    if (other.mark != piece.mark) continue;
    if (other.lower % end != 0 && piece.lower % (other.lower * other.extent) != 0) return false;
  }
  digits.used.push_back(piece);
  return true;
}

/// The lowest digits of a constrained number, which the constraint does not restrict:  4*a + b < 30  is 2*a +
/// b//2 < 15.
Piece MarkTable::free_digits(const Mark& constrained) const {
  Piece finest = constrained.pieces.back();
  int64_t common = std::gcd(constrained.extent, finest.extent);
  for (size_t i = 0; i + 1 < constrained.pieces.size(); ++i)
    common = std::gcd(common, constrained.pieces[i].scale);
  finest.extent = common;
  return finest;
}

/// True if all pieces of the mark are adjacent, unused digits; for a constrained mark, without its free
/// digits.
bool MarkTable::use_pieces(int m, Digits& digits) const {
  int64_t next_scale = 1;
  const auto& pieces = mark(m).pieces;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    // Counts the source's own constraint first: the piece must be uniform within it.
    if (mark(piece->mark).constrained && !count_constraint(piece->mark, digits)) return false;
    if (piece->scale != next_scale) return false;
    if (mark(piece->mark).extent % (piece->lower * piece->extent) != 0) return false;
    if (!use_source(*piece, digits)) return false;
    Piece spoken_of = *piece;
    if (piece == pieces.rbegin() && mark(m).constrained) {
      const int64_t free = free_digits(mark(m)).extent;
      spoken_of.lower *= free;
      spoken_of.extent /= free;
    }
    if (!use(spoken_of, digits)) return false;
    next_scale *= piece->extent;
  }
  return next_scale == mark(m).natural_extent;
}

bool MarkTable::count_constraint(int m, Digits& digits) const {
  if (digits.counted[static_cast<size_t>(m)]) return true;
  digits.counted[static_cast<size_t>(m)] = true;
  if (!use_pieces(m, digits)) return false;
  const int64_t free = free_digits(mark(m)).extent;
  if (digits.points % (mark(m).natural_extent / free) != 0) return false;
  digits.points = digits.points / (mark(m).natural_extent / free) * (mark(m).extent / free);
  return true;
}

/// Uses the digits that make up the piece's mark; of a constrained mark, its free digits. False if some are
/// in use already.
bool MarkTable::use_source(const Piece& piece, Digits& digits) const {
  const Mark& source = mark(piece.mark);
  if (source.pieces.empty() || digits.whole[static_cast<size_t>(piece.mark)]) return true;
  if (source.constrained && piece.lower % free_digits(source).extent == 0) return true;
  digits.whole[static_cast<size_t>(piece.mark)] = true;
  return source.constrained ? use(free_digits(source), digits) : use_pieces(piece.mark, digits);
}

std::optional<int64_t> MarkTable::count_points() const {
  Digits digits{{}, std::vector<bool>(marks_.size()), std::vector<bool>(marks_.size()), 1};
  for (const IterDomain& domain : domains_) {
    if (__builtin_mul_overflow(digits.points, domain.extent, &digits.points)) return std::nullopt;
  }
  for (const int m : constrained_) {
    if (!count_constraint(m, digits)) return std::nullopt;
  }
  return digits.points;
}

}  // namespace tunesmith::affine

// Builds stages: the blocks that compute one buffer each.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/workload/definition.h"
#include "workload/evaluator.h"
#include "workload/prover.h"

namespace tunesmith::workload {

/// The limit of a buffer's elements and an axis's extent.
inline constexpr int64_t kMaxElements = int64_t{1} << 34;

/// The extent of an axis or dimension.
struct Extent {
  int64_t most = 1;
  Expr varying;  // a dynamic extent, over the program's parameters; null if it is always `most`

  bool operator==(const Extent& other) const;
  /// The dynamic extent, or `most` as an expression.
  Expr expr() const { return varying ? varying : int_imm(most); }
  /// "512", "n"
  std::string text() const;
};

/// The state of building a program, shared by its stages.
struct BuildState {
  struct Known {
    Buffer buffer;
    Place place;
    bool read = false;
  };

  const Definition& definition;
  const Environment& names;
  Program program;
  std::map<std::string, Known, std::less<>> buffers;
  std::vector<std::string> computed;  // in order
  /// The extents that earlier statements gave to an axis, each with its line.
  std::map<std::string, std::vector<std::pair<Extent, int>>> extents_seen;
  /// The extents of the current statement's axes.
  std::map<std::string, Extent> statement_extents;
};

/// An axis: an iteration variable of the block.
struct Axis {
  std::string name;
  Var var;
  Extent extent;
  Place place;
  bool used = false;
};

/// Reads an extent, which must be in [1, kMaxElements] for all values of the parameters; `what` names it:
/// "axis 'i'".
Extent read_extent(Evaluator& evaluator, const Syntax& syntax, const std::string& what);
/// Throws UserError if the buffer has more than kMaxElements elements.
void check_elements(const TypeRules& rules, Place place, const std::string& buffer,
                    std::span<const int64_t> shape);

/// The strides of an input or output in the definition, in a canonical form for each layout; empty if the
/// array has no gaps. Throws UserError if elements overlap.
std::vector<int64_t> strides_of(const BuildState& state, const std::string& buffer,
                                std::span<const int64_t> shape, std::span<const Expr> extents);

/// An axis of the statement, with the written extent or that of an earlier axis of its name.
Axis resolve_axis(BuildState& state, const AxisSyntax& syntax);

class StageBuilder final : public Evaluator {
 public:
  StageBuilder(BuildState& state, std::string target, Place place, std::vector<Axis> spatial);

  /// Appends the block that computes `value` to the program, after blocks for the reductions inside it.
  Buffer build(const Syntax& value);
  /// Appends the block of `reduction`, with the operation `kind` in place of its own.
  Buffer build(const Syntax& reduction, const std::string& kind);

 protected:
  Operand name(const Syntax& syntax) override;
  Operand access(const Syntax& syntax) override;
  Operand reduce(const Syntax& syntax) override;
  Operand inside(const Syntax& syntax) override;
  Operand select(const Syntax& syntax) override;

 private:
  void add_reduction_axes(const Syntax& reduction);
  Buffer build_elementwise(const Syntax& value);
  Buffer build_reduction(const Syntax& reduction, const std::string& name);
  Buffer build_position(const Syntax& reduction, const std::string& name);
  Expr term_of(const Syntax& reduction);
  Operand reduce_by(const Syntax& reduction, const std::string& kind);
  Buffer emit(DType dtype, const Expr& value, const ExprKind* reduction);
  BuildState::Known& find_buffer(const Syntax& access);
  void check_steps(const Store& store) const;
  /// Binds the axis to the range of its extent.
  void bind(const Axis& axis);
  Expr data_index(const Syntax& syntax, int64_t most, const Expr& extent);
  Expr index(const Syntax& syntax);
  std::vector<Expr> indices(const Syntax& access, const Buffer& buffer);
  void check_within(const Syntax& access, const Buffer& buffer, const std::vector<Expr>& at) const;

  BuildState& state_;
  const std::string target_;
  const Place place_;
  std::vector<Axis> axes_;  // spatial ones, then those of the reduction
  const size_t spatial_;
  Prover prover_;
};

}  // namespace tunesmith::workload

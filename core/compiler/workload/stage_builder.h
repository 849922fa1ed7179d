// Builds one stage: the block that computes one buffer.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tunesmith/ir/program.h"
#include "workload/definition.h"
#include "workload/evaluator.h"
#include "workload/prover.h"

namespace tunesmith::workload {

/// No buffer may hold more elements, no axis be longer.
inline constexpr int64_t kMaxElements = int64_t{1} << 34;

/// Of an axis or a dimension.
struct Extent {
  int64_t most = 1;
  Expr varying;  // over parameters that vary; null where it is always `most`

  bool operator==(const Extent& other) const;
  /// `most` as an expression, or what varies.
  Expr expr() const { return varying ? varying : int_imm(most); }
  /// "512", "n"
  std::string text() const;
};

/// What is known while a program is being built; the stages share it.
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
  /// Extents that statements have given to an axis so far, each with its line.
  std::map<std::string, std::vector<std::pair<Extent, int>>> extents_seen;
  /// Extents of this statement's axes.
  std::map<std::string, Extent> statement_extents;
};

/// An axis: an iteration variable of the block that is built.
struct Axis {
  std::string name;
  Var var;
  Extent extent;
  Place place;
  bool used = false;
};

/// An extent in [1, kMaxElements], whatever the parameters' values; `what` names it: "axis 'i'".
Extent read_extent(Evaluator& evaluator, const Syntax& syntax, const std::string& what);
/// Checks the number of elements.
void check_elements(const TypeRules& rules, Place place, const std::string& buffer,
                    std::span<const int64_t> shape);

/// The strides of an input or an output as the definition has them, in one form for one place of each
/// element; empty where they are those of an array without gaps. Refuses elements that share a place.
std::vector<int64_t> strides_of(const BuildState& state, const std::string& buffer,
                                std::span<const int64_t> shape, std::span<const Expr> extents);

/// An axis of the statement with its extent, as written or as an earlier statement gave it.
Axis resolve_axis(BuildState& state, const AxisSyntax& syntax);

class StageBuilder final : public Evaluator {
 public:
  StageBuilder(BuildState& state, std::string target, Place place, std::vector<Axis> spatial);

  /// Appends the block that computes `value` to the program, after blocks for the reductions inside it.
  Buffer build(const Syntax& value);
  /// The same of a reduction by another name than its own.
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
  /// Binds the axis, which runs as far as its extent says.
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

// Evaluates expressions of the language over parameters. StageBuilder adds buffers and axes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/workload/syntax.h"
#include "workload/operand.h"

namespace tunesmith::workload {

/// The values of parameters and `let` names: Integers and Types.
using Environment = std::map<std::string, Operand, std::less<>>;

class Evaluator {
 public:
  /// `names` outlives the evaluator and may grow.
  Evaluator(const std::string& file, const Environment& names) : rules_(file), names_(names) {}
  virtual ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  Operand evaluate(const Syntax& syntax);
  /// The value of a constant integer expression; `what` describes it in errors: "an extent".
  int64_t integer(const Syntax& syntax, std::string_view what);
  DType type(const Syntax& syntax, std::string_view what);
  const TypeRules& rules() const { return rules_; }
  /// "h=0, padding=0": the names that `syntax` uses, with their values.
  std::string values_used(const Syntax& syntax) const;

 protected:
  virtual Operand name(const Syntax& syntax);
  virtual Operand access(const Syntax& syntax);
  virtual Operand reduce(const Syntax& syntax);
  virtual Operand inside(const Syntax& syntax);
  virtual Operand select(const Syntax& syntax);

  void expect_arguments(const Syntax& call, size_t count) const;
  const Environment& names() const { return names_; }
  std::vector<std::string> known_names() const;

 private:
  Operand call(const Syntax& syntax);
  Operand type_function(const Syntax& syntax);

  TypeRules rules_;
  const Environment& names_;
};

}  // namespace tunesmith::workload

// Workloads: tensor computations as text (docs/workload-language.md), with values for their parameters.
//
//   WorkloadDefinition   a parsed file, checked as far as possible without parameter values
//   Workload             one computation with fixed shapes or ranges of extents, as a program
//
// Errors in a text are UserErrors with line and column, what was expected and the nearest known name.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tunesmith/ir/dtype.h"
#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

struct YamlNode;

namespace workload {
struct Definition;
}

/// The range of a dynamic extent: "1..512" or "1..512:typical=128,384".
struct ParamRange {
  int64_t lowest = 1;
  int64_t highest = 1;
  std::vector<int64_t> typical;
};

/// An integer, a data type, or the range of a value that is passed with each call.
using ParamValue = std::variant<int64_t, DType, ParamRange>;

struct WorkloadParam {
  std::string name;
  ParamValue value;

  /// "512", "-1", "bf16", "1..512".
  std::string value_text() const;
};

/// A parameter as the user gave it: {"n", "512"}.
using ParamText = std::pair<std::string, std::string>;

/// Movable. Thread-safe to read; each thread that schedules clones the program.
struct Workload {
  /// Inputs, outputs and intermediates are in text order; each statement is one
  /// block named after the buffer that it computes, with one loop per axis.
  Program program;
  std::string name;
  /// All parameters with their values, in the order of declaration.
  std::vector<WorkloadParam> params;
  /// The canonical text: "gmm:b=1,n=512,m=512,k=512,dtype=f32". Parameters are in the order of declaration,
  /// without those whose default depends on other parameters. Equal keys of one definition give equal
  /// programs.
  std::string key;
  /// The text of the definition's file. WorkloadDefinition::parse() of it,
  /// instantiated with the parameters in `key`, gives this workload again.
  std::string definition;
  /// A hash of the computation, independent of its text, equal on every machine.
  uint64_t hash = 0;
  /// Nominal arithmetic of one call: additions, subtractions, multiplications, divisions, minima, maxima,
  /// comparisons and elementwise functions count one each; index arithmetic does not count. A matmul has
  /// 2*n*m*k. With ranges of extents, here and below: the geometric mean over typical_values().
  double flops = 0.0;
  /// Bytes of all inputs and outputs, which a call moves at least.
  double bytes_min = 0.0;
};

/// The workload with static extents for these values of its program's parameters. Throws UserError if the
/// workload has no definition.
Workload at_values(const Workload& workload, std::span<const int64_t> values);

/// Cheap to copy; immutable, so any thread may use it.
class WorkloadDefinition {
 public:
  /// `file` is named in errors. Throws UserError.
  static WorkloadDefinition parse(std::string_view yaml, const std::string& file);
  /// Throws UserError, also if the file cannot be read.
  static WorkloadDefinition read(const std::string& path);

  const std::string& name() const;
  const std::string& description() const;
  /// The network operator that the file defines (apply.h), such as "com.example.Scale"; "" if it defines
  /// none.
  const std::string& op() const;
  const std::string& file() const;
  /// The whole file.
  const std::string& text() const;
  /// With their default values.
  std::vector<WorkloadParam> params() const;

  /// Parameters that `given` does not name have their defaults. Throws UserError for an unknown parameter, a
  /// value of the wrong type, and errors that these values cause, such as a read out of bounds or an empty
  /// shape.
  Workload instantiate(const std::vector<ParamText>& given = {}) const;

 private:
  explicit WorkloadDefinition(std::shared_ptr<const workload::Definition> definition);
  std::shared_ptr<const workload::Definition> definition_;
};

/// The program of a definition that is a YAML mapping, with default parameters. Throws UserError.
Program program_of_definition(const YamlNode& definition);

/// Workload::flops of any program with constant extents, before or after scheduling.
double count_flops(const Program& program);

}  // namespace tunesmith
#pragma GCC visibility pop

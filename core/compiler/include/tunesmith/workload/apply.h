// Applies workload definitions as operators: the input arrays and attributes determine their parameters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith::workload {

struct ArrayType {
  DType dtype;
  std::vector<int64_t> shape;
};

using AttributeValue = std::variant<int64_t, double>;

struct AppliedDefinition {
  std::vector<ArrayType> outputs;
  /// With values in place of parameter names, and the extent of every axis. Inputs are named in0, in1, ...,
  /// outputs out0, out1, ..., other arrays t0, t1, ...
  std::string statements;
};

/// Instantiates the definition with its first `outputs` outputs. A parameter that is a whole extent or the
/// type of an input takes its value from `inputs`; any other takes the attribute of its name, or else its
/// default. Attributes and defaults may be real numbers. Throws UserError if an input does not fit, if an
/// attribute is not such a parameter, and as WorkloadDefinition::instantiate().
AppliedDefinition apply(const WorkloadDefinition& definition, const std::vector<ArrayType>& inputs,
                        const std::map<std::string, AttributeValue>& attributes, size_t outputs);

}  // namespace tunesmith::workload
#pragma GCC visibility pop

// Definitions as operators: their parameters follow from the arrays that they are applied to.
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
  /// With values in the place of names, and the extent of every axis. Arrays are in0, in1, ..., out0, out1,
  /// ... and, where they are neither, t0, t1, ...
  std::string statements;
};

/// A parameter that is a whole extent of an input, or its type, is what `inputs` have there; others have the
/// value of the attribute of their name, or their default, which may be a real number. Throws UserError where
/// an input does not fit or there is no such parameter, and as WorkloadDefinition::instantiate does. Outputs
/// after the first `outputs` are not asked for.
AppliedDefinition apply(const WorkloadDefinition& definition, const std::vector<ArrayType>& inputs,
                        const std::map<std::string, AttributeValue>& attributes, size_t outputs);

}  // namespace tunesmith::workload
#pragma GCC visibility pop

// Columns of features: what a cost model may read of a store (tunesmith/performance/features.h has those that
// come with Tunesmith), and how an extension adds columns of its own.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "tunesmith/ir/stmt.h"
#include "tunesmith/target/device_model.h"

#pragma GCC visibility push(default)
namespace tunesmith {

struct FeatureColumn {
  std::string name;     // "float_fma", "buffer0_unique_bytes"
  std::string unit;     // "operations", "bytes", "1" for a flag or a ratio
  std::string meaning;  // one line; of a number that is derived, how

  bool operator==(const FeatureColumn&) const = default;
};

/// A store of a lowered program, as the value of an added column is computed from it. Valid during the call.
struct FeatureStore {
  const Store& store;
  std::span<const Loop* const> loops;  // around it, outermost first
  std::span<const double> trips;       // iterations of each; the most, where its range depends on others
  std::span<const float> row;          // Tunesmith's numbers of it, in the order of feature_columns()
  const DeviceModel& device;
};

/// A column of an extension. It follows the rules of the others: a plain quantity, which depends on the
/// program and the machine's quantities alone.
struct AddedColumn {
  FeatureColumn column;
  /// Called from many threads at once. Finite, or the run ends with the extension's name.
  std::function<double(const FeatureStore&)> value;
};

/// Why `column` may not follow `before`: an invalid name, one that is taken, no unit, no meaning. "" when it
/// may.
std::string column_fault(const FeatureColumn& column, std::span<const FeatureColumn> before);

}  // namespace tunesmith
#pragma GCC visibility pop

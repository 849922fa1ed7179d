// Feature columns: the numbers by which a cost model describes a store (the built-in ones are in
// tunesmith/performance/features.h), and how an extension adds columns.
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
  std::string meaning;  // one line; for a derived number, its formula

  bool operator==(const FeatureColumn&) const = default;
};

/// A store of a lowered program, from which an added column is computed. Valid during the call.
struct FeatureStore {
  const Store& store;
  std::span<const Loop* const> loops;  // the enclosing loops, outermost first
  std::span<const double> trips;       // iterations of each; the maximum if its range varies
  std::span<const float> row;          // the built-in features, in the order of feature_columns()
  const DeviceModel& device;
};

/// A column of an extension. Like the others it is a plain quantity
/// that depends only on the program and the machine's quantities.
struct AddedColumn {
  FeatureColumn column;
  /// Called from many threads. Must be finite, else the run ends with the extension's name.
  std::function<double(const FeatureStore&)> value;
};

/// "", or why `column` may not follow `before`: an
/// invalid or duplicate name, no unit, no meaning.
std::string column_fault(const FeatureColumn& column, std::span<const FeatureColumn> before);

}  // namespace tunesmith
#pragma GCC visibility pop

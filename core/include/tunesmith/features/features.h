// What a cost model is told of a lowered program: one row for each store, of numbers that are documented one
// by one (docs/features.md, which is made from feature_columns()).
//
// Numbers are plain quantities in the units that the columns say - no logarithms, nothing normalised -
// finite, and of one store in all of its executions, unless the column says otherwise. They depend on the
// program and on the machine's quantities alone: equal programs have equal rows, on every machine.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/target/device_model.h"
#include "tunesmith/target/feature_column.h"

namespace tunesmith {

/// The kernel's columns, in the order of the rows' numbers; the same for every program and machine. Columns
/// of extensions follow these (Space::feature_columns): a reader takes the width of a row from
/// FeatureRows::columns.
const std::vector<FeatureColumn>& feature_columns();
/// Where the column of this name stands. InternalError when there is none.
size_t feature_index(std::string_view name);

/// What makes `column` unfit to stand behind `before`, or "" when it is fit: a name that is none or is taken,
/// no unit, no meaning.
std::string column_fault(const FeatureColumn& column, std::span<const FeatureColumn> before);

/// Rows one after the other: a row for each Store of the program, in the order of the text.
struct FeatureRows {
  size_t columns = 0;
  std::vector<float> values;

  size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  std::span<const float> row(size_t i) const { return std::span(values).subspan(i * columns, columns); }
  bool operator==(const FeatureRows&) const = default;
};

/// Of a lowered program (LoweredProgram::program: the preparation of constant inputs is no part of a call).
/// Thread-safe. A quantity that `device` does not give is 0 in the rows, and what is derived from it too.
/// `added`: columns behind the kernel's; what their values throw is passed on.
FeatureRows extract_features(const Program& lowered, const DeviceModel& device,
                             std::span<const AddedColumn> added = {});

}  // namespace tunesmith

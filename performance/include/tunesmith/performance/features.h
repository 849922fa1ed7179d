// What a cost model reads of a lowered program: one row for each store, of numbers that are documented one
// by one (docs/search.md, which is made from feature_columns()).
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
#include "tunesmith/search/candidate.h"
#include "tunesmith/target/device_model.h"
#include "tunesmith/target/feature_column.h"

namespace tunesmith {

/// The columns, in the order of the rows' numbers; the same for every program and machine. Those of
/// extensions follow these: a reader takes the width of a row from FeatureRows::columns.
const std::vector<FeatureColumn>& feature_columns();
/// Where the column of this name stands. InternalError when there is none.
size_t feature_index(std::string_view name);

/// All of a space's: these, and behind them those that its extensions add (Space::added_columns()). UserError
/// when one of those has a name that is taken.
std::vector<FeatureColumn> feature_columns_with(std::span<const FeatureColumn> added);

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
/// `added`: columns behind the others; what their values throw is passed on.
FeatureRows extract_features(const Program& lowered, const DeviceModel& device,
                             std::span<const AddedColumn> added = {});

/// Of a candidate, with the columns of its space: made at the first call and kept with the candidate. Every
/// call names the same machine. InternalError without a program.
const FeatureRows& features_of(const Candidate& candidate, const DeviceModel& device);

/// The same of each, on all processors.
std::vector<const FeatureRows*> features_of(std::span<const CandidatePtr> candidates,
                                            const DeviceModel& device);

}  // namespace tunesmith

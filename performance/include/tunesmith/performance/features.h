// The features of a lowered program for cost models: one row per store;
// docs/search.md, generated from feature_columns(), documents each number.
//
// Numbers are plain quantities in the columns' units (no logarithms, not normalised), finite,
// and describe all executions of one store unless the column says otherwise. They depend only
// on the program and the machine's quantities: equal programs have equal rows on every machine.
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

/// The columns in the order of the rows' numbers, the same for every program and machine.
/// Columns of extensions follow: take the width of a row from FeatureRows::columns.
const std::vector<FeatureColumn>& feature_columns();
/// The index of the column with this name. InternalError if there is none.
size_t feature_index(std::string_view name);

/// All columns of a space: the built-in ones, followed by those of its
/// extensions (Space::added_columns()). UserError if a name is already taken.
std::vector<FeatureColumn> feature_columns_with(std::span<const FeatureColumn> added);

/// Consecutive rows, one for each Store of the program, in text order.
struct FeatureRows {
  size_t columns = 0;
  std::vector<float> values;

  size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  std::span<const float> row(size_t i) const { return std::span(values).subspan(i * columns, columns); }
  bool operator==(const FeatureRows&) const = default;
};

/// The rows of a lowered program (LoweredProgram::program: preparing constant inputs is not part of a call).
/// Thread-safe. A quantity that `device` lacks, and everything derived from it, is 0. `added`: columns after
/// the built-in ones; exceptions of their values are passed on.
FeatureRows extract_features(const Program& lowered, const DeviceModel& device,
                             std::span<const AddedColumn> added = {});

/// The rows of a candidate, with its space's columns: computed at the first call and stored with the
/// candidate. All calls must pass the same machine. Throws InternalError for a candidate without a program.
const FeatureRows& features_of(const Candidate& candidate, const DeviceModel& device);

/// The rows of each candidate, computed on all processors.
std::vector<const FeatureRows*> features_of(std::span<const CandidatePtr> candidates,
                                            const DeviceModel& device);

}  // namespace tunesmith

// Out of line, so that the interfaces' type information lives in the kernel and not in every plugin.
#include "tunesmith/search/candidate.h"
#include "tunesmith/search/cost_model.h"
#include "tunesmith/search/searcher.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

CostModel::~CostModel() = default;
bool CostModel::reads_features() const { return false; }
void CostModel::use_columns(std::span<const FeatureColumn> /*columns*/) {}
void CostModel::use_execution(const ExecutionModel& /*execution*/) {}
std::string CostModel::save() const { return {}; }
std::vector<FeatureImportance> CostModel::importance() const { return {}; }
void CostModel::load(std::string_view /*saved*/) {
  throw UserError("this cost model keeps nothing of what it has learnt");
}
SearchContext::~SearchContext() = default;
std::span<const Trace> SearchContext::seeds() { return {}; }
Searcher::~Searcher() = default;
std::vector<double> Searcher::expected() const { return {}; }

const FeatureRows& Candidate::features(const DeviceModel& device) const {
  check_invariant(has_program(), "features are asked for of a candidate with a program");
  std::call_once(extracted_, [&] {
    rows_ = extract_features(
        lowered.program, device,
        added_columns ? std::span<const AddedColumn>(*added_columns) : std::span<const AddedColumn>());
  });
  return rows_;
}

}  // namespace tunesmith

// Key functions, so that the interfaces' type information is in the kernel and not in every plugin.
#include "tunesmith/search/candidate.h"
#include "tunesmith/search/cost_model.h"
#include "tunesmith/search/searcher.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

CostModel::~CostModel() = default;
void CostModel::use_columns(std::span<const FeatureColumn> /*added*/) {}
void CostModel::use_execution(const ExecutionModel& /*execution*/) {}
std::string CostModel::save() const { return {}; }
std::vector<FeatureImportance> CostModel::importance() const { return {}; }
void CostModel::load(std::string_view /*saved*/) { throw UserError("this cost model cannot be saved"); }
SearchContext::~SearchContext() = default;
std::span<const Trace> SearchContext::seeds() { return {}; }
Searcher::~Searcher() = default;
std::vector<double> Searcher::expected() const { return {}; }

}  // namespace tunesmith

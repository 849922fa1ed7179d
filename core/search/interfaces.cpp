// Out of line, so that the interfaces' type information lives in the kernel and not in every plugin.
#include "tunesmith/search/cost_model.h"
#include "tunesmith/search/searcher.h"

namespace tunesmith {

CostModel::~CostModel() = default;
SearchContext::~SearchContext() = default;
Searcher::~Searcher() = default;

}  // namespace tunesmith

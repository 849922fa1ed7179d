#include "search_stages.h"

#include <algorithm>

namespace tunesmith {

Searcher* SearchStages::enter(int64_t trials, SearchContext& context) {
  const size_t stages = space_.spec().search.size();
  while (stage_ < stages && trials >= end()) leave(end());
  if (stage_ == stages) return nullptr;
  if (searcher_) return searcher_.get();
  searcher_ = space_.create_searcher(stage_);
  if (!context.history().empty()) searcher_->observe(context, context.history().since(0));
  return searcher_.get();
}

int64_t SearchStages::end() const {
  const int64_t share = space_.spec().search[stage_].trials;
  return share > 0 ? std::min(trials_, begin_ + share) : trials_;
}

void SearchStages::leave(int64_t trials) {
  begin_ = trials;
  ++stage_;
  searcher_ = nullptr;
}

}  // namespace tunesmith

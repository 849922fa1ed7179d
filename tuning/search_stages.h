// Chooses the searcher whose turn it is.
#pragma once

#include <cstdint>
#include <memory>

#include "tunesmith/search/searcher.h"
#include "tunesmith/space/space.h"

namespace tunesmith {

/// The searchers work one after another, each for its share of the trials or until it has nothing to propose.
class SearchStages {
 public:
  /// `trials`: of the whole run.
  SearchStages(const Space& space, int64_t trials) : space_(space), trials_(trials) {}

  /// The searcher whose turn it is after this many trials; it
  /// gets the history when it is created. Null if none is left.
  Searcher* enter(int64_t trials, SearchContext& context);
  /// The trials at which the share of the one that was entered ends.
  int64_t end() const;
  /// The one that was entered has nothing left to propose.
  void leave(int64_t trials);
  /// The current one; null if there is none.
  Searcher* current() const { return searcher_.get(); }

 private:
  const Space& space_;
  int64_t trials_;
  size_t stage_ = 0;
  int64_t begin_ = 0;  // of the stage
  std::shared_ptr<Searcher> searcher_;
};

}  // namespace tunesmith

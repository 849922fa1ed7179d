#include "seed_source.h"

#include "seeds.h"
#include "tunesmith/records/record.h"

namespace tunesmith {

void SeedSource::renew(Task& context) {
  if (!options_.resume) return;
  int64_t before = 0;
  for (int64_t trials = options_.batch; options_.in_turn && trials <= log_.trials(); trials *= 2)
    before = trials;
  if (asked_before_ == before) return;
  asked_before_ = before;
  context.seed_by([this, &context, before] {
    SeedQuery query;
    query.task = task_;
    query.machine = machine_;
    const auto place = static_cast<size_t>(before);
    query.until_ms = place < log_.trial_ms().size() ? log_.trial_ms()[place] : now_ms();
    return find_seeds(workload_, context.sketches(), store_, query);
  });
}

}  // namespace tunesmith

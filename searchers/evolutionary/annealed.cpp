// The variant of MetaSchedule's paper (section 4): each member of the population makes a Metropolis-Hastings
// walk, which accepts a mutation that is worse by d with probability exp(-d / T); T falls from generation to
// generation.
#include <cmath>

#include "evolution.h"

namespace tunesmith::evolution {

std::vector<Scored> evolve_annealed(SearchContext& context, std::vector<Scored> population,
                                    const Settings& settings) {
  std::vector<Scored> met = population;
  double temperature = settings.initial_temperature;
  for (int generation = 0; generation < settings.generations; ++generation, temperature *= settings.cooling) {
    std::vector<SearchContext::Draft> drafts;
    std::vector<size_t> walker;
    std::vector<double> luck;
    for (size_t i = 0; i < population.size(); ++i) {
      RandomStream random = context.next_stream();
      std::optional<Trace> step = context.mutate(*population[i].candidate, random);
      if (!step) continue;
      luck.push_back(random.uniform());
      drafts.push_back({std::move(*step), random});
      walker.push_back(i);
    }
    const std::vector<Scored> steps = make_scored(context, drafts, true);
    for (size_t i = 0; i < steps.size(); ++i) {
      if (!steps[i].candidate) continue;
      met.push_back(steps[i]);
      const double delta = steps[i].score - population[walker[i]].score;
      if (delta >= 0.0 || luck[i] < std::exp(delta / temperature)) population[walker[i]] = steps[i];
    }
  }
  return met;
}

}  // namespace tunesmith::evolution

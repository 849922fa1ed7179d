// The variant of TVM and Ansor: parents are drawn from the last generation in proportion to their rank, and
// mutated.
#include <algorithm>
#include <numeric>

#include "evolution.h"

namespace tunesmith::evolution {
namespace {

/// Weights by rank: only the order of scores is meaningful.
std::vector<double> rank_weights(const std::vector<Scored>& population) {
  std::vector<size_t> order(population.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return population[a].score < population[b].score; });
  std::vector<double> weights(population.size());
  for (size_t rank = 0; rank < order.size(); ++rank) weights[order[rank]] = static_cast<double>(rank + 1);
  return weights;
}

}  // namespace

std::vector<Scored> evolve_elitist(SearchContext& context, std::vector<Scored> population,
                                   const Settings& settings) {
  std::vector<Scored> met = population;
  for (int generation = 0; generation < settings.generations && !population.empty(); ++generation) {
    const std::vector<double> weights = rank_weights(population);
    std::vector<SearchContext::Draft> drafts;
    std::vector<Scored> next;
    for (size_t i = 0; i < settings.population; ++i) {
      RandomStream random = context.next_stream();
      const Scored& parent = population[random.categorical(weights)];
      std::optional<Trace> child;
      if (random.uniform() < settings.mutation) child = context.mutate(*parent.candidate, random);
      if (child) {
        drafts.push_back({std::move(*child), random});
      } else {
        next.push_back(parent);
      }
    }
    const std::vector<Scored> children = make_scored(context, drafts, false);
    met.insert(met.end(), children.begin(), children.end());
    next.insert(next.end(), children.begin(), children.end());
    population = std::move(next);
  }
  return met;
}

}  // namespace tunesmith::evolution

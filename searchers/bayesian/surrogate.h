// What the searcher believes of programs that it has not measured, and how it chooses by that.
#pragma once

#include <memory>
#include <vector>

#include <tunesmith/support/random.h>

namespace tunesmith::bayesian {

/// A program as a model sees it.
struct Point {
  size_t sketch = 0;
  std::vector<double> x;  // as long as every other of its sketch
  double prior = 0.0;     // what is expected before anything is learned of it
};

/// A point and what was seen there: higher is better, of mean 0 and deviation 1 over all samples.
struct Sample {
  Point point;
  double y = 0.0;
};

/// What is chosen from.
struct Pool {
  std::vector<Point> points;
  std::vector<double> validity;  // the probability that it works
  std::vector<bool> near;        // inside a trust region

  size_t size() const { return points.size(); }
};

/// What of a pool was chosen, the most wanted first, and what is expected of each point of the pool, as
/// Sample::y.
struct Choice {
  std::vector<size_t> order;
  std::vector<double> expected;
};

/// A model of y, made anew for each choice, so that it depends on what was measured and on nothing else.
class Surrogate {
 public:
  virtual ~Surrogate() = default;
  /// Learns from `samples`, then chooses `count` of the pool (all, when there are no more), the one that it
  /// wants most first. Every second one is from a trust region, as long as there are any.
  virtual Choice choose(const std::vector<Sample>& samples, const Pool& pool, size_t count,
                        RandomStream& random) const = 0;
};

/// Gaussian processes, one for each sketch: Matern 5/2 with a length for each coordinate, found by marginal
/// likelihood on `fitted` samples, conditioned on `most`. Of more, the better half of that number are the
/// best and the others the latest. Batches by expected improvement, each choice believed to give its mean.
std::unique_ptr<Surrogate> make_gaussian_process(size_t most, size_t fitted);

/// `models` ensembles of regression trees, each learned from a sample of the samples drawn with replacement.
/// Batches by Thompson sampling: each choice is the best that one of them sees. Null where the plugin was
/// built without XGBoost.
std::unique_ptr<Surrogate> make_trees(size_t models);

}  // namespace tunesmith::bayesian

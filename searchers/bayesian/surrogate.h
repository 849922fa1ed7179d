// Surrogate models, which predict programs that were not measured and choose among them.
#pragma once

#include <memory>
#include <vector>

#include <tunesmith/support/random.h>

namespace tunesmith::bayesian {

/// A program's encoding.
struct Point {
  size_t sketch = 0;
  std::vector<double> x;  // the same length for all points of a sketch
  double prior = 0.0;     // the expected value before learning
};

/// A point and its observed value: higher is better, scaled to mean 0 and deviation 1 over all samples.
struct Sample {
  Point point;
  double y = 0.0;
};

/// The points to choose from.
struct Pool {
  std::vector<Point> points;
  std::vector<double> validity;  // the probability that the program works
  std::vector<bool> near;        // is it inside a trust region?

  size_t size() const { return points.size(); }
};

/// The chosen points of a pool, the best first, and the expected values of all its points, on Sample::y's
/// scale.
struct Choice {
  std::vector<size_t> order;
  std::vector<double> expected;
};

/// A model of y, retrained for each choice, so that it depends only on the measurements.
class Surrogate {
 public:
  virtual ~Surrogate() = default;
  /// Learns from `samples`, then chooses `count` points of the pool (all, if there are no more), the best
  /// first. Every second one is from a trust region, as long as there are any.
  virtual Choice choose(const std::vector<Sample>& samples, const Pool& pool, size_t count,
                        RandomStream& random) const = 0;
};

/// Gaussian processes, one per sketch, with a Matern 5/2 kernel: a length per coordinate, fitted by marginal
/// likelihood on `fitted` samples, conditioned on `most`. If there are more samples, half of `most` are the
/// best and half the latest. Chooses batches by expected improvement, assuming that each choice gives its
/// mean.
std::unique_ptr<Surrogate> make_gaussian_process(size_t most, size_t fitted);

/// `models` ensembles of regression trees, each trained on a bootstrap sample. Chooses batches by Thompson
/// sampling: each choice is the best point of one ensemble. Null if the plugin was built without XGBoost.
std::unique_ptr<Surrogate> make_trees(size_t models);

}  // namespace tunesmith::bayesian

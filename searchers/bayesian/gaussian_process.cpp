// Surrogate B: a Gaussian process for each sketch.
#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "acquisition.h"
#include "surrogate.h"

namespace tunesmith::bayesian {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kMinNoise = 1e-4;

/// As logarithms, so that every real value is valid.
struct Hyperparameters {
  VectorXd log_lengths;
  double log_signal = 0.0;  // of the standard deviation
  double log_noise = std::log(0.1);

  VectorXd packed() const {
    VectorXd all(log_lengths.size() + 2);
    all << log_lengths, log_signal, log_noise;
    return all;
  }
  static Hyperparameters unpacked(const VectorXd& all) {
    const Eigen::Index d = all.size() - 2;
    return {all.head(d), all(d), all(d + 1)};
  }
  double noise_variance() const { return std::exp(2.0 * log_noise) + kMinNoise; }
};

/// Squared distances in units of the lengths.
MatrixXd squared_distances(const MatrixXd& a, const MatrixXd& b, const VectorXd& log_lengths) {
  const VectorXd scale = (-log_lengths).array().exp();
  const MatrixXd p = a * scale.asDiagonal();
  const MatrixXd q = b * scale.asDiagonal();
  MatrixXd distances = -2.0 * p * q.transpose();
  distances.colwise() += p.rowwise().squaredNorm();
  distances.rowwise() += q.rowwise().squaredNorm().transpose();
  return distances.cwiseMax(0.0);
}

/// The Matern 5/2 kernel for squared distances.
MatrixXd matern(const MatrixXd& squared, double log_signal) {
  const Eigen::ArrayXXd r = (5.0 * squared.array()).sqrt();
  return std::exp(2.0 * log_signal) * ((1.0 + r + r.square() / 3.0) * (-r).exp()).matrix();
}

/// Lengths have a log-normal prior that grows with the number of coordinates, because distances grow with it
/// (Hvarfner et al., "Vanilla Bayesian Optimization Performs Great in High Dimensions", 2024); signal and
/// noise have wide priors, which stabilise fits to few samples.
struct Prior {
  explicit Prior(Eigen::Index dimensions)
      : length(std::sqrt(2.0) + 0.5 * std::log(static_cast<double>(std::max<Eigen::Index>(dimensions, 1)))) {}
  double length;
  static constexpr double kLengthVariance = 3.0;
  static constexpr double kSignal = 0.0;
  static constexpr double kNoise = -2.0;
  static constexpr double kWide = 1.0;

  /// The gradient of the logarithm.
  VectorXd gradient(const Hyperparameters& h) const {
    VectorXd g(h.log_lengths.size() + 2);
    g << (length - h.log_lengths.array()).matrix() / kLengthVariance, (kSignal - h.log_signal) / kWide,
        (kNoise - h.log_noise) / kWide;
    return g;
  }
};

/// The gradient of the log marginal likelihood, including the prior.
VectorXd gradient_of(const MatrixXd& x, const VectorXd& y, const Hyperparameters& h, const Prior& prior) {
  const Eigen::Index n = x.rows();
  const MatrixXd squared = squared_distances(x, x, h.log_lengths);
  const MatrixXd signal = matern(squared, h.log_signal);
  MatrixXd covariance = signal;
  covariance.diagonal().array() += h.noise_variance();
  const Eigen::LLT<MatrixXd> cholesky(covariance);
  const VectorXd alpha = cholesky.solve(y);
  const MatrixXd inner = alpha * alpha.transpose() - cholesky.solve(MatrixXd::Identity(n, n));
  const Eigen::ArrayXXd r = (5.0 * squared.array()).sqrt();
  const MatrixXd weights =
      inner.array() * (std::exp(2.0 * h.log_signal) * (5.0 / 3.0) * (1.0 + r) * (-r).exp());
  const VectorXd sums = weights.rowwise().sum();
  VectorXd gradient = prior.gradient(h);
  const MatrixXd weighed = weights * x;
  for (Eigen::Index d = 0; d < x.cols(); ++d) {
    // sum of weights(i, j) (x(i) - x(j))^2 over both
    const double spread = 2.0 * (sums.dot(x.col(d).cwiseAbs2()) - x.col(d).dot(weighed.col(d)));
    gradient(d) += 0.5 * spread * std::exp(-2.0 * h.log_lengths(d));
  }
  gradient(x.cols()) += (inner.array() * signal.array()).sum();
  gradient(x.cols() + 1) += inner.trace() * std::exp(2.0 * h.log_noise);
  return gradient;
}

/// Ascends by the gradient's signs (Rprop), which needs no step length, in a fixed number of steps.
Hyperparameters fit(const MatrixXd& x, const VectorXd& y) {
  constexpr int kSteps = 20;
  const Prior prior(x.cols());
  Hyperparameters h{VectorXd::Constant(x.cols(), prior.length - 1.0), 0.0, std::log(0.2)};
  VectorXd at = h.packed();
  VectorXd step = VectorXd::Constant(at.size(), 0.3);
  VectorXd before = VectorXd::Zero(at.size());
  for (int i = 0; i < kSteps; ++i) {
    const VectorXd gradient = gradient_of(x, y, Hyperparameters::unpacked(at), prior);
    for (Eigen::Index k = 0; k < at.size(); ++k) {
      const double turn = gradient(k) * before(k);
      if (turn > 0.0) step(k) = std::min(step(k) * 1.3, 1.0);
      if (turn < 0.0) step(k) = std::max(step(k) * 0.5, 1e-3);
      before(k) = turn < 0.0 ? 0.0 : gradient(k);
      if (before(k) != 0.0) at(k) += gradient(k) > 0.0 ? step(k) : -step(k);
      at(k) = std::clamp(at(k), -5.0, 5.0);
    }
  }
  return Hyperparameters::unpacked(at);
}

MatrixXd matrix_of(const std::vector<const Point*>& points) {
  const auto rows = static_cast<Eigen::Index>(points.size());
  const auto columns = static_cast<Eigen::Index>(points.empty() ? 0 : points.front()->x.size());
  MatrixXd x(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i)
    x.row(i) = Eigen::Map<const VectorXd>(points[static_cast<size_t>(i)]->x.data(), columns).transpose();
  return x;
}

/// The posterior of one sketch's points, also after choices whose results are not known yet.
class Belief {
 public:
  Belief(const std::vector<const Sample*>& samples, const std::vector<const Point*>& pool, size_t fitted,
         size_t choices) {
    std::vector<const Point*> seen;
    for (const Sample* sample : samples) seen.push_back(&sample->point);
    const MatrixXd x = matrix_of(seen);
    VectorXd y(x.rows());
    for (Eigen::Index i = 0; i < y.size(); ++i)
      y(i) = samples[static_cast<size_t>(i)]->y - samples[static_cast<size_t>(i)]->point.prior;
    const Eigen::Index some = std::min(x.rows(), static_cast<Eigen::Index>(fitted));
    const MatrixXd pool_x = matrix_of(pool);
    h_ = some > 0 ? fit(x.topRows(some), y.head(some))
                  : Hyperparameters{VectorXd::Constant(pool_x.cols(), Prior(pool_x.cols()).length), 0.0,
                                    std::log(0.2)};
    pool_ = pool_x;
    used_ = x.rows();
    known_ = MatrixXd::Zero(used_ + static_cast<Eigen::Index>(choices), pool_.rows());
    mean_ = VectorXd::Zero(pool_.rows());
    variance_ = VectorXd::Constant(pool_.rows(), std::exp(2.0 * h_.log_signal));
    if (used_ > 0) {
      MatrixXd covariance = matern(squared_distances(x, x, h_.log_lengths), h_.log_signal);
      covariance.diagonal().array() += h_.noise_variance();
      const Eigen::LLT<MatrixXd> cholesky(covariance);
      const MatrixXd across = matern(squared_distances(x, pool_, h_.log_lengths), h_.log_signal);
      mean_ = across.transpose() * cholesky.solve(y);
      known_.topRows(used_) = cholesky.matrixL().solve(across);
      variance_ -= known_.topRows(used_).colwise().squaredNorm().transpose();
    }
    for (size_t i = 0; i < pool.size(); ++i) mean_(static_cast<Eigen::Index>(i)) += pool[i]->prior;
  }

  double mean(Eigen::Index i) const { return mean_(i); }
  double deviation(Eigen::Index i) const { return std::sqrt(std::max(variance_(i), 0.0)); }

  /// Treats the mean at `i` as measured: changes the other points' variances only.
  void believe(Eigen::Index i) {
    VectorXd covariance =
        matern(squared_distances(pool_, pool_.row(i), h_.log_lengths), h_.log_signal).col(0);
    covariance -= known_.topRows(used_).transpose() * known_.col(i).head(used_);
    const double here = std::sqrt(std::max(variance_(i), 0.0) + h_.noise_variance());
    known_.row(used_) = covariance.transpose() / here;
    variance_ -= known_.row(used_).cwiseAbs2().transpose();
    ++used_;
  }

 private:
  Hyperparameters h_;
  MatrixXd pool_;
  MatrixXd known_;         // inverse factor of the samples' covariance times theirs with the pool
  Eigen::Index used_ = 0;  // rows of known_
  VectorXd mean_;
  VectorXd variance_;
};

class GaussianProcess final : public Surrogate {
 public:
  GaussianProcess(size_t most, size_t fitted) : most_(most), fitted_(fitted) {}

  Choice choose(const std::vector<Sample>& samples, const Pool& pool, size_t count,
                RandomStream& /*random*/) const override {
    std::map<size_t, std::vector<const Sample*>> seen;
    double best = -1e300;
    for (const Sample& sample : samples) {
      seen[sample.point.sketch].push_back(&sample);
      best = std::max(best, sample.y);
    }
    std::map<size_t, std::vector<const Point*>> open;
    std::vector<Eigen::Index> place;
    for (const Point& point : pool.points) {
      std::vector<const Point*>& here = open[point.sketch];
      place.push_back(static_cast<Eigen::Index>(here.size()));
      here.push_back(&point);
    }
    std::map<size_t, Belief> beliefs;
    for (const auto& [sketch, points] : open)
      beliefs.emplace(sketch, Belief(subset(std::move(seen[sketch])), points, fitted_, count));
    const auto value = [&](size_t /*slot*/, size_t i) {
      const Belief& belief = beliefs.at(pool.points[i].sketch);
      return pool.validity[i] * expected_improvement(belief.mean(place[i]), belief.deviation(place[i]), best);
    };
    const auto chosen = [&](size_t i) { beliefs.at(pool.points[i].sketch).believe(place[i]); };
    Choice choice{choose_batch(pool, count, value, chosen), {}};
    for (size_t i = 0; i < pool.size(); ++i)
      choice.expected.push_back(beliefs.at(pool.points[i].sketch).mean(place[i]));
    return choice;
  }

 private:
  /// Up to `most_` samples: alternately one of the best and one of the latest, so that a prefix is a smaller
  /// subset of the same kind.
  std::vector<const Sample*> subset(std::vector<const Sample*> samples) const {
    std::vector<size_t> by_value(samples.size());
    std::iota(by_value.begin(), by_value.end(), size_t{0});
    std::ranges::stable_sort(by_value, [&](size_t a, size_t b) { return samples[a]->y > samples[b]->y; });
    std::vector<bool> taken(samples.size(), false);
    std::vector<const Sample*> chosen;
    size_t best = 0;
    size_t latest = samples.size();
    while (chosen.size() < std::min(most_, samples.size())) {
      size_t next = 0;
      if (chosen.size() % 2 == 0) {
        while (taken[by_value[best]]) ++best;
        next = by_value[best];
      } else {
        do --latest;
        while (taken[latest]);
        next = latest;
      }
      taken[next] = true;
      chosen.push_back(samples[next]);
    }
    return chosen;
  }

  size_t most_;
  size_t fitted_;
};

}  // namespace

std::unique_ptr<Surrogate> make_gaussian_process(size_t most, size_t fitted) {
  return std::make_unique<GaussianProcess>(most, fitted);
}

}  // namespace tunesmith::bayesian

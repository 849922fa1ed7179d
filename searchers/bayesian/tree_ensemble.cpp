// Surrogate A: ensembles of boosted regression trees, each trained on a bootstrap sample of the measurements.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <xgboost/c_api.h>

#include <tunesmith/support/error.h>

#include "acquisition.h"
#include "surrogate.h"

namespace tunesmith::bayesian {
namespace {

constexpr int kTrees = 40;

void check(int code) {
  if (code != 0) throw EnvironmentError(std::string("XGBoost: ") + XGBGetLastError());
}

/// One column for each coordinate of each sketch, missing for points of other sketches, and one for the
/// sketch's number.
class Layout {
 public:
  Layout(const std::vector<Sample>& samples, const Pool& pool) {
    for (const Sample& sample : samples) widen(sample.point);
    for (const Point& point : pool.points) widen(point);
    size_t next = 1;
    for (size_t& begin : begins_) {
      const size_t width = begin;
      begin = next;
      next += width;
    }
    columns_ = next;
  }

  size_t columns() const { return columns_; }
  void add_row(const Point& point, std::vector<float>& rows) const {
    const size_t row = rows.size();
    rows.resize(row + columns_, std::numeric_limits<float>::quiet_NaN());
    rows[row] = static_cast<float>(point.sketch);
    for (size_t i = 0; i < point.x.size(); ++i)
      rows[row + begins_[point.sketch] + i] = static_cast<float>(point.x[i]);
  }

 private:
  void widen(const Point& point) {
    if (point.sketch >= begins_.size()) begins_.resize(point.sketch + 1, 0);
    begins_[point.sketch] = std::max(begins_[point.sketch], point.x.size());
  }
  std::vector<size_t> begins_;
  size_t columns_ = 0;
};

class Matrix {
 public:
  Matrix(const std::vector<float>& rows, size_t columns) : rows_(rows.size() / columns) {
    check(XGDMatrixCreateFromMat(rows.data(), rows_, columns, std::numeric_limits<float>::quiet_NaN(),
                                 &handle_));
  }
  ~Matrix() { XGDMatrixFree(handle_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  void set(const char* what, const std::vector<float>& values) {
    check(XGDMatrixSetFloatInfo(handle_, what, values.data(), values.size()));
  }
  DMatrixHandle get() const { return handle_; }
  size_t rows() const { return rows_; }

 private:
  size_t rows_;
  DMatrixHandle handle_ = nullptr;
};

class Booster {
 public:
  explicit Booster(const Matrix& samples) {
    DMatrixHandle cached = samples.get();
    check(XGBoosterCreate(&cached, 1, &handle_));
    for (const auto& [name, value] :
         {std::pair("objective", "reg:squarederror"), std::pair("tree_method", "hist"),
          std::pair("nthread", "1"), std::pair("base_score", "0"), std::pair("max_depth", "6"),
          std::pair("eta", "0.2"), std::pair("verbosity", "0")})
      check(XGBoosterSetParam(handle_, name, value));
    for (int i = 0; i < kTrees; ++i) check(XGBoosterUpdateOneIter(handle_, i, samples.get()));
  }
  ~Booster() { XGBoosterFree(handle_); }
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;

  std::vector<float> predict(const Matrix& points) const {
    constexpr const char* kPlain =
        R"({"type": 0, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false})";
    const bst_ulong* shape = nullptr;
    bst_ulong dimensions = 0;
    const float* values = nullptr;
    check(XGBoosterPredictFromDMatrix(handle_, points.get(), kPlain, &shape, &dimensions, &values));
    return {values, values + points.rows()};
  }

 private:
  BoosterHandle handle_ = nullptr;
};

class Trees final : public Surrogate {
 public:
  explicit Trees(size_t models) : models_(models) {}

  Choice choose(const std::vector<Sample>& samples, const Pool& pool, size_t count,
                RandomStream& random) const override {
    const Layout layout(samples, pool);
    std::vector<float> rows;
    std::vector<float> labels;
    for (const Sample& sample : samples) {
      layout.add_row(sample.point, rows);
      labels.push_back(static_cast<float>(sample.y - sample.point.prior));
    }
    Matrix seen(rows, layout.columns());
    seen.set("label", labels);
    std::vector<float> open_rows;
    for (const Point& point : pool.points) layout.add_row(point, open_rows);
    const Matrix open(open_rows, layout.columns());

    std::vector<std::vector<float>> draws;
    for (size_t model = 0; model < models_; ++model) {
      std::vector<float> times(samples.size(), 0.0F);
      for (size_t i = 0; i < samples.size(); ++i) times[random.below(samples.size())] += 1.0F;
      seen.set("weight", times);
      draws.push_back(Booster(seen).predict(open));
    }
    const auto value = [&](size_t slot, size_t i) {
      return pool.points[i].prior + static_cast<double>(draws[slot % models_][i]) +
             std::log(std::max(pool.validity[i], 1e-6));
    };
    Choice choice{choose_batch(pool, count, value, [](size_t) {}), {}};
    for (size_t i = 0; i < pool.size(); ++i) {
      double sum = 0.0;
      for (const std::vector<float>& draw : draws) sum += static_cast<double>(draw[i]);
      choice.expected.push_back(pool.points[i].prior + sum / static_cast<double>(models_));
    }
    return choice;
  }

 private:
  size_t models_;
};

}  // namespace

std::unique_ptr<Surrogate> make_trees(size_t models) { return std::make_unique<Trees>(models); }

}  // namespace tunesmith::bayesian

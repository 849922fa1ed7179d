// XGBoost's C API as objects. A call that fails throws std::runtime_error with the library's own message.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tunesmith::xgboost {

/// Rows of numbers in the library's form for training.
class Matrix {
 public:
  Matrix(std::span<const float> values, size_t columns, int threads);
  size_t rows() const { return rows_; }
  void* handle() const { return handle_.get(); }

 private:
  size_t rows_;
  std::unique_ptr<void, void (*)(void*)> handle_;
};

using Parameters = std::vector<std::pair<std::string, std::string>>;

/// A sum of trees, grown one by one on gradients that the caller computes.
class Booster {
 public:
  /// Without trees: predicts 0 for every row.
  explicit Booster(const Parameters& parameters);
  /// The first `trees` of `other`.
  Booster(const Booster& other, int trees, const Parameters& parameters);
  /// From save(), or rewritten by checked_trees() (saved_trees.h): XGBoost may crash on other data.
  Booster(std::string_view saved, const Parameters& parameters);

  int trees() const;
  /// Adds a tree. `gradients` and `hessians`: one for each row of `data`.
  void grow(const Matrix& data, std::vector<float>& gradients, std::vector<float>& hessians);
  /// The predictions for a matrix that is used repeatedly, in training or testing: evaluates only trees added
  /// since the last call.
  std::vector<float> values(const Matrix& data) const;
  /// The predictions for rows that are used once. Does not change the booster.
  std::vector<float> values(std::span<const float> rows, size_t columns) const;
  /// The total gain of the splits by each used column, in increasing column order.
  std::vector<std::pair<size_t, double>> gains() const;
  std::string save() const;

 private:
  Booster(void* handle, const Parameters& parameters);
  std::unique_ptr<void, void (*)(void*)> handle_;
};

}  // namespace tunesmith::xgboost

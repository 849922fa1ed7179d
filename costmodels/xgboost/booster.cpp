#include "booster.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <xgboost/c_api.h>

namespace tunesmith::xgboost {
namespace {

void check(int code, const char* call) {
  if (code == 0) return;
  const std::string message = XGBGetLastError();  // a stack trace follows the first line
  throw std::runtime_error(fmt::format("XGBoost's {}: {}", call, message.substr(0, message.find('\n'))));
}

void free_matrix(void* handle) { XGDMatrixFree(handle); }
void free_booster(void* handle) { XGBoosterFree(handle); }

void* make_matrix(std::span<const float> values, size_t columns, int threads) {
  DMatrixHandle handle = nullptr;
  check(XGDMatrixCreateFromMat_omp(values.data(), values.size() / columns, columns,
                                   std::numeric_limits<float>::quiet_NaN(), &handle, threads),
        "XGDMatrixCreateFromMat_omp");
  return handle;
}

void* make_booster() {
  BoosterHandle handle = nullptr;
  check(XGBoosterCreate(nullptr, 0, &handle), "XGBoosterCreate");
  return handle;
}

void* slice(void* booster, int trees) {
  BoosterHandle handle = nullptr;
  check(XGBoosterSlice(booster, 0, trees, 1, &handle), "XGBoosterSlice");
  return handle;
}

std::vector<float> copy(const bst_ulong* shape, bst_ulong dimensions, const float* values) {
  bst_ulong count = 1;
  for (bst_ulong i = 0; i < dimensions; ++i) count *= shape[i];
  return {values, values + count};
}

// Margins (type 1) of all trees.
constexpr const char* kOfMatrix =
    R"({"type": 1, "training": true, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false})";
constexpr const char* kOfRows =
    R"({"type": 1, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false, "missing": NaN, "cache_id": 0})";

}  // namespace

Matrix::Matrix(std::span<const float> values, size_t columns, int threads)
    : rows_(values.size() / columns), handle_(make_matrix(values, columns, threads), &free_matrix) {}

Booster::Booster(void* handle, const Parameters& parameters) : handle_(handle, &free_booster) {
  for (const auto& [name, value] : parameters)
    check(XGBoosterSetParam(handle_.get(), name.c_str(), value.c_str()), "XGBoosterSetParam");
}

Booster::Booster(const Parameters& parameters) : Booster(make_booster(), parameters) {}

Booster::Booster(const Booster& other, int trees, const Parameters& parameters)
    : Booster(slice(other.handle_.get(), trees), parameters) {}

Booster::Booster(std::string_view saved, const Parameters& parameters) : Booster(make_booster(), parameters) {
  check(XGBoosterLoadModelFromBuffer(handle_.get(), saved.data(), saved.size()),
        "XGBoosterLoadModelFromBuffer");
}

int Booster::trees() const {
  int trees = 0;
  check(XGBoosterBoostedRounds(handle_.get(), &trees), "XGBoosterBoostedRounds");
  return trees;
}

void Booster::grow(const Matrix& data, std::vector<float>& gradients, std::vector<float>& hessians) {
  check(XGBoosterBoostOneIter(handle_.get(), data.handle(), gradients.data(), hessians.data(), data.rows()),
        "XGBoosterBoostOneIter");
}

std::vector<float> Booster::values(const Matrix& data) const {
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  check(XGBoosterPredictFromDMatrix(handle_.get(), data.handle(), kOfMatrix, &shape, &dimensions, &values),
        "XGBoosterPredictFromDMatrix");
  return copy(shape, dimensions, values);
}

std::vector<float> Booster::values(std::span<const float> rows, size_t columns) const {
  const std::string array =
      fmt::format(R"({{"data": [{}, true], "shape": [{}, {}], "typestr": "<f4", "version": 3}})",
                  reinterpret_cast<uintptr_t>(rows.data()), rows.size() / columns, columns);
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  check(
      XGBoosterPredictFromDense(handle_.get(), array.c_str(), kOfRows, nullptr, &shape, &dimensions, &values),
      "XGBoosterPredictFromDense");
  return copy(shape, dimensions, values);
}

std::vector<std::pair<size_t, double>> Booster::gains() const {
  bst_ulong count = 0;
  const char** names = nullptr;  // "f17": the columns have no other names
  bst_ulong dimensions = 0;
  const bst_ulong* shape = nullptr;
  const float* scores = nullptr;
  check(XGBoosterFeatureScore(handle_.get(), R"({"importance_type": "total_gain"})", &count, &names,
                              &dimensions, &shape, &scores),
        "XGBoosterFeatureScore");
  std::vector<std::pair<size_t, double>> gains;
  for (bst_ulong i = 0; i < count; ++i) gains.emplace_back(std::stoul(names[i] + 1), scores[i]);
  std::ranges::sort(gains);
  return gains;
}

std::string Booster::save() const {
  bst_ulong size = 0;
  const char* bytes = nullptr;
  check(XGBoosterSaveModelToBuffer(handle_.get(), R"({"format": "ubj"})", &size, &bytes),
        "XGBoosterSaveModelToBuffer");
  return {bytes, size};
}

}  // namespace tunesmith::xgboost

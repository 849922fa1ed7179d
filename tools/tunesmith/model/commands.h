// The arguments of `model`, and their implementations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session.h"

namespace tunesmith::cli {

struct ModelArguments {
  std::vector<std::string> stores;     // record stores; none: the default store, unless there are tables
  std::vector<std::string> tables;     // files of recorded tables
  std::vector<std::string> workloads;  // only these tasks; none: all
  std::vector<std::string> except;
  std::string model;  // instead of the space's; empty: the space's
  std::string file;   // the model's file
  std::vector<int64_t> counts = {0, 128, 512, 1024};
  bool alone = false;
  uint64_t seed = 0;
  int count = 20;
};
int run_model_train(const Common& common, const ModelArguments& arguments);
int run_model_show(const Common& common, const ModelArguments& arguments);
int run_model_eval(const Common& common, const ModelArguments& arguments);

}  // namespace tunesmith::cli

// The arguments of `prior`, and what runs them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session.h"

namespace tunesmith::cli {

struct PriorArguments {
  std::string output;
  std::vector<std::string> suites;  // suites; none: the built-in one
  std::vector<std::string> stores;  // record stores
  std::vector<std::string> tables;
  int64_t tasks = 200;
  int64_t programs = 256;  // per task
  int64_t seed = 0;
  bool held_out = false;
  std::vector<std::string> shards;  // shards to learn from, or to evaluate a prior on
  double elite = 0.05;              // the share of a task's programs to learn from
  int64_t epochs = 8;
  std::string prior;
  std::vector<int64_t> counts = {1, 8, 32, 128, 1000};
};
int run_prior_collect(const Common& common, const PriorArguments& arguments);
int run_prior_train(const Common& common, const PriorArguments& arguments);
int run_prior_eval(const Common& common, const PriorArguments& arguments);

}  // namespace tunesmith::cli

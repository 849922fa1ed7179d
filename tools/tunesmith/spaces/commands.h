// The arguments of `spaces`, and their implementations.
#pragma once

#include <cstdint>
#include <string>

#include "session.h"

namespace tunesmith::cli {

struct SpacesArguments {
  std::string file;  // for lint; empty: as in Common
  std::string workload;
  int count = 1;
  uint64_t seed = 0;
};
int run_spaces_lint(const Common& common, const SpacesArguments& arguments);
int run_spaces_list(const Common& common);
int run_spaces_show(const Common& common, const SpacesArguments& arguments);
int run_spaces_sample(const Common& common, const SpacesArguments& arguments);
int run_spaces_explain(const Common& common, const SpacesArguments& arguments);

}  // namespace tunesmith::cli

// The arguments of `plugins`, `explain` and `doctor`, and their implementations.
#pragma once

#include <string>
#include <vector>

#include "session.h"

namespace tunesmith::cli {

int run_doctor(const Common& common);

struct PluginsArguments {
  bool why = false;
  bool options = false;
  std::string lock_file;
};
int run_plugins_list(const Common& common, const PluginsArguments& arguments);
int run_plugins_probe(const Common& common);
int run_plugins_lock(const Common& common, const PluginsArguments& arguments);

struct NewPluginArguments {
  std::string kind;
  std::string name;
  std::string into;   // empty: a folder of the plugin's name
  bool yaml = false;  // an extension as data
};
int run_plugins_new(const Common& common, const NewPluginArguments& arguments);

struct VerifyArguments {
  std::string path;
  std::vector<std::string> workloads;
  std::vector<std::string> expected;  // KIND:ID/CHECK=REASON
  std::vector<std::string> checks;
  int seconds = 60;
};
int run_plugins_verify(const Common& common, const VerifyArguments& arguments);
int run_explain(const Common& common, const std::string& rule);

}  // namespace tunesmith::cli

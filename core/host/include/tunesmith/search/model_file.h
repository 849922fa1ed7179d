// A cost model in a file: what it has learned, and from what.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

struct ModelFile {
  /// A workload that it has learned from.
  struct Task {
    std::string workload;  // Workload::key
    int64_t programs = 0;
    int64_t rows = 0;  // of features, of all these programs; 0 for a model that reads none

    bool operator==(const Task&) const = default;
  };

  std::string kind;         // the cost model's id
  std::string version;      // of its plugin
  std::string options;      // all of them: the line of Space::cost_model_text()
  std::vector<Task> tasks;  // in the order in which they were learned
  std::string learned;      // of CostModel::save()

  /// Adds to the task of this workload, or a new one.
  void add(const Task& task);
};

/// Throws UserError, with the file's name, when it cannot be read or is none.
ModelFile read_model_file(const std::filesystem::path& path);
/// Whole or not at all: another run may read the file meanwhile. Throws EnvironmentError when it cannot.
void write_model_file(const std::filesystem::path& path, const ModelFile& model);

}  // namespace tunesmith
#pragma GCC visibility pop

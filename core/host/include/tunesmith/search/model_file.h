// A cost model in a file, with the tasks that it learned from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

struct ModelFile {
  /// A workload that the model learned from.
  struct Task {
    std::string workload;  // Workload::key
    int64_t programs = 0;
    int64_t rows = 0;  // of features, over all these programs; 0 for a model without features

    bool operator==(const Task&) const = default;
  };

  std::string kind;         // the cost model's id
  std::string version;      // of its plugin
  std::string options;      // all options: the line of Space::cost_model_text()
  std::vector<Task> tasks;  // in the order of learning
  std::string learned;      // CostModel::save()

  /// Adds to the task of this workload, or appends a new task.
  void add(const Task& task);
};

/// Throws UserError with the file's name if it cannot be read or is no model file.
ModelFile read_model_file(const std::filesystem::path& path);
/// Written atomically, since another run may read the file. Throws EnvironmentError.
void write_model_file(const std::filesystem::path& path, const ModelFile& model);

}  // namespace tunesmith
#pragma GCC visibility pop

// The built-in operators, and a user's own files beside them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A list of related workloads, such as one operator with several shapes.
struct WorkloadSuite {
  std::string id;                      // "C2D"
  std::vector<std::string> workloads;  // texts for WorkloadLibrary::load
  std::vector<double> weights;         // one for each; 1 if the file has none
};

/// Is this the path of a suite file (lists of workloads) and not of a workload? False if the file does not
/// exist. Throws UserError for invalid YAML.
bool is_suite_file(const std::string& path);
/// Reads a suite file: `ID: [workloads]`, where each workload is a text or `text: weight`. In file order; not
/// empty. Throws UserError.
std::vector<WorkloadSuite> read_suite_file(const std::string& path);

/// The folder of the built-in workloads: share/tunesmith/workloads
/// beside the kernel's library if installed, else the source tree.
std::filesystem::path builtin_workload_folder();

/// Reads files on demand without caching. Thread-safe.
class WorkloadLibrary {
 public:
  /// NAME is looked up as FOLDER/NAME.yaml, in the first folder that contains it.
  explicit WorkloadLibrary(std::vector<std::filesystem::path> folders = {builtin_workload_folder()});

  /// Names, sorted.
  std::vector<std::string> list() const;

  /// `name` is a name of list(), or the path of a file: it contains '/'
  /// or ends in ".yaml". Throws UserError with the nearest known name.
  WorkloadDefinition definition(std::string_view name) const;

  /// Loads "gmm", "gmm:n=512,m=512" or "path/to/file.yaml:n=3".
  /// Parameters that are not given have their defaults. Throws UserError.
  Workload load(std::string_view text) const;

  /// The contents of suite.yaml in file order; empty if no folder has one.
  std::vector<WorkloadSuite> suites() const;

 private:
  std::vector<std::filesystem::path> folders_;
};

/// Splits "gmm:n=512,m=512" into the name and the parameters. Throws UserError for bad syntax.
std::pair<std::string, std::vector<ParamText>> parse_workload_text(std::string_view text);

}  // namespace tunesmith
#pragma GCC visibility pop

#include "tunesmith/search/model_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "tunesmith/support/error.h"
#include "tunesmith/support/files.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

// The file has this line, then the SHA-256 of everything after that line; then lines with a word and a value,
// an empty line, and the saved model. Reading a damaged model is unsafe, so its hash is checked.
constexpr std::string_view kMagic = "tunesmith cost model 2";
constexpr std::string_view kEarlier = "tunesmith cost model 1";

ModelFile::Task read_task(const std::string& text, const std::string& file) {
  std::istringstream in(text);
  ModelFile::Task task;
  if (!(in >> task.programs >> task.rows >> std::ws && std::getline(in, task.workload)))
    throw UserError({file}, fmt::format("a task's line is damaged: '{}'", text), "retrain the model");
  return task;
}

}  // namespace

void ModelFile::add(const Task& task) {
  for (Task& known : tasks) {
    if (known.workload != task.workload) continue;
    known.programs += task.programs;
    known.rows += task.rows;
    return;
  }
  tasks.push_back(task);
}

ModelFile read_model_file(const std::filesystem::path& path) {
  const std::string file = path.string();
  // A folder, or an endless device.
  std::error_code missing;
  if (std::filesystem::exists(path, missing) && !std::filesystem::is_regular_file(path, missing))
    throw UserError(SourceLocation{file}, "the cost model cannot be read: not a file");
  std::ifstream whole(path, std::ios::binary);
  std::string line;
  if (!std::getline(whole, line)) throw UserError(SourceLocation{file}, "the cost model cannot be read");
  if (line == kEarlier)
    throw UserError({file}, "the cost model is from an earlier version of Tunesmith without a checksum",
                    "retrain the model");
  if (line != kMagic)
    throw UserError({file}, fmt::format("not a cost model: its first line is not '{}'", kMagic),
                    "create one with 'tunesmith model train' or 'tunesmith tune --model-file'");
  std::string sum;
  std::getline(whole, sum);
  const std::string content(std::istreambuf_iterator<char>(whole), {});
  if (whole.bad()) throw UserError(SourceLocation{file}, "the cost model cannot be read");
  if (sum != sha256_hex(content))
    throw UserError({file}, "the cost model is damaged: checksum mismatch", "retrain the model");
  std::istringstream in(content);
  ModelFile model;
  while (std::getline(in, line) && !line.empty()) {
    const size_t space = line.find(' ');
    const std::string word = line.substr(0, space);
    const std::string value = space == std::string::npos ? "" : line.substr(space + 1);
    if (word == "kind") {
      model.kind = value;
    } else if (word == "version") {
      model.version = value;
    } else if (word == "options") {
      model.options = value;
    } else if (word == "task") {
      model.tasks.push_back(read_task(value, file));
    } else {
      throw UserError({file}, fmt::format("a line of the cost model begins with '{}'", word),
                      "retrain the model");
    }
  }
  model.learned.assign(std::istreambuf_iterator<char>(in), {});
  return model;
}

void write_model_file(const std::filesystem::path& path, const ModelFile& model) {
  const std::string options = model.options.substr(0, model.options.find('\n'));
  std::string content = fmt::format("kind {}\nversion {}\noptions {}\n", model.kind, model.version, options);
  for (const ModelFile::Task& task : model.tasks)
    content += fmt::format("task {} {} {}\n", task.programs, task.rows, task.workload);
  content += "\n" + model.learned;
  write_whole_file(path, fmt::format("{}\n{}\n", kMagic, sha256_hex(content)) + content);
}

}  // namespace tunesmith

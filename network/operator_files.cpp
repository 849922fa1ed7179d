#include "tunesmith/network/operator_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "joined.h"
#include "tunesmith/workload/apply.h"

namespace tunesmith::network {
namespace {

namespace fs = std::filesystem;

std::vector<workload::ArrayType> array_types(const NodeView& view) {
  std::vector<workload::ArrayType> types;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    const auto& input = view.inputs[i];
    if (!input || input->elements || input->type.code != Code::None)
      throw UserError(fmt::format("input {} is {}, expected an array", i + 1,
                                  !input            ? "missing"
                                  : input->elements ? "a sequence"
                                                    : "of a type without kernels"));
    types.push_back({input->type.dtype, array_shape(input->type.shape)});
  }
  return types;
}

std::map<std::string, workload::AttributeValue> attribute_values(const Node& node) {
  std::map<std::string, workload::AttributeValue> values;
  for (const auto& [name, attribute] : node.attributes) {
    if (const auto* integer = std::get_if<int64_t>(&attribute))
      values[name] = *integer;
    else if (const auto* real = std::get_if<double>(&attribute))
      values[name] = *real;
    else
      throw UserError(
          fmt::format("attribute '{}' is not a number, as required for operators from files", name));
  }
  return values;
}

class FileOperator final : public Operator {
 public:
  void add(WorkloadDefinition definition) { definitions_.push_back(std::move(definition)); }

  Computation define(const NodeView& node) const override {
    const std::vector<workload::ArrayType> inputs = array_types(node);
    const auto attributes = attribute_values(node.node);
    std::string refused;
    for (const WorkloadDefinition& definition : definitions_) {
      try {
        workload::AppliedDefinition applied =
            workload::apply(definition, inputs, attributes, node.node.outputs.size());
        Computation made;
        for (workload::ArrayType& output : applied.outputs)
          made.outputs.push_back({output.dtype, std::move(output.shape)});
        made.compute = std::move(applied.statements);
        return made;
      } catch (const UserError& error) {
        refused += fmt::format("{}{}: {}", refused.empty() ? "" : "; ", definition.file(), error.what());
      }
    }
    throw UserError(refused);
  }

 private:
  std::vector<WorkloadDefinition> definitions_;
};

class WithOperators final : public Importer {
 public:
  WithOperators(std::shared_ptr<const Importer> importer,
                std::map<std::string, const FileOperator*, std::less<>> own)
      : importer_(std::move(importer)), own_(std::move(own)) {}

  bool reads(std::string_view file_name, std::span<const std::byte> head) const override {
    return importer_->reads(file_name, head);
  }
  Network import(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                 const fs::path& folder) const override {
    return importer_->import(bytes, owner, folder);
  }
  std::shared_ptr<const Constant> read_tensor(std::span<const std::byte> bytes) const override {
    return importer_->read_tensor(bytes);
  }
  const Operator* find_operator(std::string_view op, int64_t version) const override {
    const auto found = own_.find(op);
    return found != own_.end() ? found->second : importer_->find_operator(op, version);
  }

 private:
  std::shared_ptr<const Importer> importer_;
  std::map<std::string, const FileOperator*, std::less<>> own_;
};

std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};  // reading the path reports the fault
  std::vector<std::string> files;
  for (fs::directory_iterator each(path, error), end; !error && each != end; each.increment(error))
    if (each->path().extension() == ".yaml") files.push_back(each->path().string());
  if (error) throw UserError(SourceLocation{path}, error.message());
  std::ranges::sort(files);
  if (files.empty())
    throw UserError(SourceLocation{path}, "the folder has no file *.yaml that defines an operator");
  return files;
}

}  // namespace

std::shared_ptr<const Importer> with_operators(std::shared_ptr<const Importer> importer,
                                               const std::vector<std::string>& paths) {
  if (paths.empty()) return importer;
  std::map<std::string, std::unique_ptr<FileOperator>, std::less<>> read;
  for (const std::string& path : paths) {
    for (const std::string& file : files_of(path)) {
      WorkloadDefinition definition = WorkloadDefinition::read(file);
      if (definition.op().empty())
        throw UserError(SourceLocation{file}, "this workload defines no operator",
                        "expected the key 'operator', such as operator: com.example.Scale");
      std::unique_ptr<FileOperator>& op = read[definition.op()];
      if (!op) op = std::make_unique<FileOperator>();
      op->add(std::move(definition));
    }
  }
  std::map<std::string, const FileOperator*, std::less<>> own;
  for (auto& [name, op] : read) own[name] = op.release();  // never destroyed: networks point to it
  return std::make_shared<WithOperators>(std::move(importer), std::move(own));
}

}  // namespace tunesmith::network

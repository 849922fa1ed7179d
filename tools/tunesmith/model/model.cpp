#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/search/model_file.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"
#include "trial.h"

namespace tunesmith::cli {
namespace {

/// Replaces the space's cost model by `kind`, if that is not empty.
SpaceSpec with_model(SpaceSpec spec, const std::string& kind) {
  if (!kind.empty() && kind != spec.cost_model.id) spec.cost_model = {kind, {}, {}};
  return spec;
}

/// Creates a model without a time limit on its calls: here they may take longer than in a search, where rule
/// P22 ends them.
std::shared_ptr<CostModel> create_model(const Space& space, PluginRegistry& registry) {
  const PluginUse& use = space.spec().cost_model;
  const Options options =
      Options::validate(registry.option_specs(PluginKind::CostModel, use.id, use.location), use.options,
                        plugin_name(PluginKind::CostModel, use.id), use.location);
  std::shared_ptr<CostModel> model = registry.create<CostModel>(use.id, options, use.location);
  model->use_columns(space.added_columns());
  model->use_execution(space.target().execution());
  return model;
}

UserError keeps_nothing(const ModelFile& model) {
  int64_t programs = 0;
  for (const ModelFile::Task& task : model.tasks) programs += task.programs;
  return UserError(fmt::format("the cost model '{}' learned nothing from {} programs", model.kind, programs),
                   "choose a cost model that learns with --model, or measure more programs");
}

std::vector<MeasuredTask> load_tasks(const ModelArguments& arguments, const Space& space,
                                     PluginRegistry& registry) {
  std::vector<MeasuredTask> tasks;
  if (!arguments.stores.empty() || arguments.tables.empty())
    tasks = load_measured_tasks(arguments.stores, space);
  for (const std::string& table : arguments.tables)
    tasks.push_back(load_measured_table(table, space.spec(), registry));
  return tasks;
}

/// The tasks that `only` names (all if it is empty), without those that `except` names.
std::vector<MeasuredTask> chosen(std::vector<MeasuredTask> tasks, const std::vector<std::string>& only,
                                 const std::vector<std::string>& except) {
  const auto any = [](const std::vector<std::string>& texts, const MeasuredTask& task) {
    return std::ranges::any_of(texts, [&](const std::string& text) { return is_named(task.workload, text); });
  };
  std::erase_if(tasks, [&](const MeasuredTask& task) {
    return (!only.empty() && !any(only, task)) || any(except, task);
  });
  if (tasks.empty()) throw UserError("the stores have no task to train on");
  return tasks;
}

/// Derives the name from the first store or table: records.db -> records.xgboost.model.
std::string file_beside_source(const ModelArguments& arguments, const std::string& kind) {
  std::filesystem::path source;
  if (!arguments.stores.empty() || arguments.tables.empty()) {
    source = database_path(arguments.stores.empty() ? "" : arguments.stores.front());
  } else {
    source = std::filesystem::path(arguments.tables.front()).replace_extension().replace_extension();
  }
  return source.replace_extension(kind + ".model").string();
}

nlohmann::json to_json(const ModelFile& model, const std::string& file) {
  nlohmann::json tasks = nlohmann::json::array();
  for (const ModelFile::Task& task : model.tasks)
    tasks.push_back({{"workload", task.workload}, {"programs", task.programs}, {"rows", task.rows}});
  return {{"file", file},
          {"kind", model.kind},
          {"version", model.version},
          {"options", model.options},
          {"tasks", tasks}};
}

void print(const ModelFile& model, const std::string& file) {
  fmt::print(output(), "{}: {} {}\n  {}\n", file, model.kind, model.version, model.options);
  for (const ModelFile::Task& task : model.tasks)
    fmt::print(output(), "  {:>6} programs, {:>7} rows  {}\n", task.programs, task.rows, task.workload);
}

}  // namespace

int run_model_train(const Common& common, const ModelArguments& arguments) {
  Session session(common);
  const Space space(with_model(session.spec(), arguments.model), session.registry());
  const std::shared_ptr<CostModel> model = create_model(space, session.registry());
  const std::string& kind = space.spec().cost_model.id;
  const std::string version =
      space.plugin_versions().at(fmt::format("{}:{}", kind_name(PluginKind::CostModel), kind));
  ModelFile file{kind, version, space.cost_model_text(), {}, ""};
  for (const MeasuredTask& task :
       chosen(load_tasks(arguments, space, session.registry()), arguments.workloads, arguments.except)) {
    model->begin(task.workload, task.device);
    model->update(task.programs);
    file.add({task.workload.key, static_cast<int64_t>(task.programs.size()), task.rows});
    if (task.lost > 0 && !common.quiet) {
      fmt::print(stderr, "tunesmith: {} programs of {} no longer follow from their traces\n", task.lost,
                 task.workload.key);
    }
  }
  file.learned = model->save();
  if (file.learned.empty()) throw keeps_nothing(file);
  const std::string path = !arguments.file.empty() ? arguments.file : file_beside_source(arguments, kind);
  write_model_file(path, file);
  if (common.json) {
    print_json(to_json(file, path));
  } else {
    print(file, path);
  }
  return kDone;
}

int run_model_show(const Common& common, const ModelArguments& arguments) {
  const ModelFile file = read_model_file(arguments.file);
  Session session(common);
  const Options options =
      Options::defaults(session.registry().option_specs(PluginKind::CostModel, file.kind, {}),
                        plugin_name(PluginKind::CostModel, file.kind));
  const std::shared_ptr<CostModel> model = session.registry().create<CostModel>(file.kind, options);
  model->load(file.learned);
  std::vector<FeatureImportance> importance = model->importance();
  const size_t all = importance.size();
  importance.resize(std::min(all, static_cast<size_t>(arguments.count)));
  if (common.json) {
    nlohmann::json json = to_json(file, arguments.file);
    json["importance"] = nlohmann::json::array();
    for (const FeatureImportance& one : importance)
      json["importance"].push_back({{"feature", one.feature}, {"share", one.share}});
    print_json(json);
    return kDone;
  }
  print(file, arguments.file);
  if (all == 0) return kDone;
  fmt::print(output(), "the {} most important of {} features, by gain of the splits\n", importance.size(),
             all);
  for (const FeatureImportance& one : importance)
    fmt::print(output(), "  {:>5.1f} %  {}\n", 100.0 * one.share, one.feature);
  return kDone;
}

int run_model_eval(const Common& common, const ModelArguments& arguments) {
  Session session(common);
  const Space space(with_model(session.spec(), arguments.model), session.registry());
  const auto make = [&] { return create_model(space, session.registry()); };
  const std::vector<MeasuredTask> tasks = load_tasks(arguments, space, session.registry());
  ModelTrial trial;
  trial.counts = arguments.counts;
  trial.alone = arguments.alone;
  trial.seed = arguments.seed;
  std::vector<ModelFigures> all;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const auto asked = [&](const std::string& text) { return is_named(tasks[i].workload, text); };
    if (!arguments.workloads.empty() && std::ranges::none_of(arguments.workloads, asked)) continue;
    const std::vector<ModelFigures> figures = try_model(tasks, i, make, trial);
    all.insert(all.end(), figures.begin(), figures.end());
  }
  if (all.empty()) throw UserError("no task in the stores has enough programs to split for training");
  if (common.json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const ModelFigures& one : all) rows.push_back(to_json(one));
    print_json(
        {{"model", space.spec().cost_model.id}, {"options", space.cost_model_text()}, {"figures", rows}});
    return kDone;
  }
  print_figures(all, space.spec().cost_model.id);
  return kDone;
}

}  // namespace tunesmith::cli

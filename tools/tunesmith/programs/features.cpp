#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/ir/visit.h>
#include <tunesmith/performance/features.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

/// The reference of all columns.
void print_page() {
  fmt::print(
      output(),
      "# Features\n\n"
      "What a cost model reads of a lowered program: a row for each store, of the {} numbers below, in "
      "this "
      "order.\nThe table is made by `tunesmith features` from the code (`performance/columns.cpp`); "
      "`tunesmith features WORKLOAD` prints the numbers\nof a program, and `features_of()` gives "
      "them "
      "to a cost model.\n\n"
      "Numbers are of one store in all of its executions unless the column says otherwise, and are plain "
      "quantities: no logarithms, nothing\nnormalised. `buffer0` is the buffer that is written; `buffer1` "
      "and "
      "so on are the others, those with the most bytes accessed first; a column\nof a buffer that is not "
      "there "
      "is 0, and so is what depends on a quantity that the machine's description does not give. A loop is\n"
      "*spatial* when it moves the store to another element, and a *reduction* when it does not.\n\n"
      "Extensions may add columns (`TargetExtension::feature_columns()`); they stand behind "
      "these.\n`tunesmith features WORKLOAD` prints those of its space, too, and "
      "`--json` says what they mean.\n\n"
      "| column | unit | meaning |\n|---|---|---|\n",
      feature_columns().size());
  for (const FeatureColumn& column : feature_columns())
    fmt::print(output(), "| `{}` | {} | {} |\n", column.name, column.unit, column.meaning);
}

CandidatePtr candidate_of(const Space& space, const Workload& workload, const FeaturesArguments& arguments) {
  if (!arguments.trace.empty())
    return materialise(space, workload, load_trace(arguments.trace, arguments.database));
  const SketchSet set = space.generate(workload.program);
  RandomStream random(arguments.seed);
  const Trace& sketch = set.sketches[random.below(set.sketches.size())].trace();
  auto candidate = space.materialise(workload.program, sketch.with_open_decisions(), random);
  if (!candidate) {
    throw UserError(fmt::format("the program drawn with seed {} is rejected: {}", arguments.seed,
                                candidate.error().message),
                    "draw another with --seed, or give a trace with --trace");
  }
  return std::move(*candidate);
}

/// For each row, the buffer that its store writes.
std::vector<std::string> stores_of(const Program& program) {
  std::vector<std::string> names;
  walk(static_cast<const Stmt&>(program.root()), [&](const Stmt& stmt) {
    if (const Store* store = stmt.as<Store>()) names.push_back(store->buffer->name);
  });
  return names;
}

}  // namespace

int run_features(const Common& common, const FeaturesArguments& arguments) {
  if (arguments.workload.empty()) {
    print_page();
    return kDone;
  }
  const Workload workload = WorkloadLibrary().load(arguments.workload);
  Session session(common);
  const auto space = session.space(TargetPresence::NotRequired);
  const CandidatePtr candidate = candidate_of(*space, workload, arguments);
  const FeatureRows& rows = features_of(*candidate, space->device());
  const std::vector<std::string> stores = stores_of(candidate->lowered.program);
  const std::vector<FeatureColumn> columns = feature_columns_with(space->added_columns());
  if (common.json) {
    nlohmann::json json{{"workload", workload.key}, {"trace", candidate->trace.str()}};
    for (const FeatureColumn& column : columns) {
      json["columns"].push_back({{"name", column.name}, {"unit", column.unit}, {"meaning", column.meaning}});
    }
    json["rows"] = nlohmann::json::array();
    for (size_t i = 0; i < rows.rows(); ++i)
      json["rows"].push_back({{"store", stores[i]}, {"values", rows.row(i)}});
    print_json(json);
    return kDone;
  }
  fmt::print(output(), "{:<30} {:<16}", "store to", "");
  for (const std::string& store : stores) fmt::print(output(), " {:>12}", store);
  fmt::print(output(), "\n");
  for (size_t c = 0; c < columns.size(); ++c) {
    fmt::print(output(), "{:<30} {:<16}", columns[c].name, columns[c].unit);
    for (size_t i = 0; i < rows.rows(); ++i) fmt::print(output(), " {:>12.6g}", rows.row(i)[c]);
    fmt::print(output(), "\n");
  }
  return kDone;
}

}  // namespace tunesmith::cli

// The file of finished searches, with which a comparison continues after an interruption.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/print_json.h"
#include "compare.h"

namespace tunesmith::cli {
namespace {

using nlohmann::json;

double number_from(const json& in) {
  return in.is_null() ? std::numeric_limits<double>::infinity() : in.get<double>();
}

json to_json(const std::vector<ModelBatch>& batches) {
  json list = json::array();
  for (const ModelBatch& batch : batches)
    list.push_back({batch.trials, batch.programs, batch.rank_correlation, batch.best_of_eighth, batch.rmse});
  return list;
}
std::vector<ModelBatch> batches_from(const json& in) {
  std::vector<ModelBatch> batches;
  for (const json& one : in) batches.push_back({one.at(0), one.at(1), one.at(2), one.at(3), one.at(4)});
  return batches;
}

json to_json(const FinishedSearch& search) {
  const SearchRun& run = search.run;
  json improvements = json::array();
  for (const ProgressPoint& one : run.improvements)
    improvements.push_back({one.trial, one.wall, one.seconds});
  return {{"key", search.key},
          {"trace", search.trace},
          {"workload", run.workload},
          {"strategy", run.strategy},
          {"seed", run.seed},
          {"improvements", improvements},
          {"trials", run.trials},
          {"wall_seconds", run.wall_seconds},
          {"final_seconds", finite_or_null(run.final_seconds)},
          {"failures", run.failures},
          {"refusals", run.refusals},
          {"model_batches", to_json(run.model_batches)},
          {"own_batches", to_json(run.own_batches)},
          {"model_dropped", run.model_dropped},
          {"search_seconds", run.search_seconds},
          {"exhausted", run.exhausted}};
}

FinishedSearch from_json(const json& in) {
  FinishedSearch search;
  in.at("key").get_to(search.key);
  in.at("trace").get_to(search.trace);
  SearchRun& run = search.run;
  in.at("workload").get_to(run.workload);
  in.at("strategy").get_to(run.strategy);
  in.at("seed").get_to(run.seed);
  for (const json& one : in.at("improvements")) run.improvements.push_back({one.at(0), one.at(1), one.at(2)});
  in.at("trials").get_to(run.trials);
  in.at("wall_seconds").get_to(run.wall_seconds);
  run.final_seconds = number_from(in.at("final_seconds"));
  in.at("failures").get_to(run.failures);
  in.at("refusals").get_to(run.refusals);
  run.model_batches = batches_from(in.at("model_batches"));
  // Files of older versions lack it.
  if (in.contains("own_batches")) run.own_batches = batches_from(in.at("own_batches"));
  in.at("model_dropped").get_to(run.model_dropped);
  in.at("search_seconds").get_to(run.search_seconds);
  in.at("exhausted").get_to(run.exhausted);
  return search;
}

}  // namespace

nlohmann::json finite_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

ResultsFile::ResultsFile(std::string file) : file_(std::move(file)) {
  std::ifstream in(file_);
  std::string line;
  uintmax_t begin = 0;
  for (int number = 1; std::getline(in, line); ++number) {
    const uintmax_t here = std::exchange(begin, begin + line.size() + 1);
    try {
      FinishedSearch search = from_json(json::parse(line));
      lacks_newline_ = in.eof();
      std::string key = search.key;
      searches_.insert_or_assign(std::move(key), std::move(search));
    } catch (const json::exception&) {
      // A killed writer may have left an incomplete last line.
      if (in.peek() == std::ifstream::traits_type::eof()) {
        cut_at_ = here;
        return;
      }
      throw UserError({file_, number}, "not a line of compare's results", "give another file with --results");
    }
  }
}

const FinishedSearch* ResultsFile::find(const std::string& key) const {
  const auto found = searches_.find(key);
  return found == searches_.end() ? nullptr : &found->second;
}

void ResultsFile::add(const FinishedSearch& search) {
  if (file_.empty()) return;
  if (cut_at_) std::filesystem::resize_file(file_, *cut_at_);
  cut_at_.reset();
  std::ofstream out(file_, std::ios::app);
  if (std::exchange(lacks_newline_, false)) out << '\n';
  out << json_line(to_json(search)) << '\n';
  out.close();
  if (!out) throw EnvironmentError(fmt::format("{}: cannot write the results", file_));
}

}  // namespace tunesmith::cli

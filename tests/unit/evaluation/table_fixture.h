// A table of a small space on a fictional machine, with invented times.
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "tunesmith/evaluation/replay.h"
#include "tunesmith/support/hash.h"
#include "tunesmith/tuning/tuner.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {

class TableTest : public testing::Test {
 protected:
  std::filesystem::path path(const std::string& file) const { return folder_ / file; }

  static SpacesFile spaces() {
    return SpacesFile::parse(R"(
version: 1
spaces:
  small:
    target: {kind: none}
    modules:
      - multi_level_tiling: {structure: SRS, max_innermost: 16, write_reuse: [1]}
      - parallel_vectorize_unroll: {unroll: [0, 16]}
      - rewrite_reduction_init
      - rewrite_parallel_vectorize_unroll
    search: {kind: exhaustive}
    cost_model: {kind: random}
  blind: {extends: small, search: {kind: random}}
  guided: {extends: small, search: {kind: evolutionary, population: 16}, cost_model: {kind: analytical}}
)",
                             "test.yaml");
  }

  /// Without rows.
  static Table empty_table() {
    const Workload workload = WorkloadLibrary().load("gmm:n=16,m=32,k=16");
    const SpaceSpec spec = spaces().space("small");
    Table table;
    table.workload = workload.key;
    table.definition = workload.definition;
    table.workload_hash = workload.hash;
    table.threads = 2;
    table.space.name = spec.name;
    table.space.modules = spec.modules;
    table.identity = "a machine that never was";
    table.target = "a machine that never was, and its compiler";
    for (const auto& [name, value] : {std::pair<const char*, double>{"cores", 2},
                                      {"vector_bits", 256},
                                      {"vector_registers", 16},
                                      {"vector_registers_used_by_tile", 15},
                                      {"fma_per_cycle", 2},
                                      {"l1_bytes", 32768},
                                      {"l2_bytes", 1 << 20},
                                      {"l3_bytes", 1 << 25},
                                      {"cache_line_bytes", 64}})
      table.device.set(name, value);
    table.limits.vector_bits = 256;
    table.limits.prepare = true;
    table.environment.cpu_model = "Test";
    table.command = "by hand";
    table.recorded_ms = 1;
    return table;
  }

  Space space(const Table& table, const std::string& search = "small") {
    return Space(table_space(table, spaces().space(search)), registry_, make_table_target(table));
  }

  /// All programs of the space: every eleventh fails; the others' times follow from their hashes.
  Table full_table() {
    Table table = empty_table();
    const Space enumerated = space(table);
    RecordStore store(path("full.db"));
    TuneOptions options;
    options.trials = 100000;
    options.batch = 256;
    TuneHooks hooks;
    hooks.recorded = [&](const Record& record) {
      if (record.kind != MeasurementKind::Search) return;
      TableRow row;
      row.lowered_hash = record.lowered_hash;
      row.trace = record.trace;
      row.cost = 0.25;
      const uint64_t number = hash_combine(1, row.lowered_hash);
      if (number % 11 == 0) {
        row.failure = CandidateFailure{FailureCause::WrongResult, "made up"};
      } else {
        const double seconds = 1e-6 * static_cast<double>(10 + number % 990);
        row.rounds = {{seconds, 2 * seconds}, {3 * seconds, 4 * seconds}};
      }
      table.rows.push_back(std::move(row));
    };
    NoTimes runner;
    table.complete =
        tune(workload_of(table), enumerated, store, runner, table.environment, options, hooks).exhausted;
    table.rules = enumerated.rules();
    return table;
  }

  class NoTimes final : public Runner {
   public:
    std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
      std::vector<MeasureResult> results(requests.size());
      for (MeasureResult& result : results) result.timing = make_timing({1.0});
      return results;
    }
    std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                             const InterleaveOptions& /*options*/) override {
      return std::vector<InterleavedTimes>(kernels.size());
    }
  };

  PluginRegistry registry_;
  test::TemporaryFolder folder_;
};

}  // namespace tunesmith

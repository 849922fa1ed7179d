#include "task_programs.h"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tunesmith/network/plain_kernels.h>

#include "library.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

class Collecting {
 public:
  Collecting(const TaskedNetwork& tasked, Session& session, const Space& space,
             const ShippingOptions& options, size_t count, const MissingPrograms& missing)
      : tasked_(tasked),
        shipper_(session, space, options),
        options_(options),
        count_(count),
        missing_(missing),
        has_records_(std::filesystem::exists(database_path(options.measurements.database))),
        unscheduled_(space.target()) {}

  void add(size_t task) {
    const Workload& workload = tasked_.workload(task);
    std::deque<CompiledKernel>& programs = made_.of.emplace_back();
    if (missing_.untuned) return take_best_or_untuned(task, workload, programs);
    if (!missing_.as_written) {
      try {
        take_best(task, workload, programs);
      } catch (const NoRecord&) {
        nameless_.push_back(title_of(workload));
      }
      return;
    }
    const auto as_written = [&](const std::string& why) { take_as_written(task, workload, why, programs); };
    if (!has_records_) return as_written("no record");
    try {
      take_best(task, workload, programs);
    } catch (const NoRecord&) {
      as_written("no record");
    } catch (const NotCompiled& error) {
      as_written(error.what());
    } catch (const UserError& error) {
      as_written(error.what());
    }
  }

  TaskPrograms finish() {
    if (nameless_.empty()) return std::move(made_);
    throw UserError(
        fmt::format("{} of {} tasks have no record in this space with {} threads on this machine:\n  {}\n",
                    nameless_.size(), tasked_.tasks.size(), options_.measurements.threads,
                    fmt::join(nameless_, "\n  ")),
        "run: tunesmith network tune FILE, or use unscheduled programs with --unscheduled");
  }

 private:
  void take_best(size_t task, const Workload& workload, std::deque<CompiledKernel>& programs) {
    for (Shipped& shipped :
         shipper_.ship_best(workload, title_of(workload), kernel_symbol(tasked_, task), count_))
      add(std::move(shipped), programs);
  }

  void add(Shipped shipped, std::deque<CompiledKernel>& programs) {
    programs.push_back(std::move(shipped.kernel));
    if (!shipped.intervals.empty())
      made_.intervals[&programs.back()] = fmt::format("{}", fmt::join(shipped.intervals, ", "));
  }

  void take_best_or_untuned(size_t task, const Workload& workload, std::deque<CompiledKernel>& programs) {
    try {
      Shipped shipped =
          shipper_.ship_best_or_untuned(workload, title_of(workload), kernel_symbol(tasked_, task));
      if (shipped.untuned) made_.untuned[task] = shipped.provenance;
      add(std::move(shipped), programs);
    } catch (const UserError& error) {
      take_as_written(task, workload, error.what(), programs);
    } catch (const NotCompiled& error) {
      take_as_written(task, workload, error.what(), programs);
    }
  }

  void take_as_written(size_t task, const Workload& workload, const std::string& why,
                       std::deque<CompiledKernel>& programs) {
    const auto known = missing_.reasons.find(task);
    made_.as_written[task] = known != missing_.reasons.end() ? known->second : why;
    programs.push_back(unscheduled_.of(workload));
  }

  const TaskedNetwork& tasked_;
  const Shipper shipper_;
  const ShippingOptions& options_;
  const size_t count_;
  const MissingPrograms& missing_;
  const bool has_records_;
  network::PlainKernels unscheduled_;
  TaskPrograms made_;
  std::vector<std::string> nameless_;
};

}  // namespace

TaskPrograms programs_of(const TaskedNetwork& tasked, Session& session, const Space& space,
                         const ShippingOptions& options, size_t count, const MissingPrograms& missing,
                         const std::function<void(size_t task)>& begin) {
  Collecting collecting(tasked, session, space, options, count, missing);
  for (size_t task = 0; task < tasked.tasks.size(); ++task) {
    if (begin) begin(task);
    collecting.add(task);
  }
  return collecting.finish();
}

}  // namespace tunesmith::cli

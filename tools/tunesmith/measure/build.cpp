#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/thread_pool.h>
#include <tunesmith/target/packaging.h>
#include <tunesmith/target/separate_device.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "library_examples.h"
#include "output.h"
#include "session.h"
#include "shipping.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

class Builder {
 public:
  Builder(const Common& common, const BuildArguments& arguments)
      : common_(common),
        arguments_(arguments),
        workload_(find_workload(arguments.workload, arguments.database)),
        session_(common),
        space_(session_.space()),
        threads_(arguments.threads > 0 ? arguments.threads : static_cast<int>(available_processors())),
        name_(c_identifier(arguments.name.empty() ? workload_.name : arguments.name)) {}

  void run() {
    Packaging* const packaging = space_->target().packaging();
    if (packaging == nullptr)
      throw UserError(fmt::format("the target of space '{}' cannot build libraries", space_->spec().name),
                      "choose a space with another target by --space");
    require_arrays_without_gaps(workload_.program);
    const Shipper shipper(session_, *space_,
                          {{arguments_.database, threads_},
                           arguments_.threads,
                           arguments_.candidate_time_out,
                           arguments_.allow_memory,
                           common_.json,
                           arguments_.draws});
    const Shipped shipped = chosen(shipper, name_ + "_kernel");
    std::filesystem::create_directories(arguments_.output);
    LibraryFiles files = packaging->build_library(
        {&shipped.kernel, &workload_.program, name_, arguments_.output, shipped.provenance});
    if (arguments_.example) add_examples(files, shipped.kernel.prepare.has_value());
    print(shipped, files);
  }

 private:
  Shipped chosen(const Shipper& shipper, const std::string& symbol) const {
    if (!arguments_.trace.empty()) return shipper.ship(workload_, arguments_.trace, symbol);
    if (arguments_.untuned) return shipper.ship_best_or_untuned(workload_, arguments_.workload, symbol);
    constexpr const char* kUntuned = "--untuned builds a program without a search";
    if (const std::string store = database_path(arguments_.database); !std::filesystem::exists(store))
      throw UserError(SourceLocation{store}, "no such record store",
                      fmt::format("tune first, or give another file; {}", kUntuned));
    try {
      return shipper.ship_best(workload_, arguments_.workload, symbol);
    } catch (const NoRecord& none) {
      throw UserError(none.what(), kUntuned);
    }
  }

  void add_examples(LibraryFiles& files, bool prepares) const {
    if (space_->target().separate_device() != nullptr)
      throw UserError(
          fmt::format("--example: programs of space '{}' run on a separate device", space_->spec().name),
          "examples are generated only for libraries that run on the CPU");
    for (std::string& file : write_examples(workload_.program, name_, prepares, arguments_.output))
      files.others.push_back(std::move(file));
  }

  void print(const Shipped& shipped, const LibraryFiles& files) const {
    if (common_.json) {
      print_json({{"workload", workload_.key},
                  {"library", files.library},
                  {"header", files.header},
                  {"others", files.others},
                  {"provenance", shipped.provenance},
                  {"measured_now", shipped.measured_now},
                  {"untuned", shipped.untuned},
                  {"prepares", shipped.kernel.prepare.has_value()},
                  {"intervals", shipped.intervals}});
      return;
    }
    fmt::print(output(), "built {}\n      {}\n", files.library, files.header);
    for (const std::string& other : files.others) fmt::print(output(), "      {}\n", other);
    for (const std::string& interval : shipped.intervals) fmt::print(output(), "      {}\n", interval);
    if (shipped.kernel.prepare)
      fmt::print(output(), "call {}_prepare once before {} (see the header)\n", name_, name_);
  }

  const Common& common_;
  const BuildArguments& arguments_;
  const Workload workload_;
  Session session_;
  const std::unique_ptr<Space> space_;
  const int threads_;
  const std::string name_;
};

}  // namespace

int run_build(const Common& common, const BuildArguments& arguments) {
  if (!arguments.name.empty()) require_identifier(arguments.name);
  Builder(common, arguments).run();
  return kDone;
}

}  // namespace tunesmith::cli

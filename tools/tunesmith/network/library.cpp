#include "library.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/thread_pool.h>

#include "output.h"

namespace tunesmith::cli {

std::string output_folder(const NetworkArguments& arguments) {
  return arguments.output.empty() ? "." : arguments.output;
}

network::LibrarySource library_source(const NetworkArguments& arguments) {
  const std::string stem = std::filesystem::path(arguments.file).stem().string();
  return {arguments.name.empty() ? c_identifier(stem) : arguments.name, arguments.file, arguments.dimensions,
          arguments.operators};
}

Packaging& packaging_of(const Space& space) {
  if (Packaging* const packaging = space.target().packaging()) return *packaging;
  throw UserError(fmt::format("the target of space '{}' cannot build libraries", space.spec().name),
                  "choose a space with another target by --space");
}

ShippingOptions shipping_options(const NetworkArguments& arguments, bool quiet) {
  ShippingOptions options;
  options.measurements = {
      arguments.database,
      arguments.threads > 0 ? arguments.threads : static_cast<int>(available_processors()),
      arguments.machine};
  options.worker_threads = arguments.threads;
  options.quiet = quiet;
  options.draws = arguments.draws;
  return options;
}

void print_built(const network::BuiltNetwork& built, const TaskedNetwork& tasked) {
  fmt::print(
      output(),
      "built {}\n      {}\n      {} ({} bytes)\n      {}\n      {}\n{} kernels a call, {} bytes of memory\n",
      built.files.library, built.files.header, built.files.weights, built.weight_bytes,
      built.files.main_program, built.description, tasked.regions.size(), built.memory_bytes);
  if (!built.untuned.empty())
    fmt::print(output(), "{} of {} tasks use their first program, untuned\n", built.untuned.size(),
               tasked.tasks.size());
  for (const auto& [title, which] : built.intervals) fmt::print(output(), "  {}: {}\n", title, which);
  if (built.as_written.empty()) return;
  fmt::print(output(), "{} of {} tasks use their unscheduled program:\n", built.as_written.size(),
             tasked.tasks.size());
  for (const auto& [title, why] : built.as_written) fmt::print(output(), "  {}: {}\n", title, why);
}

nlohmann::json built_json(const network::BuiltNetwork& built, const TaskedNetwork& tasked) {
  nlohmann::json as_written = nlohmann::json::array();
  for (const auto& [title, why] : built.as_written) as_written.push_back({{"name", title}, {"why", why}});
  nlohmann::json untuned = nlohmann::json::array();
  for (const auto& [title, how] : built.untuned) untuned.push_back({{"name", title}, {"how", how}});
  nlohmann::json intervals = nlohmann::json::array();
  for (const auto& [title, which] : built.intervals)
    intervals.push_back({{"name", title}, {"intervals", which}});
  return {{"network", tasked.network.name},
          {"kernels", tasked.regions.size()},
          {"memory_bytes", built.memory_bytes},
          {"weight_bytes", built.weight_bytes},
          {"library", built.files.library},
          {"header", built.files.header},
          {"weights", built.files.weights},
          {"main_program", built.files.main_program},
          {"description", built.description},
          {"as_written", as_written},
          {"untuned", untuned},
          {"intervals", intervals}};
}

}  // namespace tunesmith::cli

// A module written in spaces.yaml: a trace with open decisions, applied to every block that
// matches `match`, which it names `block`. If an instruction is refused the module declines.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fnmatch.h>

#include <tunesmith/stable/module.h>
#include <tunesmith/stable/trace.h>

namespace {

using namespace tunesmith;

/// Parsed before the text, so that `block` is defined.
constexpr const char* kPrologue = "block = get_block(\"block\")\n";

class Script final : public TransformationModule {
 public:
  explicit Script(const Options& options)
      : patterns_(options.get_strings("match")), claim_(options.get_bool("claim")), script_(read(options)) {
    if (options.is_set("match") && patterns_.empty())
      options.fail("match", "expected at least one block name, such as [C, \"*_rf\"]");
  }

  /// The annotations that its instructions make and remove.
  ModuleDescription description() const override {
    std::set<std::string> makes, consumes;
    for (size_t i = 0; i < script_.size(); ++i) {
      const std::string_view kind = script_[i].name();
      if (kind == "software_pipeline") makes.insert(kSoftwarePipeline);
      if (kind != "annotate" && kind != "unannotate") continue;
      const std::optional<std::string_view> key = script_[i].text(1);
      if (!key) continue;
      if (kind == "annotate") {
        makes.emplace(*key);
      } else if (makes.erase(std::string(*key)) == 0) {
        consumes.emplace(*key);
      }
    }
    return {.makes = {makes.begin(), makes.end()}, .consumes = {consumes.begin(), consumes.end()}};
  }

  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) override {
    const bool matches = std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
      return fnmatch(pattern.c_str(), block_name.c_str(), 0) == 0;
    });
    if (!matches) return ModuleResult::not_applicable("no pattern of 'match' names the block");
    if (script_.empty()) return ModuleResult::not_applicable("the script has no instruction");
    std::vector<TraceVar> variables{schedule.get_block(block_name)};
    for (size_t i = 1; i < script_.size(); ++i) {
      const std::vector<TraceVar> results = script_[i].execute(schedule, variables);
      if (results.size() != script_[i].results())
        return ModuleResult::not_applicable(
            "an instruction has another number of results than the script names");
      variables.insert(variables.end(), results.begin(), results.end());
    }
    if (claim_) context.claim(block_name, "a script schedules it");
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  /// Empty, or its first instruction is the prologue's.
  static Trace read(const Options& options) {
    const std::string text = options.get_string("trace");
    if (!options.is_set("trace") && !options.is_set("match")) return {};
    if (text.find_first_not_of(" \t\n") == std::string::npos)
      options.fail("trace", "expected the instructions of a trace");
    Trace trace(options, "trace", kPrologue);
    for (size_t i = 0; i < trace.size(); ++i) {
      if (trace[i].name() == kFinishingMarker)
        options.fail("trace", trace[i].offset(), "a script cannot contain the finishing marker: remove it");
    }
    for (size_t i = 0; i < trace.size(); ++i) {
      if (!trace[i].decided()) continue;
      options.fail("trace", trace[i].offset(),
                   "decisions of a script stay open: remove '@ ...', or write the numbers as arguments");
    }
    return trace;
  }

  std::vector<std::string> patterns_;
  bool claim_;
  Trace script_;
};

}  // namespace

TUNESMITH_PLUGIN(Script, PluginKind::Module, "script", "0.1.0",
                 "apply the instructions of a trace, given in spaces.yaml, to the named blocks",
                 OptionSpec::strings("match", {"*"}, {},
                                     "patterns of block names; * matches any characters, ? one"),
                 OptionSpec::string("trace", "",
                                    "instructions with open decisions, one to a line; 'block' is the block"),
                 OptionSpec::boolean("claim", true, "exclude the block from later modules"));

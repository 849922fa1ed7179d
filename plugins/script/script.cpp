// A module whose text stands in spaces.yaml: a trace with open decisions, done to every block that `match`
// names. In it `block` stands for that block. Where an instruction is refused the module declines.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fnmatch.h>

#include <tunesmith/ir/annotation_keys.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/space/module.h>
#include <tunesmith/trace/trace.h>

namespace {

using namespace tunesmith;

/// What the parser reads before the text, so that `block` is a name of it.
constexpr const char* kPrologue = "block = get_block(\"block\")\n";
constexpr std::string_view kVersionLine = "# tunesmith trace";

class Script final : public TransformationModule {
 public:
  explicit Script(const Options& options)
      : patterns_(options.get_strings("match")), claim_(options.get_bool("claim")), script_(parse(options)) {
    if (options.is_set("match") && patterns_.empty())
      options.fail("match", "expected at least one name of a block, as [C, \"*_rf\"]");
  }

  /// What its instructions annotate, and what they take away again.
  ModuleDescription description() const override {
    std::set<std::string> makes, consumes;
    for (size_t i = 0; i < script_.size(); ++i) {
      const std::string_view kind = script_[i].kind->name();
      if (kind == "software_pipeline") makes.insert(kSoftwarePipeline);
      if (kind != "annotate" && kind != "unannotate") continue;
      const auto* key = std::get_if<std::string>(&script_[i].args.at(1));
      if (key == nullptr) continue;
      if (kind == "annotate") {
        makes.insert(*key);
      } else if (makes.erase(*key) == 0) {
        consumes.insert(*key);
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
      const Instruction& instruction = script_[i];
      std::vector<Arg> args;
      for (const Arg& arg : instruction.args) args.push_back(translated(arg, variables));
      const std::vector<TraceVar> results = schedule.execute(*instruction.kind, std::move(args));
      if (results.size() != instruction.outputs.size())
        return ModuleResult::not_applicable(
            "an instruction has another number of results than the script names");
      variables.insert(variables.end(), results.begin(), results.end());
    }
    if (claim_) context.claim(block_name, "a script schedules it");
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  /// The argument with the script's variables replaced by the schedule's.
  static Arg translated(const Arg& arg, const std::vector<TraceVar>& variables) {
    if (const auto* variable = std::get_if<TraceVar>(&arg)) return variables.at(variable->index);
    if (const auto* list = std::get_if<ArgList>(&arg)) {
      ArgList items;
      for (const Arg& item : *list) items.push_back(translated(item, variables));
      return items;
    }
    return arg;
  }

  /// Empty, or its first instruction is the prologue's.
  static Trace parse(const Options& options) {
    const std::string& text = options.get_string("trace");
    if (!options.is_set("trace") && !options.is_set("match")) return {};
    if (text.find_first_not_of(" \t\n") == std::string::npos)
      options.fail("trace", "expected the instructions of a trace");
    // The version must stay the first line.
    const size_t after_version = text.find('\n') + 1;
    const size_t prologue = text.starts_with(kVersionLine) ? after_version : 0;
    std::vector<SourceLocation> places;
    Trace trace;
    try {
      trace = Trace::parse(text.substr(0, prologue) + kPrologue + text.substr(prologue), "", &places);
    } catch (const UserError& error) {
      const std::string what = error.what();
      const std::string place = error.location().str() + ": ";
      refuse(options, error.location(), prologue, what.starts_with(place) ? what.substr(place.size()) : what);
    }
    if (trace.complete())
      refuse(options, places[trace.finishing()], prologue, "a script does not finish; remove the marker");
    for (size_t i = 0; i < trace.size(); ++i) {
      if (!trace[i].decision.has_value()) continue;
      refuse(options, places[i], prologue,
             "a script leaves its decisions open; remove '@ ...', or write the numbers as arguments");
    }
    return trace;
  }

  /// Throws at the place in spaces.yaml where that of the parsed text stands.
  [[noreturn]] static void refuse(const Options& options, const SourceLocation& place, size_t prologue,
                                  const std::string& message) {
    const std::string& text = options.get_string("trace");
    const int line = prologue > 0 && place.line == 1 ? 1 : place.line - 1;
    size_t offset = 0;
    for (int i = 1; i < line; ++i) offset = text.find('\n', offset) + 1;
    offset += static_cast<size_t>(std::max(place.column - 1, 0));
    throw UserError(options.location("trace", offset), "option 'trace' of module 'script': " + message);
  }

  std::vector<std::string> patterns_;
  bool claim_;
  Trace script_;
};

}  // namespace

TUNESMITH_PLUGIN(Script, PluginKind::Module, "script", "0.1.0",
                 "do the instructions of a trace, written in spaces.yaml, to the blocks that are named",
                 OptionSpec::strings("match", {"*"}, {},
                                     "names of blocks; * stands for any characters, ? for one"),
                 OptionSpec::string("trace", "",
                                    "instructions with open decisions, one to a line; 'block' is the block"),
                 OptionSpec::boolean("claim", true, "keep the modules after it away from the block"));

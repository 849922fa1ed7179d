#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "support/text_scanner.h"
#include "trace/counted_buffers.h"
#include "tunesmith/support/error.h"
#include "tunesmith/trace/trace.h"

namespace tunesmith {
namespace {

constexpr int kDeepestList = 8;
/// The maximum length of arguments and decisions: a list of factors becomes as many nested loops.
constexpr size_t kLongestList = 1024;
constexpr size_t kLongestText = size_t{1} << 20;

/// What a name in the trace refers to.
struct Variable {
  uint32_t index = 0;
  ResultType type = ResultType::None;
  int line = 0;
};

/// Recursive descent; one instruction per line, which may continue inside brackets.
class TraceParser : private TextScanner {
 public:
  using TextScanner::TextScanner;

  Trace parse(std::vector<SourceLocation>* places) {
    read_version();
    Trace trace;
    while (true) {
      skip_blank(/*across_lines=*/true);
      if (at_end()) return trace;
      if (places != nullptr) places->push_back(location(here_));
      trace.append(parse_instruction());
      skip_blank(false);
      if (!at_end() && peek() != '\n')
        fail(here_, "expected the end of the line", "expected one instruction on a line");
    }
  }

 private:
  void read_version() {
    if (!take_text("# tunesmith trace")) return;
    skip_blank(false);
    const Position at = here_;
    const int64_t version = integer("the version of the text form");
    if (version < 1) fail(at, fmt::format("unknown version {}", version));
    if (version > kTraceVersion) {
      fail(at, fmt::format("the trace has version {}, this program reads up to {}", version, kTraceVersion),
           "use the release of Tunesmith that wrote it, or a newer one");
    }
    version_ = version;
  }

  void refuse_long(size_t items, Position at) const {
    if (items >= kLongestList) fail(at, fmt::format("a list of more than {} items", kLongestList));
  }

  Arg argument(int depth) {
    skip_blank(true);
    const Position at = here_;
    const char c = peek();
    if (c == '"') return quoted();
    if (c == '[') {
      if (depth >= kDeepestList) fail(at, "lists are nested too deeply");
      advance();
      ArgList list;
      if (take(']')) return list;
      do {
        refuse_long(list.size(), at);
        list.push_back(argument(depth + 1));
      } while (take(','));
      expect(']', "at the end of the list");
      return list;
    }
    if (c == '-' || std::isdigit(static_cast<unsigned char>(c)) != 0)
      return std::visit([](auto value) { return Arg(value); }, number());
    return named_value(name("an argument"), at);
  }

  Arg named_value(const std::string& word, Position at) const {
    if (word == "None" || word == "root") return {};
    if (word == "True") return true;
    if (word == "False") return false;
    const auto found = variables_.find(word);
    if (found == variables_.end()) {
      std::vector<std::string> known;
      for (const auto& [defined, variable] : variables_) known.push_back(defined);
      fail(at, fmt::format("'{}' is not defined", word), known.empty() ? "" : suggest(word, known));
    }
    return TraceVar{found->second.index};
  }

  /// A value of the type that the argument will have.
  Value typical(const Arg& arg) const {
    if (const auto* var = std::get_if<TraceVar>(&arg)) {
      switch (types_[var->index]) {
        case ResultType::Block:
        case ResultType::Blocks:
          return BlockId{};
        case ResultType::Loop:
        case ResultType::Loops:
          return LoopId{};
        default:
          return int64_t{0};
      }
    }
    if (const auto* list = std::get_if<ArgList>(&arg)) {
      ValueList values;
      for (const Arg& item : *list) values.push_back(typical(item));
      return values;
    }
    if (const auto* flag = std::get_if<bool>(&arg)) return *flag;
    if (const auto* integer_value = std::get_if<int64_t>(&arg)) return *integer_value;
    if (const auto* decimal = std::get_if<double>(&arg)) return *decimal;
    if (const auto* text = std::get_if<std::string>(&arg)) return *text;
    return {};
  }

  void check_type(const InstructionKind& kind, const ParamSpec& param, Arg& arg, Position at) const {
    if (param.type == ParamType::Doubles) {
      if (auto* list = std::get_if<ArgList>(&arg)) {
        for (Arg& item : *list) {
          if (const auto* whole = std::get_if<int64_t>(&item)) item = static_cast<double>(*whole);
        }
      }
    }
    if (!fits(typical(arg), param.type)) {
      fail(at, fmt::format("'{}' of {} must be {}", param.name, kind.name(), describe(param.type)));
    }
  }

  std::vector<Arg> arguments(const InstructionKind& kind) {
    const std::vector<ParamSpec>& params = kind.params();
    std::vector<std::optional<Arg>> given(params.size());
    const Position open = here_;
    expect('(', fmt::format("after '{}'", kind.name()));
    ++depth_;
    size_t next = 0;
    bool named = false;
    if (!take(')')) {
      do {
        skip_blank(true);
        const Position at = here_;
        size_t index = next++;
        if (is_keyword()) {
          named = true;
          index = parameter(kind, name("a parameter"), at);
          expect('=', "after the parameter");
        } else if (named) {
          fail(at, "a positional argument follows a named one", "give its name, too");
        } else if (index >= params.size()) {
          fail(at, fmt::format("{} takes {} argument{}", kind.name(), params.size(),
                               params.size() == 1 ? "" : "s"));
        }
        if (given[index].has_value()) fail(at, fmt::format("'{}' is given twice", params[index].name));
        skip_blank(true);
        const Position value_at = here_;
        given[index] = argument(0);
        check_type(kind, params[index], *given[index], value_at);
      } while (take(','));
      expect(')', "at the end of the arguments");
    }
    --depth_;

    std::vector<Arg> args;
    for (size_t i = 0; i < params.size(); ++i) {
      if (!given[i].has_value() && !params[i].fallback.has_value()) {
        fail(open, fmt::format("{} needs '{}', {}", kind.name(), params[i].name, describe(params[i].type)));
      }
      if (given[i].has_value()) {
        args.push_back(std::move(*given[i]));
      } else {
        args.push_back(*params[i].fallback);
      }
    }
    return args;
  }

  size_t parameter(const InstructionKind& kind, const std::string& wanted, Position at) const {
    const std::vector<ParamSpec>& params = kind.params();
    std::vector<std::string> known;
    for (size_t i = 0; i < params.size(); ++i) {
      if (params[i].name == wanted) return i;
      known.push_back(params[i].name);
    }
    fail(at, fmt::format("{} has no parameter '{}'", kind.name(), wanted),
         known.empty() ? "" : suggest(wanted, known));
  }

  Decision decision() {
    skip_blank(false);
    if (peek() != '[') return {integer("a decision: an integer or a list of integers")};
    advance();
    ++depth_;
    Decision values;
    if (!take(']')) {
      const Position at = here_;
      do {
        refuse_long(values.size(), at);
        values.push_back(integer("an integer"));
      } while (take(','));
      expect(']', "at the end of the decision");
    }
    --depth_;
    return values;
  }

  void check_outputs(const InstructionKind& kind, size_t count, Position at) const {
    const ResultType type = kind.result();
    const bool single = type == ResultType::Block || type == ResultType::Loop || type == ResultType::Int;
    if (type == ResultType::None && count > 0) fail(at, fmt::format("{} has no result", kind.name()));
    if (single && count != 1) fail(at, fmt::format("{} has one result, not {}", kind.name(), count));
  }

  std::shared_ptr<const Instruction> parse_instruction() {
    const Position begin = here_;
    std::vector<std::pair<std::string, Position>> names;
    do {
      skip_blank(false);
      const Position at = here_;
      names.emplace_back(name("an instruction or a variable"), at);
    } while (take(','));
    if (take('=')) {
      skip_blank(false);
      const Position at = here_;
      names.emplace_back(name("an instruction"), at);
    } else if (names.size() > 1) {
      fail(here_, fmt::format("expected '=' after the variables, found {}", what_is_here()));
    }
    const auto [kind_name, kind_at] = names.back();
    names.pop_back();
    if (kind_name == kFinishingMarker && std::exchange(finishing_, true))
      fail(kind_at, fmt::format("'{}' occurs twice", kFinishingMarker));

    const InstructionKind* kind = InstructionRegistry::global().find(kind_name);
    if (kind == nullptr) {
      fail(kind_at, fmt::format("unknown instruction '{}'", kind_name),
           suggest(kind_name, InstructionRegistry::global().names()));
    }
    auto instruction = std::make_shared<Instruction>();
    instruction->kind = kind;
    instruction->args = arguments(*kind);
    instruction->counts_buffers = version_ == 1 && names_access(*kind);
    skip_blank(false);
    const Position decision_at = here_;
    if (take('@')) {
      if (kind->sort() != InstructionSort::Sampling) {
        fail(decision_at, fmt::format("{} has no decision", kind->name()),
             "only sampling instructions have '@'");
      }
      instruction->decision = decision();
    }
    check_outputs(*kind, names.size(), begin);
    for (const auto& [variable, at] : names)
      instruction->outputs.push_back(define(variable, kind->result(), at));
    return instruction;
  }

  TraceVar define(const std::string& word, ResultType type, Position at) {
    if (word == "None" || word == "root" || word == "True" || word == "False") {
      fail(at, fmt::format("'{}' cannot be a variable", word));
    }
    const auto index = static_cast<uint32_t>(types_.size());
    const auto [found, fresh] = variables_.emplace(word, Variable{index, type, at.line});
    if (!fresh) fail(at, fmt::format("'{}' is already defined in line {}", word, found->second.line));
    types_.push_back(type);
    return {index};
  }

  std::map<std::string, Variable> variables_;
  std::vector<ResultType> types_;  // of the variables, by index
  bool finishing_ = false;         // the marker has been read
  int64_t version_ = kTraceVersion;
};

}  // namespace

Trace Trace::parse(std::string_view text, const std::string& file, std::vector<SourceLocation>* places) {
  if (text.size() > kLongestText)
    throw UserError(SourceLocation{file, 1, 1}, fmt::format("a trace larger than {} bytes", kLongestText));
  return TraceParser(text, file).parse(places);
}

}  // namespace tunesmith

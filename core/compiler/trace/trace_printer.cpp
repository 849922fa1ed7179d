#include "trace/trace_printer.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/text_scanner.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

char letter(ResultType type) {
  switch (type) {
    case ResultType::Block:
    case ResultType::Blocks:
      return 'b';
    case ResultType::Loop:
    case ResultType::Loops:
      return 'l';
    default:
      return 'v';
  }
}

/// The shortest text that reads back as the same number and does not look like an integer.
std::string decimal(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

void TracePrinter::write(std::string& out, const Arg& arg, ParamType type) const {
  switch (arg.index()) {
    case 0:
      out += type == ParamType::BlockOrRootOrLoop ? "root" : "None";
      return;
    case 1:
      out += name(std::get<TraceVar>(arg));
      return;
    case 2:
      out += std::get<bool>(arg) ? "True" : "False";
      return;
    case 3:
      fmt::format_to(std::back_inserter(out), "{}", std::get<int64_t>(arg));
      return;
    case 4:
      out += decimal(std::get<double>(arg));
      return;
    case 5:
      out += quoted_text(std::get<std::string>(arg));
      return;
    default:
      break;
  }
  out += '[';
  std::string_view separator;
  for (const Arg& item : std::get<ArgList>(arg)) {
    out += separator;
    write(out, item, type);
    separator = ", ";
  }
  out += ']';
}

const std::string& TracePrinter::name(TraceVar var) const {
  check_invariant(var.index < names_.size(), "a trace defines a variable before it uses it");
  return names_[var.index];
}

std::string TracePrinter::line(const Instruction& instruction, const std::vector<std::string>& outputs) {
  const InstructionKind& kind = *instruction.kind;
  std::string out;
  for (size_t i = 0; i < instruction.outputs.size(); ++i) {
    const uint32_t index = instruction.outputs[i].index;
    names_.resize(std::max<size_t>(names_.size(), index + 1));
    names_[index] = outputs.empty() ? fmt::format("{}{}", letter(kind.result()), index) : outputs[i];
    if (!out.empty()) out += ", ";
    out += names_[index];
  }
  if (!out.empty()) out += " = ";
  out += kind.name();
  out += '(';
  std::string_view separator;
  bool by_name = false;  // after an argument left out, the rest must be named
  for (size_t i = 0; i < instruction.args.size(); ++i) {
    const ParamSpec& param = kind.params()[i];
    if (param.fallback.has_value() && *param.fallback == instruction.args[i]) {
      by_name = true;
      continue;
    }
    out += separator;
    separator = ", ";
    if (param.keyword || by_name) {
      by_name = true;
      out += param.name;
      out += '=';
    }
    write(out, instruction.args[i], param.type);
  }
  out += ')';
  if (instruction.decision.has_value()) {
    out += " @ ";
    if (kind.result() == ResultType::Ints || instruction.decision->size() != 1) {
      fmt::format_to(std::back_inserter(out), "[{}]", fmt::join(*instruction.decision, ", "));
    } else {
      fmt::format_to(std::back_inserter(out), "{}", instruction.decision->front());
    }
  }
  return out;
}

std::string Trace::str() const {
  const bool first = std::any_of(instructions_.begin(), instructions_.end(),
                                 [](const auto& instruction) { return instruction->counts_buffers; });
  std::string text = fmt::format("# tunesmith trace {}\n", first ? 1 : kTraceVersion);
  TracePrinter printer;
  for (const auto& instruction : instructions_) {
    text += printer.line(*instruction);
    text += '\n';
  }
  return text;
}

}  // namespace tunesmith

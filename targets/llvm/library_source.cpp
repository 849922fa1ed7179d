#include "library_source.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "library_texts.h"
#include "tunesmith/runtime/c_texts.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith::llvm_target {

bool is_reserved(const std::string& word) {
  static const std::set<std::string, std::less<>> words = {
      "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
      "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
      "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
      "volatile", "while", "main",
      // Reserved in C++, which may include the header, and in GNU C.
      "and", "asm", "bool", "catch", "class", "delete", "explicit", "export", "false", "friend", "linux",
      "mutable", "namespace", "new", "not", "operator", "or", "private", "protected", "public", "template",
      "this", "throw", "true", "try", "typeid", "typename", "typeof", "unix", "using", "virtual", "xor"};
  return words.contains(word);
}

namespace {

struct Argument {
  Buffer buffer;
  std::string name;
  bool output = false;
};

std::vector<Argument> arguments_of(const Program& program) {
  std::vector<Argument> result;
  for (const Buffer& buffer : program.inputs) result.push_back({buffer, buffer->name, false});
  for (const Buffer& buffer : program.outputs) result.push_back({buffer, buffer->name, true});
  for (Argument& argument : result) {
    std::ranges::replace_if(
        argument.name, [](char c) { return c != '_' && std::isalnum(static_cast<unsigned char>(c)) == 0; },
        '_');
    if (is_reserved(argument.name)) argument.name += '_';
  }
  return result;
}

/// `prepared`: the last parameter, or "".
std::string parameters(const std::vector<Argument>& arguments, const char* prepared) {
  std::vector<std::string> list;
  for (const Argument& argument : arguments) {
    list.push_back(fmt::format("{}DLTensor* {}", argument.output ? "" : "const ", argument.name));
  }
  if (*prepared != '\0') list.emplace_back(prepared);
  return fmt::format("{}", fmt::join(list, ", "));
}

std::vector<Argument> prepared_from(const LibraryRequest& request) {
  const std::vector<Argument> all = arguments_of(*request.program);
  std::vector<Argument> taken;
  for (const size_t position : request.kernel->prepare->reads) taken.push_back(all[position]);
  return taken;
}

constexpr const char* kPrepared = "const void* tunesmith_prepared";
constexpr const char* kPreparedByPrepare = "void* tunesmith_prepared";

constexpr const char* kExtents = "tunesmith_extents";

/// An extent over parameters in C; `name` returns a parameter's name.
template <typename Name>
std::string extent_text(const Expr& extent, const Name& name) {
  if (const auto* number = extent.as<IntImm>()) return std::to_string(number->value);
  if (const auto* var = extent.as<VarNode>()) return name(var);
  const char* op = extent.is(ExprKind::Add)        ? "+"
                   : extent.is(ExprKind::Sub)      ? "-"
                   : extent.is(ExprKind::Mul)      ? "*"
                   : extent.is(ExprKind::FloorDiv) ? "/"
                                                   : nullptr;
  if (op == nullptr)
    throw UserError("a library cannot check an extent that varies",
                    "supported are sums, products and quotients of parameters and numbers");
  return fmt::format("({} {} {})", extent_text(extent.arg(0), name), op, extent_text(extent.arg(1), name));
}

/// Its extents, or "1" if it has none.
template <typename Name>
std::string shape_text(const BufferNode& buffer, const Name& name) {
  std::vector<std::string> extents;
  for (size_t d = 0; d < buffer.shape.size(); ++d) {
    const bool varies = !buffer.extents.empty() && buffer.extents[d];
    extents.push_back(varies ? extent_text(buffer.extents[d], name) : std::to_string(buffer.shape[d]));
  }
  return extents.empty() ? "1" : fmt::format("{}", fmt::join(extents, ", "));
}

/// Names the parameters as elements of the extents that the entry function has read.
auto extent_names(const std::vector<ExtentParameter>& parameters) {
  return [&parameters](const VarNode* var) {
    const auto is = [&](const ExtentParameter& one) { return one.var.get() == var; };
    return fmt::format("{}[{}]", kExtents, std::ranges::find_if(parameters, is) - parameters.begin());
  };
}

/// Reads each parameter from the argument whose extent it is, and checks its range.
std::string read_extents(const LibraryRequest& request, const std::vector<Argument>& arguments) {
  const std::vector<ExtentParameter>& parameters = request.program->parameters;
  if (parameters.empty()) return "";
  std::string text = fmt::format("  int64_t {}[{}];\n", kExtents, parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const VarNode& var = *parameters[i].var.get();
    std::string found;
    for (size_t a = 0; a < arguments.size() && found.empty(); ++a) {
      const BufferNode& buffer = *arguments[a].buffer;
      for (size_t d = 0; d < buffer.extents.size() && found.empty(); ++d) {
        if (!buffer.extents[d] || buffer.extents[d].get() != &var) continue;
        found = fmt::format(
            "  {0}[{1}] = {2} != NULL && {2}->ndim == {3} && {2}->shape != NULL ? {2}->shape[{4}] : {5};\n"
            "  if ({0}[{1}] < {5} || {0}[{1}] > {6}) return {7}_WRONG_SHAPE + 256 * {8};\n",
            kExtents, i, arguments[a].name, buffer.shape.size(), d, var.lowest, var.highest, request.name, a);
      }
    }
    if (found.empty())
      throw UserError(fmt::format("'{}' is not an extent of an input or output", var.name),
                      "a library reads varying extents from the shapes of its arguments");
    text += found;
  }
  return text;
}

/// Checks one argument and puts it at `place` among the buffers; `position` is the argument's, for the error
/// code.
std::string check_of(const Argument& argument, size_t place, size_t position, bool may_be_null,
                     const std::vector<ExtentParameter>& varying) {
  const BufferNode& buffer = *argument.buffer;
  const std::string check = fmt::format(
      "  {7}const int64_t tunesmith_shape{0}[] = {{{1}}};\n"
      "  tunesmith_wrong = tunesmith_check({2}, {3}, tunesmith_shape{0}, {4}, {5}, "
      "&tunesmith_buffers[{6}]);\n"
      "  if (tunesmith_wrong != 0) return tunesmith_wrong + 256 * {0};\n",
      position, shape_text(buffer, extent_names(varying)), argument.name, buffer.shape.size(),
      dlpack_code(buffer.dtype), buffer.dtype.is_bool() ? 8 : buffer.dtype.bits, place,
      buffer.extents.empty() ? "static " : "");
  if (!may_be_null) return check;
  return fmt::format("  tunesmith_buffers[{}] = NULL;\n  if ({} != NULL) {{\n{}  }}\n", place, argument.name,
                     check);
}

/// The same for prepared memory.
std::string check_of_prepared(size_t place, size_t position) {
  return fmt::format(
      "  tunesmith_wrong = check_prepared(tunesmith_prepared);\n"
      "  if (tunesmith_wrong != 0) return tunesmith_wrong + 256 * {};\n"
      "  tunesmith_buffers[{}] = (void*)tunesmith_prepared;\n",
      position, place);
}

std::string prepare_header(const LibraryRequest& request) {
  const std::vector<Argument> taken = prepared_from(request);
  const std::vector<Argument> all = arguments_of(*request.program);
  std::vector<std::string> names;
  for (const Argument& argument : taken) names.push_back(argument.name);
  std::vector<std::string> unread;
  for (const size_t position : request.kernel->prepare->unread) unread.push_back(all[position].name);
  std::string note;
  if (!unread.empty()) {
    note = fmt::format("\n   After that {} may be freed, and {} takes a null pointer for {}.",
                       fmt::join(unread, ", "), request.name, unread.size() == 1 ? "it" : "them");
  }
  std::string text = replace_all(kPrepareHeader, "@UNREAD@", note);
  text = replace_all(std::move(text), "@TAKEN@", fmt::format("{}", fmt::join(names, ", ")));
  return replace_all(std::move(text), "@PREPARE_PARAMETERS@", parameters(taken, kPreparedByPrepare));
}

/// The C text of a prepare step: the part before the checks, and the function itself.
struct PrepareSource {
  std::string raw;
  std::string function;
};

PrepareSource prepare_source(const LibraryRequest& request) {
  if (!request.kernel->prepare) return {};
  const PrepareStep& step = *request.kernel->prepare;
  const std::vector<Argument> taken = prepared_from(request);
  const size_t last = request.program->inputs.size() + request.program->outputs.size();
  std::string checks;
  for (size_t i = 0; i < taken.size(); ++i) checks += check_of(taken[i], step.reads[i], i, false, {});
  checks += check_of_prepared(last, taken.size());
  PrepareSource source;
  source.raw = replace_all(kPrepareSource, "@PREPARE_KERNEL@", step.symbol);
  source.raw = replace_all(std::move(source.raw), "@PREPARED_BYTES@", std::to_string(step.bytes));
  source.raw = replace_all(std::move(source.raw), "@PREPARED_BY@",
                           fmt::format("0x{}ull", hex64(hash_bytes(request.kernel->object))));
  source.function = replace_all(kPrepareFunction, "@PREPARE_CHECKS@", checks);
  source.function =
      replace_all(std::move(source.function), "@PREPARE_PARAMETERS@", parameters(taken, kPreparedByPrepare));
  return source;
}

/// The description of a failed set-up in the header's list of errors.
std::string setup_failed(const LibraryRequest& request) {
  if (!request.kernel->setup) return {};
  return replace_all(kSetupFailed, "@PARTS@",
                     c_comment(fmt::format("{}", fmt::join(request.kernel->setup->parts, ", "))));
}

/// `text` with the calls of the kernel's set-up.
std::string with_setup(std::string text, const std::optional<SetupStep>& setup) {
  text = replace_all(std::move(text), "@SETUP@", setup ? std::string(kSetupDeclarations) + kSetUpText : "");
  text = replace_all(std::move(text), "@SETUP_CALLS@", "@SETUP_SYMBOL@() == 0");
  text = replace_all(std::move(text), "@SET_UP@", setup ? kSetUpFirst : "");
  text = replace_all(std::move(text), "@SETUP_FAULT@", setup ? kSetupFault : "");
  text = replace_all(std::move(text), "@SETUP_SYMBOL@", setup ? setup->symbol : "");
  return replace_all(std::move(text), "@FAULT_SYMBOL@", setup ? setup->fault : "");
}

/// Statements of a function that returns 0 if the processor lacks a feature.
std::string processor_checks(const std::vector<std::string>& features) {
  std::string text;
  for (const std::string& feature : features)
    text += fmt::format("  if (!__builtin_cpu_supports(\"{}\")) return 0;\n", feature);
  return text;
}

std::string extents_header(const Program& program) {
  std::string text;
  for (const auto& [var, typical] : program.parameters)
    text += fmt::format("{}{}: {} to {}", text.empty() ? "" : ", ", var->name, var->lowest, var->highest);
  if (text.empty()) return text;
  return fmt::format(
      "\n\n   {}. The values of a call are found in the shapes of its arguments. Others are "
      "@NAME@_WRONG_SHAPE.",
      text);
}

std::string last_pointers(const LibraryRequest& request) {
  std::string text = request.kernel->prepare ? ", prepared memory last" : "";
  std::vector<std::string> names;
  for (const auto& [var, typical] : request.program->parameters) names.push_back(var->name);
  if (!names.empty())
    text += fmt::format(", then one to {} as int64_t, which must be in range", fmt::join(names, ", "));
  return text;
}

}  // namespace

std::string library_header(const LibraryRequest& request) {
  const std::vector<Argument> arguments = arguments_of(*request.program);
  std::string lines;
  for (const Argument& argument : arguments) {
    lines += fmt::format("\n   {} {}: {} [{}]", argument.output ? "output" : "input", argument.name,
                         argument.buffer->dtype.str(),
                         argument.buffer->shape.empty()
                             ? ""
                             : shape_text(*argument.buffer, [](const VarNode* var) { return var->name; }));
  }
  const std::optional<PrepareStep>& prepare = request.kernel->prepare;
  if (prepare) lines += "\n   tunesmith_prepared: what " + request.name + "_prepare has filled";
  std::string text = replace_all(kHeader, "@DLPACK@", kTensorTypesText);
  text = replace_all(std::move(text), "@PREPARE@", prepare ? prepare_header(request) : "");
  text = replace_all(std::move(text), "@NOT_PREPARED@", prepare ? kNotPrepared : "");
  text = replace_all(std::move(text), "@SETUP_FAILED@", setup_failed(request));
  text = replace_all(std::move(text), "@EXTENTS@", extents_header(*request.program));
  text = replace_all(std::move(text), "@NAME@", request.name);
  text = replace_all(std::move(text), "@ARGUMENTS@", lines);
  text = replace_all(std::move(text), "@PARAMETERS@", parameters(arguments, prepare ? kPrepared : ""));
  text = replace_all(std::move(text), "@LAST_POINTER@", last_pointers(request));
  return replace_all(std::move(text), "@PROVENANCE@", c_comment(request.provenance));
}

std::string library_source(const LibraryRequest& request, const std::vector<std::string>& features) {
  const std::vector<Argument> arguments = arguments_of(*request.program);
  const std::optional<PrepareStep>& prepare = request.kernel->prepare;
  const std::vector<ExtentParameter>& varying = request.program->parameters;
  std::string checks = read_extents(request, arguments);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool unread = prepare && std::ranges::find(prepare->unread, i) != prepare->unread.end();
    checks += check_of(arguments[i], i, i, unread, varying);
  }
  if (prepare) {
    checks += check_of_prepared(arguments.size(), arguments.size());
    checks += fmt::format(
        "  if (*(const uint64_t*)((const char*)tunesmith_prepared + kPreparedBytes) != kPreparedBy)\n"
        "    return {}_NOT_PREPARED + 256 * {};\n",
        request.name, arguments.size());
  }
  const size_t pointers = arguments.size() + (prepare ? 1 : 0);
  if (!varying.empty()) checks += fmt::format("  tunesmith_buffers[{}] = {};\n", pointers, kExtents);
  const PrepareSource preparing = prepare_source(request);
  std::string text = replace_all(kSource, "@PREPARE@", preparing.raw) + preparing.function;
  text = replace_all(std::move(text), "@THREADS@", kThreadsText);
  text = replace_all(std::move(text), "@CHECK_FUNCTION@", kCheckText);
  text = with_setup(std::move(text), request.kernel->setup);
  text = replace_all(std::move(text), "@NAME@", request.name);
  text = replace_all(std::move(text), "@KERNEL@", request.kernel->symbol);
  text = replace_all(std::move(text), "@WORKSPACE@", std::to_string(request.kernel->workspace_bytes));
  text = replace_all(std::move(text), "@PROCESSOR@", processor_checks(features));
  text = replace_all(std::move(text), "@POINTERS@",
                     varying.empty() ? "@COUNT@ + 1" : std::to_string(pointers + 1));
  text = replace_all(std::move(text), "@COUNT@", std::to_string(arguments.size()));
  text = replace_all(std::move(text), "@CHECKS@", checks);
  return replace_all(std::move(text), "@PARAMETERS@", parameters(arguments, prepare ? kPrepared : ""));
}

std::string version_script(std::span<const std::string> exported) {
  return fmt::format("{{ global: {}; local: *; }};\n", fmt::join(exported, "; "));
}

std::vector<std::string> library_functions(const LibraryRequest& request) {
  std::vector<std::string> suffixes = {"", "_raw", "_workspace_bytes", "_set_parallel_for"};
  if (request.kernel->prepare)
    suffixes.insert(suffixes.end(), {"_prepare", "_prepare_raw", "_prepared_bytes"});
  for (std::string& name : suffixes) name.insert(0, request.name);
  return suffixes;
}

std::string runs_here_source(const std::vector<std::string>& features) {
  return fmt::format("int tunesmith_runs_here(void) {{\n{}  return 1;\n}}\n", processor_checks(features));
}

}  // namespace tunesmith::llvm_target

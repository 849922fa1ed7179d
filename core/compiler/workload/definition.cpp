#include "tunesmith/workload/definition.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "workload/names.h"
#include "workload/parser.h"

namespace tunesmith::workload {

namespace {

Place place_of(const SourceLocation& location) { return {location.line, location.column}; }

class Reader {
 public:
  explicit Reader(const YamlNode& root) : root_(root) {}

  Definition run() {
    expect_kind(root_, YamlNode::Kind::Map, "a workload");
    refuse_unknown_keys(root_,
                        {"name", "description", "operator", "params", "let", "require", "inputs", "compute",
                         "outputs", "strides"},
                        "a workload");
    made_.file = root_.location.file;
    const YamlNode& name = scalar(required("name"), "'name'");
    if (!is_identifier(name.text)) {
      throw UserError(name.location, fmt::format("'{}' is not a name", name.text),
                      "expected letters, digits and '_', beginning with a letter");
    }
    made_.name = name.text;
    if (const YamlNode* description = root_.find("description")) {
      made_.description = scalar(*description, "'description'").text;
    }
    if (const YamlNode* op = root_.find("operator")) made_.op = scalar(*op, "'operator'").text;
    made_.params = named_values("params", "a parameter");
    made_.lets = named_values("let", "a 'let'");
    requirements();
    inputs();
    made_.statements = parse_statements(scalar(required("compute"), "'compute'"));
    for (const StatementSyntax& statement : made_.statements) declare_target(statement);
    outputs();
    strides();
    return std::move(made_);
  }

 private:
  static void expect_kind(const YamlNode& node, YamlNode::Kind kind, std::string_view what) {
    if (node.kind == kind) return;
    throw UserError(node.location, fmt::format("{} is {}", what, yaml_kind_name(node.kind)),
                    fmt::format("expected {}", yaml_kind_name(kind)));
  }
  static const YamlNode& scalar(const YamlNode& node, std::string_view what) {
    expect_kind(node, YamlNode::Kind::Scalar, what);
    return node;  // NOLINT(bugprone-return-const-ref-from-parameter): a part of root_
  }
  const YamlNode& required(std::string_view key) const {
    const YamlNode* node = root_.find(key);
    if (!node) throw UserError(root_.location, fmt::format("a workload needs the key '{}'", key));
    return *node;
  }

  /// Requires that every name of a workload has one meaning.
  void declare(const std::string& name, const SourceLocation& location, const std::string& what) {
    if (!is_identifier(name)) {
      throw UserError(location, fmt::format("'{}' is not a name", name),
                      "expected letters, digits and '_', beginning with a letter");
    }
    if (is_reserved(name))
      throw UserError(location, fmt::format("'{}' is a keyword", name), "choose another name");
    const auto [entry, fresh] = declared_.try_emplace(name, what + fmt::format(" in line {}", location.line));
    if (!fresh) {
      throw UserError(location, fmt::format("'{}' is already {}", name, entry->second),
                      "choose another name");
    }
  }

  void declare_target(const StatementSyntax& statement) {
    const SourceLocation location{made_.file, statement.place.line, statement.place.column};
    const auto earlier = declared_.find(statement.target);
    if (earlier != declared_.end() && earlier->second.starts_with("computed")) {
      throw UserError(location, fmt::format("'{}' is already {}", statement.target, earlier->second),
                      "a buffer is computed by one statement");
    }
    declare(statement.target, location, "computed");
  }

  std::vector<NamedValue> named_values(std::string_view key, const std::string& what) {
    std::vector<NamedValue> values;
    const YamlNode* node = root_.find(key);
    if (!node || node->kind == YamlNode::Kind::Null) return values;
    expect_kind(*node, YamlNode::Kind::Map, fmt::format("'{}'", key));
    for (const YamlEntry& entry : node->entries) {
      declare(entry.key, entry.location, what);
      values.push_back({entry.key, place_of(entry.location),
                        parse_expression(scalar(entry.value, fmt::format("'{}'", entry.key)))});
    }
    return values;
  }

  void requirements() {
    const YamlNode* node = root_.find("require");
    if (!node) return;
    expect_kind(*node, YamlNode::Kind::Sequence, "'require'");
    for (const YamlNode& item : node->items) {
      made_.requirements.push_back(
          {scalar(item, "a requirement").text, place_of(item.location), parse_expression(item)});
    }
  }

  void inputs() {
    const YamlNode* node = root_.find("inputs");
    if (!node || node->kind == YamlNode::Kind::Null) return;
    expect_kind(*node, YamlNode::Kind::Map, "'inputs'");
    for (const YamlEntry& entry : node->entries) {
      declare(entry.key, entry.location, "an input");
      expect_kind(entry.value, YamlNode::Kind::Map, fmt::format("input '{}'", entry.key));
      refuse_unknown_keys(entry.value, {"shape", "dtype", "constant"}, "an input");
      InputSyntax input;
      input.name = entry.key;
      input.place = place_of(entry.location);
      const YamlNode* shape = entry.value.find("shape");
      const YamlNode* dtype = entry.value.find("dtype");
      if (!shape)
        throw UserError(entry.location, fmt::format("input '{}' needs a 'shape'", entry.key),
                        "expected shape: [n, m]");
      if (!dtype)
        throw UserError(entry.location, fmt::format("input '{}' needs a 'dtype'", entry.key),
                        "expected dtype: f32");
      expect_kind(*shape, YamlNode::Kind::Sequence, "'shape'");
      input.shape_place = place_of(shape->location);
      for (const YamlNode& extent : shape->items)
        input.shape.push_back(parse_expression(scalar(extent, "an extent")));
      input.dtype = parse_expression(scalar(*dtype, "'dtype'"));
      if (const YamlNode* constant = entry.value.find("constant")) {
        input.constant = parse_expression(scalar(*constant, "'constant'"));
      }
      made_.inputs.push_back(std::move(input));
    }
  }

  void outputs() {
    const YamlNode& node = required("outputs");
    expect_kind(node, YamlNode::Kind::Sequence, "'outputs'");
    if (node.items.empty())
      throw UserError(node.location, "'outputs' is empty", "expected the name of a computed buffer");
    std::vector<std::string> computed;
    for (const StatementSyntax& statement : made_.statements) computed.push_back(statement.target);
    for (const YamlNode& item : node.items) {
      const std::string& name = scalar(item, "an output").text;
      if (std::find(computed.begin(), computed.end(), name) == computed.end()) {
        const auto known = declared_.find(name);
        const std::string state =
            known == declared_.end() ? "never computed" : known->second + ", not computed";
        throw UserError(item.location, fmt::format("output '{}' is {}", name, state),
                        suggest(name, computed));
      }
      const bool twice = std::any_of(made_.outputs.begin(), made_.outputs.end(),
                                     [&](const OutputSyntax& output) { return output.name == name; });
      if (twice) throw UserError(item.location, fmt::format("output '{}' is listed twice", name));
      made_.outputs.push_back({name, place_of(item.location)});
    }
  }

  void strides() {
    const YamlNode* node = root_.find("strides");
    if (!node) return;
    expect_kind(*node, YamlNode::Kind::Map, "'strides'");
    std::vector<std::string> arguments;
    for (const InputSyntax& input : made_.inputs) arguments.push_back(input.name);
    for (const OutputSyntax& output : made_.outputs) arguments.push_back(output.name);
    for (const YamlEntry& entry : node->entries) {
      if (std::ranges::find(arguments, entry.key) == arguments.end()) {
        throw UserError(entry.location, fmt::format("'{}' is neither an input nor an output", entry.key),
                        suggest(entry.key, arguments));
      }
      expect_kind(entry.value, YamlNode::Kind::Sequence, fmt::format("the strides of '{}'", entry.key));
      StridesSyntax& made = made_.strides[entry.key];
      made.place = place_of(entry.location);
      for (const YamlNode& stride : entry.value.items)
        made.strides.push_back(parse_expression(scalar(stride, "a stride")));
    }
  }

  const YamlNode& root_;
  Definition made_;
  std::map<std::string, std::string> declared_;  // name -> what it is and where
};

}  // namespace

Definition read_definition(const YamlNode& root) { return Reader(root).run(); }

}  // namespace tunesmith::workload

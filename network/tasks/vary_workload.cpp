#include "tasks/vary_workload.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/lower/lower.h"
#include "tunesmith/workload/definition.h"

namespace tunesmith::network {
namespace {

using workload::Syntax;

/// A workload whose integers can be exchanged.
class Pattern {
 public:
  Pattern(const std::string& text, const std::string& title)
      : definition_(workload::read_definition(parse_yaml(text, title))) {
    for (const bool constant : {true, false}) {
      if (!constant) in_constants_ = found_.size();
      for (const workload::InputSyntax& input : definition_.inputs)
        if ((input.constant != nullptr) == constant) find(input.shape);
    }
    for (const workload::StatementSyntax& statement : definition_.statements) {
      find(statement.axes);
      find(*statement.value);
    }
    for (const auto& [array, syntax] : definition_.strides) find(syntax.strides);
    for (const Syntax* each : found_) integers_.push_back(each->integer);
    skeleton_ = with(std::vector<std::string>(found_.size(), "#"));
  }

  const std::vector<int64_t>& integers() const { return integers_; }
  bool is_like(const Pattern& other) const { return skeleton_ == other.skeleton_; }

  /// Gives constants the shapes of `longest`: this workload reads prefixes of these constants.
  void take_constants(const Pattern& longest) {
    if (in_constants_ == longest.in_constants_)
      std::copy_n(longest.integers_.begin(), in_constants_, integers_.begin());
  }
  void declare(const std::string& parameter, int64_t value) {
    definition_.params.push_back({parameter, {}, std::move(workload::integer_leaves({&value, 1}).front())});
  }
  /// The text with `integers` instead of its own.
  template <typename Integer>
  std::string with(const std::vector<Integer>& integers) {
    for (size_t i = 0; i < found_.size(); ++i) found_[i]->name = fmt::format("{}", integers[i]);
    return workload::to_text(definition_);
  }

 private:
  void find(Syntax& syntax) {
    if (syntax.kind == workload::SyntaxKind::Integer) found_.push_back(&syntax);
    find(syntax.axes);
    find(syntax.args);
  }
  void find(const std::vector<workload::SyntaxPtr>& all) {
    for (const workload::SyntaxPtr& each : all) find(*each);
  }
  void find(const std::vector<workload::AxisSyntax>& axes) {
    for (const workload::AxisSyntax& axis : axes)
      if (axis.extent) find(*axis.extent);
  }

  workload::Definition definition_;
  std::vector<Syntax*> found_;
  size_t in_constants_ = 0;  // those in shapes of constants, which come first
  std::vector<int64_t> integers_;
  std::string skeleton_;
};

/// The integers of the patterns as forms that give them at the finder's values.
std::vector<ExtentForm> forms_of(const std::vector<Pattern>& patterns, const std::vector<size_t>& alike,
                                 const FormFinder& finder) {
  std::vector<std::vector<int64_t>> values;
  for (const size_t i : alike) values.push_back(finder.values()[i]);
  const FormFinder of_alike(std::move(values));
  std::vector<ExtentForm> forms;
  for (size_t k = 0; k < patterns.front().integers().size(); ++k) {
    std::vector<int64_t> computed;
    for (const size_t i : alike) computed.push_back(patterns[i].integers()[k]);
    const auto form = of_alike.find(computed);
    if (!form)
      throw UserError(fmt::format("one of its numbers is not a linear function of the varying extents: {}",
                                  fmt::join(computed, ", ")));
    forms.push_back(*form);
  }
  return forms;
}

/// Do both do the same arithmetic on the same elements? They may differ where an extent is 1.
bool is_computed_alike(const Workload& a, const Workload& b) {
  return lowered_hash(lower(a.program, {})) == lowered_hash(lower(b.program, {}));
}

}  // namespace

Workload vary_workload(std::span<const std::string> texts, const FormFinder& finder,
                       std::span<const VaryingExtent> varying, const std::string& title) {
  std::vector<Pattern> patterns;
  std::vector<size_t> alike, others;
  for (size_t i = 0; i < texts.size(); ++i) {
    patterns.emplace_back(texts[i], title).take_constants(patterns.front());
    (patterns[i].is_like(patterns.front()) ? alike : others).push_back(i);
  }
  const auto refuse = [&](size_t i) {
    throw UserError(
        fmt::format("with {} it has another program", text_of_values(varying, finder.values()[i])));
  };
  if (!others.empty() && others.front() <= varying.size()) refuse(others.front());
  const std::vector<ExtentForm> forms = forms_of(patterns, alike, finder);
  std::vector<ParamText> given;
  std::vector<std::string> names, integers;
  for (const VaryingExtent& extent : varying) {
    names.push_back(extent.parameter);
    if (std::ranges::none_of(forms, &ExtentForm::varies)) continue;
    patterns.front().declare(extent.parameter, extent.range.highest);
    given.emplace_back(extent.parameter, WorkloadParam{extent.parameter, extent.range}.value_text());
  }
  for (const ExtentForm& form : forms) integers.push_back(form.text(names));
  Workload workload = WorkloadDefinition::parse(patterns.front().with(integers), title).instantiate(given);
  for (const size_t i : others) {
    const std::span<const int64_t> values = given.empty() ? std::span<const int64_t>() : finder.values()[i];
    const std::string text = patterns[i].with(patterns[i].integers());
    if (!is_computed_alike(at_values(workload, values), WorkloadDefinition::parse(text, title).instantiate()))
      refuse(i);
  }
  return workload;
}

}  // namespace tunesmith::network

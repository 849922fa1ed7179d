#include "tasks/vary_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/lower/lower.h"
#include "tunesmith/support/error.h"

namespace tunesmith::network {
namespace {

bool is_in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

/// Splits into names and numbers, and single other characters.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin + 1;
    while (is_in_word(text[begin]) && end < text.size() && is_in_word(text[end])) ++end;
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

std::optional<int64_t> integer_in(std::string_view word) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

using Words = std::vector<std::string_view>;

/// Do the texts differ in integers only?
bool are_alike(const Words& a, const Words& b) {
  return std::ranges::equal(a, b, [](std::string_view x, std::string_view y) {
    return x == y || (integer_in(x) && integer_in(y));
  });
}

/// Texts that differ in integers only, with their values.
struct Alike {
  std::vector<Words> words;
  std::vector<std::vector<int64_t>> values;
};

/// The common word, or the affine form that gives it in each text.
std::string common_word(const Alike& alike, size_t at, std::span<const std::string> names) {
  const std::string_view first = alike.words.front()[at];
  if (std::ranges::all_of(alike.words, [&](const Words& each) { return each[at] == first; }))
    return std::string(first);
  std::vector<int64_t> computed;
  for (const Words& each : alike.words) computed.push_back(*integer_in(each[at]));
  if (const auto form = FormFinder(alike.values).find(computed)) return form->text(names);
  throw UserError(fmt::format("one of its numbers is not a linear function of the varying extents: {}",
                              fmt::join(computed, ", ")));
}

/// Replaces the shapes of constants by those in `first`: a text reads prefixes of these constants.
std::string with_constants_of(const std::string& first, const std::string& text) {
  std::map<std::string_view, std::string_view> lines;  // by their beginning
  const auto each_line = [](std::string_view whole, const auto& visit) {
    for (size_t begin = 0; begin < whole.size();) {
      const size_t end = std::min(whole.find('\n', begin), whole.size() - 1) + 1;
      const std::string_view line = whole.substr(begin, end - begin);
      const bool constant = line.ends_with("constant: true}\n");
      visit(line, constant ? line.substr(0, line.find('{')) : std::string_view());
      begin = end;
    }
  };
  each_line(first, [&](std::string_view line, std::string_view name) {
    if (!name.empty()) lines[name] = line;
  });
  std::string made;
  each_line(text, [&](std::string_view line, std::string_view name) {
    const auto known = name.empty() ? lines.end() : lines.find(name);
    made += known == lines.end() ? line : known->second;
  });
  return made;
}

/// For texts that differ because an extent is 1: do they do the same arithmetic on the same elements?
bool is_computed_alike(const Workload& a, const Workload& b) {
  return lowered_hash(lower(a.program, {})) == lowered_hash(lower(b.program, {}));
}

}  // namespace

Workload vary_text(std::span<const std::string> given_texts, const FormFinder& finder,
                   std::span<const VaryingExtent> varying, const std::string& title) {
  std::vector<std::string> texts;
  for (const std::string& text : given_texts) texts.push_back(with_constants_of(given_texts.front(), text));
  Alike alike;
  std::vector<size_t> others;
  const Words first = words_of(texts.front());
  for (size_t i = 0; i < texts.size(); ++i) {
    Words words = words_of(texts[i]);
    if (are_alike(first, words)) {
      alike.words.push_back(std::move(words));
      alike.values.push_back(finder.values()[i]);
    } else {
      others.push_back(i);
    }
  }
  const auto refuse = [&](size_t i) {
    throw UserError(
        fmt::format("with {} it has another program", text_of_values(varying, finder.values()[i])));
  };
  if (!others.empty() && others.front() <= varying.size()) refuse(others.front());
  std::vector<std::string> names;
  for (const VaryingExtent& extent : varying) names.push_back(extent.parameter);
  std::string text;
  for (size_t i = 0; i < first.size(); ++i) text += common_word(alike, i, names);
  std::vector<ParamText> given;
  if (text != texts.front()) {
    std::string params = "params:\n";
    for (const VaryingExtent& extent : varying) {
      params += fmt::format("  {}: {}\n", extent.parameter, extent.range.highest);
      given.emplace_back(extent.parameter, WorkloadParam{extent.parameter, extent.range}.value_text());
    }
    text.insert(text.find('\n') + 1, params);
  }
  Workload workload = WorkloadDefinition::parse(text, title).instantiate(given);
  for (const size_t i : others) {
    const std::span<const int64_t> values = given.empty() ? std::span<const int64_t>() : finder.values()[i];
    if (!is_computed_alike(at_values(workload, values),
                           WorkloadDefinition::parse(texts[i], title).instantiate()))
      refuse(i);
  }
  return workload;
}

}  // namespace tunesmith::network

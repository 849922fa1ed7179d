#include "emulation/kernel_declarations.h"

#include <algorithm>
#include <bit>
#include <regex>

namespace tunesmith::cuda {
namespace {

/// The largest alignment of instructions' operands, and of the emulation.
constexpr size_t kMaxAlignment = 1024;

/// The alignment of a declaration without its name. An unknown type or macro may require any alignment.
size_t alignment_of(const std::string& declaration) {
  static const std::regex word(R"([A-Za-z_]\w*)"),
      known(
          "extern|__shared__|__align__|alignas|const|volatile|signed|unsigned|half_t|double|"
          "(u?char|u?short|u?int|u?long|u?longlong|float)[1-4]?|double[12]"),
      number(R"((?:__align__|alignas)\s*\(\s*(\d{1,4})\s*\))"), any("__align__|alignas");
  for (auto match = std::sregex_iterator(declaration.begin(), declaration.end(), word);
       match != std::sregex_iterator(); ++match)
    if (!std::regex_match(match->str(), known)) return kMaxAlignment;
  std::smatch match;
  if (!std::regex_search(declaration, match, number))
    return std::regex_search(declaration, any) ? kMaxAlignment : 0;
  const size_t alignment = std::stoul(match[1]);
  return std::has_single_bit(alignment) ? std::min(alignment, kMaxAlignment) : kMaxAlignment;
}

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The position of the parenthesis that closes the one at `open`, or the text's
/// end; `comma` receives the position of the first comma directly inside.
size_t closing(const std::string& text, size_t open, size_t* comma) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at;
    if (text[at] == ',' && depth == 1) *comma = std::min(*comma, at);
  }
  return text.size();
}

}  // namespace

DynamicShared dynamic_shared(const std::string& text) {
  static const std::regex declaration(R"(extern\s+__shared__[^;\[]*?(\w+)\s*\[\s*\])");
  DynamicShared found;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), declaration);
       match != std::sregex_iterator(); ++match) {
    found.names.insert((*match)[1]);
    const auto before_name = static_cast<size_t>(match->position(1) - match->position(0));
    found.alignment = std::max(found.alignment, alignment_of(match->str().substr(0, before_name)));
  }
  return found;
}

size_t kernels_in(const std::string& text) {
  const std::string mark = "__global__";
  size_t count = 0;
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + mark.size())) ++count;
  return count;
}

std::string max_threads(const std::string& text, const std::string& kernel) {
  static const std::string bounds = "__launch_bounds__";
  // A name may be redefined between its use and the end of the text.
  if (text.find("#undef") != std::string::npos) return "0";
  for (size_t at = text.find(bounds); at != std::string::npos; at = text.find(bounds, at + 1)) {
    const size_t open = text.find_first_not_of(" \t\r\n", at + bounds.size());
    if (open == std::string::npos || text[open] != '(') continue;
    size_t end = std::string::npos;
    const size_t close = closing(text, open, &end);
    end = std::min(end, close);
    // The next parenthesis opens the parameters, after the kernel's name.
    const size_t parameters = text.find('(', close);
    if (parameters == std::string::npos) continue;
    size_t name = parameters;
    while (name > close && text[name - 1] == ' ') --name;
    const size_t name_end = name;
    while (name > close && is_name_character(text[name - 1])) --name;
    if (text.compare(name, name_end - name, kernel) == 0) return text.substr(open + 1, end - open - 1);
  }
  return "0";
}

}  // namespace tunesmith::cuda

#include "mutation.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <sstream>

#include <fmt/format.h>

namespace tunesmith::testing {
namespace {

constexpr const char* kWitness =
    "template <class T> static inline T mutant_witness(T right, T wrong) {\n"
    "  if (right != wrong) __builtin_trap();\n  return right;\n}\n";

/// The place behind the bracket that closes the one at `open`.
size_t behind_bracket(const std::string& text, size_t open) {
  const char opening = text[open], closing = opening == '(' ? ')' : ']';
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == opening) ++depth;
    if (text[at] == closing && --depth == 0) return at + 1;
  }
  return std::string::npos;
}

std::string line_at(const std::string& text, size_t at) {
  const size_t begin = text.rfind('\n', at) == std::string::npos ? 0 : text.rfind('\n', at) + 1;
  std::string line = text.substr(begin, text.find('\n', at) - begin);
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

class Finder {
 public:
  explicit Finder(const std::string& text) : text_(text) {
    // Starts behind the helpers, which the emitter does not write.
    begin_ = text.find("__global__");
    if (begin_ == std::string::npos) begin_ = 0;
  }

  std::vector<Mutation> take() { return std::move(found_); }

  void statements(const char* kind, const std::regex& pattern) {
    size_t number = 0;
    each(pattern, [&](size_t at, const std::smatch& match) {
      Mutation mutation{kind, fmt::format("without {}", match.str()), replaced(at, match.length(), ""), "",
                        number++};
      found_.push_back(std::move(mutation));
    });
  }

  /// Lets waits leave one more group under way.
  void weaker_waits() {
    static const std::regex wait(R"(cp_async_wait<(\d+)>)");
    each(wait, [&](size_t at, const std::smatch& match) {
      const std::string weaker = fmt::format("cp_async_wait<{}>", std::stoi(match[1]) + 1);
      found_.push_back({"wait", fmt::format("{} in the place of {}", weaker, match.str()),
                        replaced(at, match.length(), weaker), "", 0});
    });
  }

  /// Lets counters of stages, `NAME_in_PERIOD`, begin with the next stage, or leave out the last.
  void stages() {
    static const std::regex first(R"(int (\w+_in_(\d+)) = (\d+);)");
    each(first, [&](size_t at, const std::smatch& match) {
      const std::string next = std::to_string((std::stoi(match[3]) + 1) % std::stoi(match[2]));
      stage(at + size_t(match.position(3) - match.position()), match[1], match[3], next, match.str());
    });
    static const std::regex last(R"((\w+_in_\d+) = \1 == (\d+) \?)");
    each(last, [&](size_t at, const std::smatch& match) {
      stage(at + size_t(match.position(2) - match.position()), match[1], match[2],
            std::to_string(std::stoi(match[2]) - 1), match.str());
    });
  }

  void predicates() {
    static const std::regex condition(R"(\bif \()");
    each(condition, [&](size_t at, const std::smatch& match) {
      const size_t open = at + size_t(match.length()) - 1, end = behind_bracket(text_, open);
      // producer_mutation.h changes arrivals at barriers in memory.
      if (end == std::string::npos || text_.compare(end, 13, " mbar_arrive(") == 0) return;
      const std::string right = text_.substr(open + 1, end - open - 2);
      if (is_of_sums(end)) return fewer(open + 1, right);
      expression("predicate", open + 1, right, "true");
      for (size_t less = right.find(" < "); less != std::string::npos; less = right.find(" < ", less + 1))
        expression("predicate", open + 1, right, std::string(right).replace(less, 3, " <= "));
    });
  }

  void subscripts() {
    static const std::regex access(R"((&?)\b([A-Za-z_]\w*)\[)");
    each(access, [&](size_t at, const std::smatch& match) {
      const size_t open = at + size_t(match.length()) - 1, end = behind_bracket(text_, open);
      if (end == std::string::npos || is_declaration(at)) return;
      const std::string index = text_.substr(open + 1, end - open - 2);
      // Buffers in registers have constant indices.
      if (index.find_first_not_of("0123456789") == std::string::npos && match.length(1) == 0) return;
      const int lanes = lanes_at(at);
      const bool of_thread =
          std::regex_search(text_, std::regex(fmt::format(R"(\n +\w+ {}\[)", match[2].str())));
      const auto kind = [&](const char* otherwise) { return of_thread ? "register" : otherwise; };
      expression(kind("offset"), open + 1, index, fmt::format("{} + {}", index, lanes));
      const auto exchange = [&](const char* from, const char* to) {
        const size_t place = index.find(from);
        if (place == std::string::npos) return;
        expression(kind("layout"), open + 1, index, std::string(index).replace(place, 3, to));
      };
      exchange(" / ", " % ");
      exchange(" % ", " / ");
      static const std::regex factor(R"( \* (\d+))");
      std::smatch number;
      if (std::regex_search(index, number, factor)) {
        const int value = std::stoi(number[1]);
        expression(kind("stride"), open + 1, index,
                   std::string(index).replace(size_t(number.position()), size_t(number.length()),
                                              fmt::format(" * {}", value + lanes)));
      }
    });
  }

  void loops() {
    static const std::regex loop(R"(for \(int (\w+) = 0; \1 < (\d+); )");
    each(loop, [&](size_t at, const std::smatch& match) {
      const int trips = std::stoi(match[2]);
      if (trips < 2) return;
      std::string shorter = match.str();
      shorter.replace(size_t(match.position(2) - match.position()), size_t(match.length(2)),
                      std::to_string(trips - 1));
      found_.push_back({"loop", fmt::format("{} in the place of {}", shorter, match.str()),
                        replaced(at, match.length(), shorter), "", 0});
    });
  }

  void aliases() {
    static const std::regex array(R"(__shared__ (?:__align__\(\d+\) )?([\w ]+) (\w+)\[(\d+)\];)");
    struct Array {
      std::string type, name;
      int count;
    };
    std::vector<Array> arrays;
    each(array, [&](size_t, const std::smatch& match) {
      arrays.push_back({match[1], match[2], std::stoi(match[3])});
    });
    for (const Array& kept : arrays) {
      for (const Array& lost : arrays) {
        if (kept.name == lost.name || kept.type != lost.type || kept.count < lost.count) continue;
        std::string text = text_;
        const std::regex use(fmt::format(R"(\b{}\[(?!{}\];))", lost.name, lost.count));
        found_.push_back({"alias", fmt::format("{} is {}", lost.name, kept.name),
                          std::regex_replace(text, use, kept.name + "["), "", 0});
      }
    }
  }

 private:
  template <class Work>
  void each(const std::regex& pattern, Work work) {
    const auto first = text_.cbegin() + std::ptrdiff_t(begin_);
    for (auto match = std::sregex_iterator(first, text_.cend(), pattern); match != std::sregex_iterator();
         ++match)
      work(begin_ + size_t(match->position()), *match);
  }

  std::string replaced(size_t at, std::ptrdiff_t length, const std::string& by) const {
    return std::string(text_).replace(at, size_t(length), by);
  }

  bool is_declaration(size_t at) const {
    const std::string line = line_at(text_, at);
    static const std::regex declaration(R"(^(__shared__|const \w+ \w+\[|\w+ \w+\[\d+\];))");
    return std::regex_search(line, declaration) && line.find('=') == std::string::npos;
  }

  /// The witness counts both ways and compares them where the counter is used.
  void stage(size_t at, const std::string& counter, const std::string& right, const std::string& wrong,
             const std::string& where) {
    const std::string mutated = replaced(at, std::ptrdiff_t(right.size()), wrong);
    const std::regex counts(fmt::format(R"(^ *(int )?{}( = .*)$)", counter)),
        name(fmt::format(R"(\b{}\b)", counter));
    const std::string both = fmt::format("mutant_witness<int>({0}, {0}_wrong)", counter);
    std::string witness;
    std::istringstream rights(text_), wrongs(mutated);
    for (std::string line, other; std::getline(rights, line) && std::getline(wrongs, other);) {
      const bool count = std::regex_match(line, counts);
      witness += (count ? line : std::regex_replace(line, name, both)) + "\n";
      if (count) witness += std::regex_replace(other, name, counter + "_wrong") + "\n";
    }
    found_.push_back({"stage", fmt::format("{} in the place of {}: {}", wrong, right, where), mutated,
                      with_witness(std::move(witness)), 0});
  }

  /// Does the conditional code here initialise or store the sums of a group? Even a group without products
  /// may do so: it stores to the block's memory behind the buffer, where nobody reads.
  bool is_of_sums(size_t at) const {
    static const std::regex sums(
        R"( \{\n(?: *#pragma unroll\n)?(?: *for \(int (?!e\b)[^)]*\) \{\n)* *for \(int e = 0;)");
    return std::regex_search(text_.begin() + std::ptrdiff_t(at), text_.end(), sums,
                             std::regex_constants::match_continuous);
  }

  /// Lets the condition hold for one group less.
  void fewer(size_t at, const std::string& right) {
    static const std::regex below(R"((\w+ < )(\d+))");
    std::smatch match;
    if (std::regex_match(right, match, below))
      expression("predicate", at, right, fmt::format("{}{}", match[1].str(), std::stoi(match[2]) - 1));
  }

  /// The lanes of the vector that is accessed here: "*(float4*)&A[". A descriptor counts pieces of 16 bytes.
  int lanes_at(size_t at) const {
    static const std::regex vector(R"((\d)\*\)&?$)");
    const std::string before = text_.substr(at < 24 ? 0 : at - 24, std::min<size_t>(at, 24));
    if (before.ends_with("wgmma_desc(")) return 8;
    std::smatch match;
    if (!std::regex_search(before, match, vector)) return 1;
    return before.find("uint") != std::string::npos ? 2 * std::stoi(match[1]) : std::stoi(match[1]);
  }

  void expression(const char* kind, size_t at, const std::string& right, const std::string& wrong) {
    if (right == wrong) return;
    const auto length = std::ptrdiff_t(right.size());
    const bool boolean = std::string_view(kind) == "predicate";
    const char* const type = boolean ? "bool" : "int";
    Mutation mutation{
        kind, fmt::format("{} in the place of {}: {}", wrong, right, line_at(text_, at)),
        replaced(at, length, wrong),
        with_witness(replaced(at, length, fmt::format("mutant_witness<{}>({}, {})", type, right, wrong))), 0};
    found_.push_back(std::move(mutation));
  }

  const std::string& text_;
  size_t begin_ = 0;
  std::vector<Mutation> found_;
};

}  // namespace

std::string with_witness(std::string text) {
  const size_t kernel = text.rfind('\n', text.find("__global__"));
  text.insert(kernel == std::string::npos ? 0 : kernel + 1, kWitness);
  return text;
}

std::vector<Mutation> mutations_of(const std::string& text) {
  Finder finder(text);
  static const std::regex barrier(R"((__syncthreads|group_barrier<\d+, \d+>)\(\);)"),
      wait(R"(cp_async_wait<\d+>\(\);)"), commit(R"(cp_async_commit\(\);)");
  finder.statements("barrier", barrier);
  finder.statements("wait", wait);
  finder.statements("commit", commit);
  finder.weaker_waits();
  finder.stages();
  finder.predicates();
  finder.subscripts();
  finder.loops();
  finder.aliases();
  return finder.take();
}

}  // namespace tunesmith::testing

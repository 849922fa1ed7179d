#include "producer_mutation.h"

#include <algorithm>
#include <array>
#include <regex>

#include <fmt/format.h>

namespace tunesmith::testing {
namespace {

constexpr std::array kKinds{"await", "arrival", "bytes", "count", "phase",
                            "box",   "product", "fence", "group"};

/// Traps if a version is used for the second time: otherwise releases do not matter.
std::string witness_of_one_use(const std::string& text) {
  static const std::regex wait(R"((mbar_wait\(\w+ \+ \w+, )(phase\w*))");
  return with_witness(std::regex_replace(text, wait, "$1mutant_witness<int>($2, 0)"));
}

/// Traps if `before`, the released version, is not the first one and is filled again.
std::string witness_of_first_version(const std::string& text) {
  static const std::regex versions(R"(for \(int i = 0; i < (\d+); \+\+i\) mbar_init)"),
      release(R"((\w+)( > 0 && [^)]*\) mbar_arrive\()(before\w*))");
  std::smatch count, match, steps;
  if (!std::regex_search(text, count, versions) || !std::regex_search(text, match, release)) return "";
  const std::regex loop(fmt::format(R"(for \(int {0} = 0; {0} < (\d+);)", match[1].str()));
  if (!std::regex_search(text, steps, loop)) return "";
  const std::string witness =
      fmt::format("({0} + {1} <= {2} ? mutant_witness<unsigned long long*>({3}, released) : {3})",
                  match[1].str(), count[1].str(), steps[1].str(), match[3].str());
  return with_witness(std::string(text).replace(size_t(match.position(3)), size_t(match.length(3)), witness));
}

class ProducerFinder {
 public:
  explicit ProducerFinder(const std::string& text) : text_(text), begin_(text.find("__global__")) {
    if (begin_ == std::string::npos) begin_ = 0;
    if (text.find("tma_load_", begin_) != std::string::npos) one_use_ = witness_of_one_use(text);
  }

  std::vector<Mutation> take() { return std::move(found_); }

  void without(const char* kind, const char* pattern) { instead(kind, pattern, ""); }

  /// Replaces each match. `by` is a format of the match ("$1", "$&").
  void instead(const char* kind, const char* pattern, const char* by) {
    each(pattern, [&](size_t at, const std::smatch& match) { add(kind, at, match, match.format(by)); });
  }

  /// Adds the differences to the number in group 1 of the match; skips results of 0 and less.
  void other_number(const char* kind, const char* pattern, std::initializer_list<int> differences) {
    each(pattern, [&](size_t at, const std::smatch& match) {
      for (const int difference : differences) {
        const int other = std::stoi(match[1]) + difference;
        if (other <= 0) continue;
        std::string wrong = match.str();
        wrong.replace(size_t(match.position(1) - match.position()), size_t(match.length(1)),
                      std::to_string(other));
        add(kind, at, match, wrong);
      }
    });
  }

  /// Replaces the version in group 1 of the match by the next one of `count`.
  void next_version(const char* kind, const char* pattern) {
    each(pattern, [&](size_t at, const std::smatch& match) {
      const std::string name = match[1];
      const size_t count = name.rfind("_in_");
      if (count == std::string::npos) return;
      std::string wrong = match.str();
      wrong.replace(size_t(match.position(1) - match.position()), size_t(match.length(1)),
                    fmt::format("({} + 1) % {}", name, std::stoi(name.substr(count + 4))));
      add(kind, at, match, wrong);
    });
  }

  void exchanged_maps() {
    each(R"(&(\w+_map\w*))", [&](size_t at, const std::smatch& match) {
      static const std::regex other(R"(TensorMap (\w+))");
      for (auto map = std::sregex_iterator(text_.begin(), text_.end(), other); map != std::sregex_iterator();
           ++map) {
        if ((*map)[1] != match[1]) add("box", at, match, "&" + (*map)[1].str());
      }
    });
  }

 private:
  template <class Work>
  void each(const char* pattern, Work work) {
    const std::regex regex(pattern);
    const auto first = text_.cbegin() + std::ptrdiff_t(begin_);
    for (auto match = std::sregex_iterator(first, text_.cend(), regex); match != std::sregex_iterator();
         ++match)
      work(begin_ + size_t(match->position()), *match);
  }

  void add(const std::string& kind, size_t at, const std::smatch& match, const std::string& wrong) {
    const std::string right = match.str();
    const bool in_loop = right.starts_with("wgmma_wait<") && !right.starts_with("wgmma_wait<0>");
    const bool of_release = kind == "arrival" || kind == "phase" || in_loop ||
                            (kind != "box" && right.find("released") != std::string::npos);
    std::string witness = of_release ? one_use_ : "";
    if (right.starts_with("before") && wrong.empty()) witness = witness_of_first_version(text_);
    found_.push_back({kind, fmt::format("'{}' in the place of '{}'", wrong, right),
                      std::string(text_).replace(at, size_t(match.length()), wrong), std::move(witness), 0});
  }

  const std::string& text_;
  size_t begin_;
  std::string one_use_;
  std::vector<Mutation> found_;
};

}  // namespace

bool is_of_producer(const std::string& kind) { return std::ranges::find(kKinds, kind) != kKinds.end(); }

std::vector<Mutation> producer_mutations_of(const std::string& text) {
  ProducerFinder finder(text);
  finder.without("await", R"(mbar_wait\([^;]*\);)");
  finder.instead("await", R"((mbar_wait\(\w+ \+ \w+, phase\w*)( \^ 1)?\))", "$1 ^ 1$2)");
  finder.next_version("await", R"(mbar_wait\(\w+ \+ (\w+),)");
  finder.without("arrival", R"(mbar_arrive\([^;]*\))");
  finder.without("arrival", R"(\w+ > 0 && )");
  finder.without("arrival", R"( && \w+ == 0(?=\) mbar_arrive))");
  finder.without("arrival", R"(before\w* = \w+ \+ \w+_in_\d+;)");
  finder.next_version("arrival", R"(before\w* = \w+ \+ (\w+);)");
  finder.without("bytes", R"(mbar_expect\([^;]*\);)");
  finder.instead("bytes", R"(mbar_expect\((.*), \d+\))", "mbar_arrive($1)");
  finder.other_number("bytes", R"(mbar_expect\(.*, (\d+)\))", {-1024, 1024});
  finder.next_version("bytes", R"(mbar_expect\(\w+ \+ (\w+),)");
  finder.other_number("count", R"(mbar_init\(\w+ \+ \w+, (\d+)\))", {-1, 1});
  finder.without("phase", R"(phase\w* \^= \w+ == \d+;)");
  finder.other_number("phase", R"(phase\w* \^= \w+ == (\d+);)", {-1, 1});
  finder.instead("phase", R"(int (phase\w*) = 0)", "int $1 = 1");
  finder.without("box", R"(tma_load_\dd\([^;]*\);)");
  finder.next_version("box", R"(tma_load_\dd\([^;]*\((\w+_in_\d+) \* )");
  finder.next_version("box", R"(tma_load_\dd\([^;]*arrived\w* \+ (\w+)\))");
  finder.instead("box", R"((tma_load_\dd\([^;]*)arrived( \+ \w+\)))", "$1released$2");
  finder.instead("box", R"((tma_load_\dd\([^;]*&\w+, [^,;]*)(?=, ))", "$1 + 8");
  finder.instead("box", R"((tma_load_\dd\([^;]*&\w+, [^,;]*, [^,;]*)(?=, ))", "$1 + 1");
  finder.instead("box", R"((tma_load_[34]d\([^;]*&\w+, [^,;]*, [^,;]*, [^,;]*)(?=, ))", "$1 + 1");
  finder.exchanged_maps();
  finder.without("product", R"(wgmma_commit\(\);)");
  finder.without("product", R"(wgmma_wait<\d+>\(\);)");
  finder.other_number("product", R"(wgmma_wait<(\d+)>)", {1});
  // After the initialisation of barriers one of two fences suffices; others are needed before products.
  finder.instead("fence", R"(fence_mbar_init\(\);(\s*\}\s*)fence_async_shared\(\);)", "$1");
  finder.instead("fence", R"(wgmma_fence\(\);)", ";");
  finder.instead("fence", R"((cp_async_wait<\d+>\(\);\s*)fence_async_shared\(\);)", "$1");
  finder.other_number("group", R"(group_barrier<\d+, (\d+)>)", {128});
  finder.without("group", R"(reg_dealloc<\d+>\(\);)");
  finder.instead("group", R"((reg_dealloc<\d+>\(\);)(\s*if \([^)]*\) \{))", "$2 $1");
  finder.other_number("group", R"(reg_alloc<(\d+)>)", {8});
  return finder.take();
}

}  // namespace tunesmith::testing

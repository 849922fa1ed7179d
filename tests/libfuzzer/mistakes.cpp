#include "mistakes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <tunesmith/support/random.h>

namespace tunesmith::test {
namespace {

constexpr size_t kMaxSize = size_t{1} << 18;
constexpr uint64_t kMaxMistakes = 4;
constexpr double kMostRepeats = 1e5;

constexpr std::array<std::string_view, 14> kNumbers{"0",
                                                    "-1",
                                                    "1",
                                                    "2147483648",
                                                    "4294967296",
                                                    "9223372036854775807",
                                                    "-9223372036854775808",
                                                    "18446744073709551616",
                                                    "1e308",
                                                    "1e999",
                                                    "nan",
                                                    "0x7fffffffffffffff",
                                                    "00000000000000000000000000000000000000001",
                                                    "0.0000001"};
struct Brackets {
  std::string_view open, close;
};
constexpr std::array<Brackets, 6> kBrackets{
    {{"[", "]"}, {"{", "}"}, {"(", ")"}, {"{\"a\":", "}"}, {"- ", ""}, {"[a: ", "]"}}};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::invalid_argument(path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Makes mistakes in a text.
class Mistakes {
 public:
  Mistakes(std::string text, RandomStream& random) : text_(std::move(text)), random_(random) {}

  void flip_bit() {
    if (!text_.empty()) text_[place()] ^= static_cast<char>(1U << random_.below(8));
  }
  void set_byte() {
    if (!text_.empty()) text_[place()] = static_cast<char>(random_.below(256));
  }
  void cut() { text_.resize(place()); }
  void erase() {
    const auto [begin, size] = part();
    text_.erase(begin, size);
  }
  /// Repeats a part a few times, or very often.
  void repeat() {
    const auto [begin, size] = part();
    text_.insert(begin, repeated(text_.substr(begin, size)));
  }
  void nest() {
    const Brackets& brackets = kBrackets[random_.below(kBrackets.size())];
    const auto [begin, size] = part();
    const auto depth = static_cast<size_t>(times());
    const auto several = [&](std::string_view one) {
      std::string all;
      for (size_t i = 0; i < depth && all.size() + one.size() <= kMaxSize; ++i) all += one;
      return all;
    };
    text_.insert(begin + size, several(brackets.close));
    text_.insert(begin, several(brackets.open));
  }
  void put(std::string_view word) { text_.insert(place(), word); }
  void put_part_of(const std::string& other) {
    Mistakes theirs(other, random_);
    const auto [begin, size] = theirs.part();
    text_.insert(place(), other.substr(begin, size));
  }
  /// Changes a number in the text.
  void change_number() {
    size_t begin = text_.find_first_of("0123456789", place());
    if (begin == std::string::npos) begin = text_.find_first_of("0123456789");
    if (begin == std::string::npos) return;
    size_t end = begin;
    while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
    text_.replace(begin, end - begin, kNumbers[random_.below(kNumbers.size())]);
  }
  void move_line() {
    const size_t begin = text_.rfind('\n', place());
    if (begin == std::string::npos) return;
    const std::string line = text_.substr(begin, text_.find('\n', begin + 1) - begin);
    text_.erase(begin, line.size());
    const size_t to = text_.find('\n', place());
    text_.insert(to == std::string::npos ? text_.size() : to, line);
  }
  std::string take() {
    text_.resize(std::min(text_.size(), kMaxSize));
    return std::move(text_);
  }

 private:
  struct Part {
    size_t begin, size;
  };
  size_t place() { return text_.empty() ? 0 : random_.below(text_.size()); }
  Part part() {
    const size_t begin = place();
    const size_t most = std::min<size_t>(text_.size() - begin, random_.below(4) == 0 ? 200 : 12);
    return {begin, most == 0 ? 0 : 1 + random_.below(most)};
  }
  double times() {
    return random_.below(4) == 0 ? std::pow(kMostRepeats, random_.uniform()) : 1.0 + 3.0 * random_.uniform();
  }
  std::string repeated(std::string_view one) {
    std::string all;
    for (double left = times(); left >= 1.0 && all.size() + one.size() <= kMaxSize; --left) all += one;
    return all;
  }

  std::string text_;
  RandomStream& random_;
};

}  // namespace

void Examples::add_folder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) texts_.push_back(read_file(file));
}

void Examples::add_words(const std::filesystem::path& file) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find('"');
    const size_t end = line.rfind('"');
    if (line.starts_with('#') || begin == end) continue;
    std::string word;
    for (size_t i = begin + 1; i < end; ++i) {
      if (line[i] == '\\' && line[i + 1] == 'x') {
        word += static_cast<char>(std::stoi(line.substr(i + 2, 2), nullptr, 16));
        i += 3;
      } else {
        if (line[i] == '\\') ++i;
        word += line[i];
      }
    }
    words_.push_back(word);
  }
}

std::string Examples::input(uint64_t seed, uint64_t number) const {
  if (texts_.empty()) return {};
  if (number < texts_.size()) return texts_[number];
  RandomStream random(seed, number);
  Mistakes text(texts_[random.below(texts_.size())], random);
  for (uint64_t left = 1 + random.below(kMaxMistakes); left > 0; --left) {
    switch (random.below(words_.empty() ? 10 : 12)) {
      case 0:
        text.flip_bit();
        break;
      case 1:
        text.set_byte();
        break;
      case 2:
        text.cut();
        break;
      case 3:
        text.erase();
        break;
      case 4:
      case 5:
        text.repeat();
        break;
      case 6:
        text.nest();
        break;
      case 7:
        text.put_part_of(texts_[random.below(texts_.size())]);
        break;
      case 8:
        text.change_number();
        break;
      case 9:
        text.move_line();
        break;
      default:
        text.put(words_[random.below(words_.size())]);
    }
  }
  return text.take();
}

}  // namespace tunesmith::test

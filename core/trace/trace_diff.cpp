#include <algorithm>
#include <string>
#include <vector>

#include "trace/trace_printer.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

/// A line as text, and as a key in which a variable is known by how it was computed and not by its number: an
/// instruction put in between does not make all that follow look different.
struct Line {
  std::string text;
  uint64_t key = 0;
};

uint64_t key_of(const Arg& arg, const std::vector<uint64_t>& vars) {
  const uint64_t seed = arg.index();
  switch (arg.index()) {
    case 1:
      return hash_combine(seed, vars[std::get<TraceVar>(arg).index]);
    case 2:
      return hash_combine(seed, std::get<bool>(arg) ? 1 : 0);
    case 3:
      return hash_combine(seed, static_cast<uint64_t>(std::get<int64_t>(arg)));
    case 4:
      return hash_combine(seed, std::hash<double>{}(std::get<double>(arg)));
    case 5:
      return hash_bytes(std::get<std::string>(arg), seed);
    case 6: {
      uint64_t key = seed;
      for (const Arg& item : std::get<ArgList>(arg)) key = hash_combine(key, key_of(item, vars));
      return key;
    }
    default:
      return seed;
  }
}

std::vector<Line> lines_of(const Trace& trace) {
  std::vector<Line> lines;
  std::vector<uint64_t> vars;
  TracePrinter printer;
  for (size_t i = 0; i < trace.size(); ++i) {
    const Instruction& instruction = trace[i];
    uint64_t key = hash_bytes(instruction.kind->name());
    for (const Arg& arg : instruction.args) key = hash_combine(key, key_of(arg, vars));
    for (size_t k = 0; k < instruction.outputs.size(); ++k) vars.push_back(hash_combine(key, k + 1));
    if (instruction.decision.has_value()) {
      for (const int64_t number : *instruction.decision)
        key = hash_combine(key, static_cast<uint64_t>(number));
    }
    lines.push_back({printer.line(instruction), key});
  }
  return lines;
}

}  // namespace

std::string diff(const Trace& a, const Trace& b) {
  const std::vector<Line> left = lines_of(a);
  const std::vector<Line> right = lines_of(b);
  size_t head = 0;
  while (head < left.size() && head < right.size() && left[head].key == right[head].key) ++head;
  size_t tail = 0;
  while (tail < left.size() - head && tail < right.size() - head &&
         left[left.size() - 1 - tail].key == right[right.size() - 1 - tail].key) {
    ++tail;
  }

  // Longest common subsequence of what lies between.
  const size_t rows = left.size() - head - tail;
  const size_t columns = right.size() - head - tail;
  std::vector<std::vector<uint32_t>> longest(rows + 1, std::vector<uint32_t>(columns + 1, 0));
  for (size_t i = rows; i-- > 0;) {
    for (size_t j = columns; j-- > 0;) {
      longest[i][j] = left[head + i].key == right[head + j].key
                          ? longest[i + 1][j + 1] + 1
                          : std::max(longest[i + 1][j], longest[i][j + 1]);
    }
  }

  std::string out;
  const auto emit = [&](char mark, const Line& line) { out += mark + (" " + line.text) + '\n'; };
  for (size_t i = 0; i < head; ++i) emit(' ', left[i]);
  size_t i = 0;
  size_t j = 0;
  while (i < rows || j < columns) {
    if (i < rows && j < columns && left[head + i].key == right[head + j].key) {
      emit(' ', left[head + i]);
      ++i;
      ++j;
    } else if (j == columns || (i < rows && longest[i + 1][j] >= longest[i][j + 1])) {
      emit('-', left[head + i++]);
    } else {
      emit('+', right[head + j++]);
    }
  }
  for (size_t k = left.size() - tail; k < left.size(); ++k) emit(' ', left[k]);
  return out;
}

}  // namespace tunesmith

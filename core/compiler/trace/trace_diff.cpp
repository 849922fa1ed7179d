#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "trace/trace_printer.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

/// A line with a key that identifies variables by their definitions and not
/// by their numbers: an inserted instruction does not change all lines after
/// it. A variable defined with another factor stays the same variable.
struct Line {
  const Instruction* instruction = nullptr;
  uint64_t key = 0;
  std::vector<uint64_t> outputs;
  std::string text = {};
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

/// A key of the variables only; 0 without variables.
uint64_t key_of_variables(const Arg& arg, const std::vector<uint64_t>& vars) {
  if (const auto* var = std::get_if<TraceVar>(&arg)) return vars[var->index];
  uint64_t key = 0;
  if (const auto* list = std::get_if<ArgList>(&arg)) {
    for (const Arg& item : *list) {
      if (const uint64_t its = key_of_variables(item, vars); its != 0) key = hash_combine(key, its);
    }
  }
  return key;
}

std::vector<Line> lines_of(const Trace& trace) {
  std::vector<Line> lines;
  std::vector<uint64_t> vars;
  for (size_t i = 0; i < trace.size(); ++i) {
    const Instruction& instruction = trace[i];
    const uint64_t name = hash_bytes(instruction.kind->name());
    uint64_t key = name;
    uint64_t made = name;
    for (const Arg& arg : instruction.args) {
      key = hash_combine(key, key_of(arg, vars));
      if (const uint64_t its = key_of_variables(arg, vars); its != 0) made = hash_combine(made, its);
    }
    // An instruction without variables is identified by its name.
    if (made == name) made = key;
    std::vector<uint64_t> outputs;
    for (size_t k = 0; k < instruction.outputs.size(); ++k) outputs.push_back(hash_combine(made, k + 1));
    vars.insert(vars.end(), outputs.begin(), outputs.end());
    if (instruction.decision.has_value()) {
      for (const int64_t number : *instruction.decision)
        key = hash_combine(key, static_cast<uint64_t>(number));
    }
    lines.push_back({&instruction, key, std::move(outputs)});
  }
  return lines;
}

/// Names a variable on the right like the one with the same definition on the left, so
/// that equal lines print alike; other variables get names that are unused on the left.
void print_alike(std::vector<Line>& left, std::vector<Line>& right) {
  std::map<uint64_t, std::vector<std::string>> alike;  // in the order of definition
  std::set<std::string> taken;
  TracePrinter printer;
  for (Line& line : left) {
    line.text = printer.line(*line.instruction);
    for (size_t k = 0; k < line.outputs.size(); ++k) {
      const std::string& name = printer.name(line.instruction->outputs[k]);
      alike[line.outputs[k]].push_back(name);
      taken.insert(name);
    }
  }
  std::map<uint64_t, size_t> made;
  TracePrinter usual;
  TracePrinter renaming;
  for (Line& line : right) {
    usual.line(*line.instruction);
    std::vector<std::string> names;
    for (size_t k = 0; k < line.outputs.size(); ++k) {
      const std::vector<std::string>& known = alike[line.outputs[k]];
      const size_t number = made[line.outputs[k]]++;
      const std::string& own = usual.name(line.instruction->outputs[k]);
      names.push_back(number < known.size() ? known[number] : taken.contains(own) ? own + "'" : own);
    }
    line.text = renaming.line(*line.instruction, names);
  }
}

}  // namespace

std::string diff(const Trace& a, const Trace& b) {
  std::vector<Line> left = lines_of(a);
  std::vector<Line> right = lines_of(b);
  print_alike(left, right);
  size_t head = 0;
  while (head < left.size() && head < right.size() && left[head].key == right[head].key) ++head;
  size_t tail = 0;
  while (tail < left.size() - head && tail < right.size() - head &&
         left[left.size() - 1 - tail].key == right[right.size() - 1 - tail].key) {
    ++tail;
  }

  // The longest common subsequence of the lines in between.
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

// Parses the text of sequence_text.cpp: one item per line, words separated by blanks.
#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "role_names.h"
#include "tunesmith/proposals/sequence.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

constexpr std::string_view kHead = "# tunesmith sequence ";

class SequenceReader {
 public:
  SequenceReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Sequence read() {
    read_version();
    while (next_line() && line_ != "sketch") read_task_line();
    if (line_ != "sketch") fail("expected 'sketch', found the end of the text");
    read_sketch();
    while (next_line()) sequence_.steps.push_back(read_step());
    trace_of(sequence_);
    return std::move(sequence_);
  }

 private:
  [[noreturn]] void fail(const std::string& message, const std::string& remedy = {}) const {
    throw UserError(SourceLocation{file_, number_, static_cast<int>(word_begin_) + 1}, message, remedy);
  }

  bool next_line() {
    if (offset_ >= text_.size()) {
      line_ = {};
      return false;
    }
    const size_t end = std::min(text_.find('\n', offset_), text_.size());
    line_ = text_.substr(offset_, end - offset_);
    offset_ = end + 1;
    ++number_;
    at_ = word_begin_ = 0;
    return true;
  }

  /// "" at the end of the line.
  std::string_view word() {
    at_ = std::min(line_.find_first_not_of(' ', at_), line_.size());
    word_begin_ = at_;
    at_ = std::min(line_.find(' ', at_), line_.size());
    return line_.substr(word_begin_, at_ - word_begin_);
  }
  std::string_view word(std::string_view wanted) {
    const std::string_view found = word();
    if (found.empty()) fail(fmt::format("expected {}, found the end of the line", wanted));
    return found;
  }
  void end_line() {
    if (const std::string_view more = word(); !more.empty())
      fail(fmt::format("expected the end of the line, found '{}'", more));
  }

  template <typename Number>
  Number to_number(std::string_view text, std::string_view wanted) const {
    Number number{};
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || rest != text.data() + text.size() || text.empty())
      fail(fmt::format("expected {}, found '{}'", wanted, text));
    return number;
  }
  template <typename Number>
  Number number(std::string_view wanted) {
    return to_number<Number>(word(wanted), wanted);
  }

  void read_version() {
    if (!next_line() || !line_.starts_with(kHead))
      fail(fmt::format("expected '{}{}'", kHead, kSequenceVersion));
    word_begin_ = kHead.size();
    const int version = to_number<int>(line_.substr(kHead.size()), "a version");
    if (version != kSequenceVersion)
      fail(
          fmt::format("a sequence of version {}; this Tunesmith reads version {}", version, kSequenceVersion),
          "recreate it from its trace: tunesmith trace show TRACE --sequence");
  }

  void read_task_line() {
    const std::string_view what = word("a line of a task");
    SequenceTask& task = sequence_.task;
    if (what == "machine") {
      const std::string name(word("a quantity"));
      task.machine[name] = number<double>("a number");
    } else if (what == "array") {
      task.arrays.push_back(read_array());
    } else if (what == "block") {
      task.blocks.push_back({std::string(word("a name")), {}, {}, {}});
    } else if (what == "iterator" || what == "write" || what == "read" || what == "operation") {
      if (task.blocks.empty()) fail(fmt::format("'{}' stands before the first block", what));
      read_block_line(what, task.blocks.back());
    } else {
      fail(fmt::format("expected a line of a task, found '{}'", what),
           suggest(what, {"machine", "array", "block", "iterator", "write", "read", "operation", "sketch"}));
    }
    end_line();
  }

  std::vector<int64_t> read_extents() {
    const std::string_view text = word("extents");
    std::vector<int64_t> extents;
    if (text == "scalar") return extents;
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find('x', begin), text.size());
      extents.push_back(to_number<int64_t>(text.substr(begin, end - begin), "an extent"));
      begin = end + 1;
    }
    return extents;
  }

  DType read_type() {
    const std::string_view text = word("a type");
    if (const auto type = DType::parse(text)) return *type;
    if (text == kIndex.str()) return kIndex;
    fail(fmt::format("expected a type, found '{}'", text), suggest(text, DType::names()));
  }

  SequenceArray read_array() {
    SequenceArray array;
    const std::string_view role = word("the array's role");
    const auto found = std::ranges::find(sequence::kRoles, role);
    if (found == sequence::kRoles.end())
      fail(fmt::format("expected the array's role, found '{}'", role),
           suggest(role, {sequence::kRoles.begin(), sequence::kRoles.end()}));
    array.role = static_cast<SequenceArray::Role>(found - sequence::kRoles.begin());
    array.dtype = read_type();
    array.shape = read_extents();
    const size_t before = at_;
    if (word() == "strides") {
      array.strides = read_extents();
    } else {
      at_ = before;
    }
    return array;
  }

  void read_block_line(std::string_view what, SequenceBlock& block) {
    if (what == "iterator") {
      const std::string_view name = word("a kind of iterators");
      for (const IterKind kind : {IterKind::Spatial, IterKind::Reduction, IterKind::Opaque}) {
        if (name != iter_kind_name(kind)) continue;
        block.iterators.push_back({kind, number<int64_t>("an extent")});
        return;
      }
      fail(fmt::format("expected a kind of iterators, found '{}'", name),
           suggest(name, {"spatial", "reduction", "opaque"}));
    }
    if (what == "operation") {
      SequenceOperation operation;
      operation.name = word("an operation");
      operation.dtype = read_type();
      operation.count = number<int64_t>("a number");
      block.operations.push_back(std::move(operation));
      return;
    }
    SequenceAccess access;
    access.writes = what == "write";
    access.array = number<size_t>("the number of an array");
    if (access.array >= sequence_.task.arrays.size())
      fail(fmt::format("there are {} arrays, numbered from 0", sequence_.task.arrays.size()));
    word("indices in brackets");
    const std::string_view indices = line_.substr(word_begin_);
    if (indices.size() < 2 || indices.front() != '[' || indices.back() != ']')
      fail(fmt::format("expected indices in brackets, found '{}'", indices));
    access.indices = indices.substr(1, indices.size() - 2);
    at_ = line_.size();
    block.accesses.push_back(std::move(access));
  }

  /// Puts blank lines after the sketch's version line, so that the trace parser's line numbers match this
  /// text.
  void read_sketch() {
    std::string sketch;
    while (next_line() && line_ != "decisions") {
      sketch += line_;
      sketch += sketch == line_ ? std::string(static_cast<size_t>(number_), '\n') : "\n";
    }
    if (line_ != "decisions") fail("expected 'decisions', found the end of the text");
    sequence_.sketch = Trace::parse(sketch, file_);
  }

  struct Choice {
    int64_t choice = 0;
    std::optional<int64_t> value;
    bool operator==(const Choice&) const = default;
  };
  Choice read_choice(std::string_view text) const {
    const size_t equals = text.find('=');
    Choice read{to_number<int64_t>(text.substr(0, equals), "a choice"), std::nullopt};
    if (equals != std::string_view::npos)
      read.value = to_number<int64_t>(text.substr(equals + 1), "a choice's value");
    return read;
  }

  SequenceStep read_step() {
    SequenceStep step;
    const std::string_view place = word("INSTRUCTION.ELEMENT");
    const size_t dot = std::min(place.find('.'), place.size());
    step.instruction = to_number<size_t>(place.substr(0, dot), "INSTRUCTION.ELEMENT");
    step.element = to_number<size_t>(place.substr(std::min(dot + 1, place.size())), "INSTRUCTION.ELEMENT");
    const Choice chosen = read_choice(word("what was chosen"));
    if (word("'of'") != "of") fail("expected 'of', and then all choices");
    bool is_there = false;
    for (std::string_view text = word("a choice"); !text.empty(); text = word()) {
      const Choice one = read_choice(text);
      step.choices.push_back(one.choice);
      if (one.value) step.values.push_back(*one.value);
      is_there = is_there || one == chosen;
    }
    if (!step.values.empty() && step.values.size() != step.choices.size())
      fail("some choices have a value and others have none");
    if (!is_there) fail("what was chosen is none of the choices");
    step.chosen = chosen.choice;
    return step;
  }

  std::string_view text_;
  const std::string& file_;
  size_t offset_ = 0;
  std::string_view line_;
  int number_ = 0;
  size_t at_ = 0;
  size_t word_begin_ = 0;
  Sequence sequence_;
};

}  // namespace

Sequence parse_sequence(std::string_view text, const std::string& file) {
  return SequenceReader(text, file).read();
}

}  // namespace tunesmith

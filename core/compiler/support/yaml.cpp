#include "tunesmith/support/yaml.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

namespace tunesmith {

namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;
constexpr size_t kMaxYamlNesting = 32;
/// Limits lists and mappings: each key is compared with all earlier ones, and readers may copy a list for
/// each item of another.
constexpr size_t kMaxItems = 4096;

/// yaml-cpp 0.7 ends a plain scalar inside [] and {} at any question mark, so it rejects [name?]. A question
/// mark after a word is no indicator; a byte that no text contains replaces it for the parser.
constexpr char kQuestionMark = '\x01';

std::string shield_question_marks(std::string_view text) {
  std::string shielded(text);
  for (size_t i = 1; i < shielded.size(); ++i) {
    const auto before = static_cast<unsigned char>(shielded[i - 1]);
    if (shielded[i] == '?' && (std::isalnum(before) != 0 || before == '_')) shielded[i] = kQuestionMark;
  }
  return shielded;
}

std::string unshielded(std::string value) {
  std::replace(value.begin(), value.end(), kQuestionMark, '?');
  return value;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Maps bytes of a text to lines and columns.
class LineTable {
 public:
  explicit LineTable(std::string_view text) : text_(text) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') starts_.push_back(i + 1);
    }
  }
  std::string_view text() const { return text_; }
  size_t offset(int line, int column) const {
    const size_t row = std::min(static_cast<size_t>(std::max(line, 0)), starts_.size() - 1);
    return std::min(starts_[row] + static_cast<size_t>(std::max(column, 0)), text_.size());
  }
  YamlNode::Segment place(size_t text_offset, size_t file_offset) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), file_offset);
    const auto row = after - starts_.begin() - 1;
    return {text_offset, static_cast<int>(row) + 1,
            static_cast<int>(file_offset - starts_[static_cast<size_t>(row)]) + 1};
  }
  size_t next_line(size_t file_offset) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), file_offset);
    return after == starts_.end() ? text_.size() : *after;
  }

 private:
  std::string_view text_;
  std::vector<size_t> starts_{0};
};

/// Aligns a scalar's value with its text in the file: they differ in indentation, folded line ends and
/// escapes only, so every visible character has a location.
std::vector<YamlNode::Segment> align(const std::string& value, size_t file_offset, const LineTable& lines) {
  const std::string_view raw = lines.text();
  size_t at = file_offset;
  if (at < raw.size() && (raw[at] == '|' || raw[at] == '>')) {
    at = lines.next_line(at);
  } else if (at < raw.size() && (raw[at] == '"' || raw[at] == '\'')) {
    ++at;
  }
  std::vector<YamlNode::Segment> segments;
  size_t expected = std::string_view::npos;  // the next file offset that continues the segment
  for (size_t i = 0; i < value.size(); ++i) {
    if (!is_space(value[i])) {
      while (at < raw.size() && is_space(raw[at])) ++at;
      // An escape ('' or \") has one more byte in the file.
      if (at + 1 < raw.size() && raw[at] != value[i] && raw[at + 1] == value[i]) ++at;
    }
    if (at != expected) segments.push_back(lines.place(i, at));
    expected = at;
    if (at < raw.size() && raw[at] == value[i]) expected = ++at;
  }
  if (segments.empty() || at != expected) segments.push_back(lines.place(value.size(), at));
  return segments;
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const LineTable& lines, const std::string& file) : lines_(lines), file_(file) {}

  YamlNode take() { return std::move(root_); }
  int documents() const { return documents_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1)
      throw UserError(place(mark), "a second YAML document begins here", "expected one document in a file");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    if (expects_key()) throw UserError(place(mark), "a key is missing before ':'");
    YamlNode node;
    node.location = open_.empty() || open_.back().node.kind != YamlNode::Kind::Map
                        ? place(mark)
                        : open_.back().key_location;
    add(std::move(node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override { refuse_anchor(mark, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& shielded) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    const std::string value = unshielded(shielded);
    if (expects_key()) {
      take_key(mark, value);
      return;
    }
    YamlNode node;
    node.kind = YamlNode::Kind::Scalar;
    node.location = place(mark);
    node.text = value;
    node.quoted = tag == "!";
    node.segments = align(value, lines_.offset(mark.line, mark.column), lines_);
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, YamlNode::Kind::Sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, YamlNode::Kind::Map);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    std::string key;
    SourceLocation key_location;
    bool has_key = false;
  };

  SourceLocation place(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

  bool expects_key() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::Map && !open_.back().has_key;
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor)
      throw UserError(place(mark), "anchors and aliases are not accepted", "write the value out");
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!")
      throw UserError(place(mark), fmt::format("tag '{}' is not accepted", tag));
  }
  void take_key(const YAML::Mark& mark, const std::string& key) {
    Open& map = open_.back();
    for (const YamlEntry& entry : map.node.entries) {
      if (entry.key == key) {
        throw UserError(place(mark), fmt::format("key '{}' is given twice", key),
                        fmt::format("also in line {}", entry.location.line));
      }
    }
    map.key = key;
    map.key_location = place(mark);
    map.has_key = true;
  }
  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (expects_key()) throw UserError(place(mark), "a key cannot be a list or a mapping", "expected a name");
    if (open_.size() >= kMaxYamlNesting) {
      throw UserError(place(mark), fmt::format("nested deeper than {} levels", kMaxYamlNesting));
    }
    Open entry;
    entry.node.kind = kind;
    entry.node.location = place(mark);
    open_.push_back(std::move(entry));
  }
  void close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }
  void add(YamlNode node) {
    if (!open_.empty() &&
        std::max(open_.back().node.items.size(), open_.back().node.entries.size()) >= kMaxItems)
      throw UserError(node.location, fmt::format("a list or mapping of more than {} items", kMaxItems));
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (Open& top = open_.back(); top.node.kind == YamlNode::Kind::Sequence) {
      top.node.items.push_back(std::move(node));
    } else {
      top.node.entries.push_back({std::move(top.key), top.key_location, std::move(node)});
      top.has_key = false;
    }
  }

  const LineTable& lines_;
  const std::string& file_;
  std::vector<Open> open_;
  YamlNode root_;
  int documents_ = 0;
};

void check_characters(std::string_view text, const std::string& file, const LineTable& lines) {
  if (text.size() > kMaxBytes)
    throw UserError(SourceLocation{file, 0, 0}, fmt::format("larger than {} bytes", kMaxBytes));
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && !is_space(text[i])) || c == 0x7f || c >= 0xfe) {
      const YamlNode::Segment at = lines.place(0, i);
      throw UserError(SourceLocation{file, at.line, at.column},
                      fmt::format("byte 0x{:02x} is not text", static_cast<unsigned>(c)), "expected UTF-8");
    }
  }
}

/// Detects a tab in the indentation, which the parser's error does not mention.
void refuse_tab(std::string_view text, const std::string& file, int line, const LineTable& lines) {
  const size_t begin = lines.offset(line, 0);
  const size_t end = std::min(text.find_first_not_of(" \t", begin), text.size());
  const size_t tab = text.substr(begin, end - begin).find('\t');
  if (tab == std::string_view::npos) return;
  throw UserError(SourceLocation{file, line + 1, static_cast<int>(tab) + 1},
                  "a tab; YAML indents with spaces");
}

}  // namespace

SourceLocation YamlNode::at(size_t offset) const {
  if (segments.empty()) return location;
  auto after = std::upper_bound(segments.begin(), segments.end(), offset,
                                [](size_t value, const Segment& segment) { return value < segment.offset; });
  if (after != segments.begin()) --after;
  const size_t into = offset > after->offset ? offset - after->offset : 0;
  return {location.file, after->line, after->column + static_cast<int>(into)};
}

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto entry =
      std::find_if(entries.begin(), entries.end(), [key](const YamlEntry& each) { return each.key == key; });
  return entry == entries.end() ? nullptr : &entry->value;
}

std::string_view yaml_kind_name(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::Null:
      return "nothing";
    case YamlNode::Kind::Scalar:
      return "a value";
    case YamlNode::Kind::Sequence:
      return "a list";
    case YamlNode::Kind::Map:
      break;
  }
  return "a mapping";
}

YamlNode parse_yaml(std::string_view text, const std::string& file) {
  const LineTable lines(text);
  check_characters(text, file, lines);
  std::istringstream stream{shield_question_marks(text)};
  TreeBuilder builder(lines, file);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    refuse_tab(text, file, error.mark.line, lines);
    throw UserError(SourceLocation{file, error.mark.line + 1, error.mark.column + 1}, error.msg,
                    "expected YAML");
  }
  YamlNode root = builder.take();
  if (root.location.line == 0) root.location = {file, 1, 1};  // there is no document
  return root;
}

std::string read_yaml_text(const std::string& path, const SourceLocation& named_at) {
  std::ifstream stream(path, std::ios::binary);
  std::string text;
  if (stream) {
    text.resize(kMaxBytes + 1);
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(stream.gcount()));
  }
  if (!stream.eof() && !stream.good()) {
    const std::string why = fmt::format("cannot be read: {}", std::strerror(errno));
    if (named_at.line == 0) throw UserError(SourceLocation{path}, why);
    throw UserError(named_at, fmt::format("the file {} {}", path, why));
  }
  return text;
}

YamlNode read_yaml_file(const std::string& path, const SourceLocation& named_at) {
  return parse_yaml(read_yaml_text(path, named_at), path);
}

void refuse_unknown_keys(const YamlNode& node, const std::vector<std::string>& known, std::string_view what) {
  for (const YamlEntry& entry : node.entries) refuse_unknown_key(entry, known, what);
}

void refuse_unknown_key(const YamlEntry& entry, const std::vector<std::string>& known,
                        std::string_view what) {
  if (std::find(known.begin(), known.end(), entry.key) != known.end()) return;
  throw UserError(entry.location, fmt::format("{} has no key '{}'", what, entry.key),
                  suggest(entry.key, known));
}

}  // namespace tunesmith

#include "tunesmith/ir/parser.h"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "ir/declaration_parser.h"
#include "tunesmith/ir/lowered_stmt.h"

namespace tunesmith {
namespace {

constexpr int kMaxDepth = 1000;

/// Parses statements by their indentation; each line is a statement or begins one.
class ProgramParser : private DeclarationParser {
 public:
  using DeclarationParser::DeclarationParser;

  std::vector<Program> programs() {
    std::vector<Program> found;
    next_line();
    do {
      found.push_back(program());
    } while (!at_end());
    return found;
  }

 private:
  // ---- Programs ----

  Program program() {
    if (indent() != 1 || !take_word("program")) fail_expected("'program' at the begin of a line");
    program_ = Program();
    buffers_.clear();
    vars_.clear();
    bound_.clear();
    blocks_.clear();
    skip_blank(false);
    if (peek() != '(' && peek() != '[') program_.name = any_name("the program's name");
    if (take('[')) program_.parameters = parameters();
    program_.inputs = buffer_list();
    skip_blank(false);
    if (!take_text("->")) fail_expected("'->' before the outputs");
    program_.outputs = buffer_list();
    end_line();
    const int level = inner(1);
    while (more(level) && take_word("intermediate")) {
      program_.intermediates.push_back(buffer());
      end_line();
    }
    program_.annotations = annotations(level);
    StmtPtr all = body(level);
    auto root = std::make_unique<Seq>();
    root->append(std::move(all));
    while (!root->children().empty()) program_.root().append(root->remove(0));
    return std::move(program_);
  }

  /// For example "1 <= n <= 512 typical [128], 1 <= m <= 8]".
  std::vector<ExtentParameter> parameters() {
    std::vector<ExtentParameter> found;
    do {
      skip_blank(false);
      const Position at = here_;
      const int64_t lowest = integer_from(0, kMaxExtent, "the lowest value of a parameter");
      less_equal();
      const std::string name = any_name("the name of a parameter");
      less_equal();
      const int64_t highest = integer_from(0, kMaxExtent, "the highest value of a parameter");
      if (highest < lowest)
        fail(at, fmt::format("no value of '{}' is between {} and {}", name, lowest, highest));
      for (const ExtentParameter& other : found) {
        if (other.var->name == name) fail(at, fmt::format("parameter '{}' already exists", name));
      }
      found.push_back({Var::parameter(name, lowest, highest), {}});
      if (take_word("typical")) found.back().typical = integers(lowest, "a typical value");
      vars_.emplace_back(name, found.back().var);
    } while (take(','));
    expect(']', "behind the parameters");
    return found;
  }
  void less_equal() {
    skip_blank(false);
    if (!take_text("<=")) fail_expected("'<=' between a parameter and its bound");
  }

  // ---- Statements ----

  /// The body of a line with indentation `outer`.
  StmtPtr body_of(int outer) { return body(inner(outer)); }

  StmtPtr body(int level) {
    if (++depth_of_stmts_ > kMaxDepth) fail(here_, "statements are nested too deeply");
    std::vector<StmtPtr> found;
    size_t lines = 0;
    for (; more(level); ++lines) {
      if (StmtPtr one = statement(level)) found.push_back(std::move(one));
    }
    if (lines == 0) fail_expected("a statement");
    --depth_of_stmts_;
    if (lines == 1 && found.size() == 1) return std::move(found[0]);
    return std::make_unique<Seq>(std::move(found));
  }

  /// Null for `pass`.
  StmtPtr statement(int level) {
    if (take_word("pass")) {
      end_line();
      return nullptr;
    }
    if (take_word("for")) return loop(level);
    if (take_word("block")) return block(level);
    if (take_word("if")) return branch(level);
    if (take_word("alloc")) return allocation(level);
    if (take_word("barrier")) return barrier();
    if (take_word("async")) return async_group(level);
    if (take_word("async_wait")) return async_wait();
    if (take_word("handover")) return handover(level);
    return store();
  }

  StmtPtr store() {
    const Position at = here_;
    const bool quotes = peek() == '"';
    const std::string name = any_name("a statement");
    skip_blank(false);
    if (peek() != '[' && !quotes) {
      fail(at, fmt::format("unknown statement '{}'", name),
           suggest(name,
                   {"for", "block", "if", "alloc", "barrier", "async", "async_wait", "handover", "pass"}));
    }
    const Buffer to = buffer_of(name, at);
    std::vector<Expr> at_indices = indices();
    const size_t rank = to->shape.size();
    if (at_indices.size() != rank && at_indices.size() != 1)
      fail(at, fmt::format("{} has {} dimensions, not {}", name, rank, at_indices.size()));
    expect('=', "behind what is stored to");
    Expr value = value_for(*to);
    Expr mask = take_word("where") ? expression(kBool, "the condition of a store") : Expr();
    int lanes = 1;
    std::vector<Expr> all = at_indices;
    all.push_back(value);
    if (mask) all.push_back(mask);
    for (const Expr& one : all) {
      const int own = one.dtype().lanes;
      if (own != 1 && lanes != 1 && own != lanes)
        fail(at, fmt::format("a store mixes {} and {} lanes", lanes, own));
      lanes = std::max(lanes, own);
    }
    end_line();
    return std::make_unique<Store>(to, std::move(at_indices), std::move(value), std::move(mask));
  }

  /// "again" refers to the variable of an earlier loop with this name.
  Var variable(const std::string& name, Position at) {
    if (!take_word("again")) return bound_.insert_or_assign(name, Var(name)).first->second;
    const auto found = bound_.find(name);
    if (found == bound_.end()) fail(at, fmt::format("no enclosing loop has the variable '{}'", name));
    return found->second;
  }

  StmtPtr loop(int level) {
    skip_blank(false);
    const Position at = here_;
    const std::string name = any_name("a variable");
    const Var var = variable(name, at);
    word("in");
    const Expr begin = index_sum("the begin of a loop");
    skip_blank(false);
    if (!take_text("..")) fail_expected("'..' between the bounds");
    const Expr extent = extent_from(begin);
    LoopKind kind = LoopKind::Serial;
    for (const LoopKind other : {LoopKind::Parallel, LoopKind::Vectorized, LoopKind::Unrolled}) {
      if (take_word(loop_kind_name(other))) kind = other;
    }
    std::string thread;
    if (kind == LoopKind::Serial && take_word("bind")) {
      kind = LoopKind::Bound;
      expect('(', "behind 'bind'");
      thread = dotted_name("an axis");
      expect(')', "behind the axis");
    }
    end_head();
    const int in = inner(level);
    Annotations facts = annotations(in);
    vars_.emplace_back(name, var);
    auto made = program_.make_loop(var, 1, body(in));
    vars_.pop_back();
    made->min = begin;
    made->extent = extent;
    made->loop_kind = kind;
    made->thread = std::move(thread);
    made->annotations = std::move(facts);
    return made;
  }

  Expr extent_from(const Expr& begin) {
    skip_blank(false);
    const Position at = here_;
    if (take_text("+")) return index_sum("the extent of a loop");
    Expr end = index_sum("the end of a loop");
    int64_t from = 0;
    int64_t to = 0;
    if (!as_const_int(begin, &from) || (from != 0 && !as_const_int(end, &to)))
      fail(at, "expected '+' and the extent of a loop that does not begin at 0");
    return from == 0 ? end : end - begin;
  }

  StmtPtr block(int level) {
    skip_blank(false);
    const Position at = here_;
    const std::string name = any_name("the block's name");
    if (!blocks_.insert(name).second) fail(at, fmt::format("block '{}' already exists", name));
    std::vector<IterVar> iters;
    std::vector<Expr> bindings;
    expect('(', "before the iterators");
    if (!take(')')) {
      do {
        iters.push_back(iterator());
        expect('=', "before what the iterator is bound to");
        bindings.push_back(expression(kIndex, "what an iterator is bound to"));
      } while (take(','));
      expect(')', "behind the iterators");
    }
    end_head();
    const int in = inner(level);
    const Expr predicate = more(in) && take_word("where") ? condition() : bool_imm(true);
    Annotations facts = annotations(in);
    const size_t mark = vars_.size();
    for (const IterVar& iter : iters) vars_.emplace_back(iter.var->name, iter.var);
    StmtPtr init;
    if (more(in) && take_word("init")) {
      end_head();
      init = body_of(in);
    }
    auto made = program_.make_block(name, std::move(iters), std::move(bindings), std::move(init), body(in));
    vars_.resize(mark);
    made->predicate = predicate;
    made->annotations = std::move(facts);
    return made;
  }

  Expr condition() {
    Expr made = expression(kBool, "a condition");
    end_line();
    return made;
  }

  IterVar iterator() {
    IterVar iter;
    skip_blank(false);
    const Position at = here_;
    const std::string name = any_name("an iterator");
    iter.var = variable(name, at);
    expect(':', "behind the iterator");
    skip_blank(false);
    const Position kind_at = here_;
    const std::string kind = this->name("the iterator's kind");
    std::vector<std::string> known;
    for (const IterKind one : {IterKind::Spatial, IterKind::Reduction, IterKind::Opaque}) {
      known.emplace_back(iter_kind_name(one));
      if (kind == known.back()) iter.kind = one;
    }
    if (kind != iter_kind_name(iter.kind))
      fail(kind_at, fmt::format("unknown iterator kind '{}'", kind), suggest(kind, known));
    iter.extent = integer_from(1, kMaxExtent, "the iterator's extent");
    return iter;
  }

  StmtPtr branch(int level) {
    Expr test = expression(kBool, "a condition");
    end_head();
    StmtPtr then_case = body_of(level);
    StmtPtr else_case;
    if (more(level) && take_word("else")) {
      end_head();
      else_case = body_of(level);
    }
    return std::make_unique<If>(std::move(test), std::move(then_case), std::move(else_case));
  }

  StmtPtr allocation(int level) {
    Buffer what = buffer();
    std::optional<int64_t> offset;
    if (take_word("at")) offset = integer_from(0, kMaxExtent, "an offset");
    end_head();
    auto made = std::make_unique<Allocate>(std::move(what), body_of(level));
    made->offset = offset;
    return made;
  }

  StmtPtr barrier() {
    expect('(', "behind 'barrier'");
    std::string of = dotted_name("a level");
    expect(')', "behind the level");
    end_line();
    return std::make_unique<Barrier>(std::move(of));
  }

  StmtPtr async_group(int level) {
    end_head();
    return std::make_unique<AsyncGroup>(body_of(level));
  }

  StmtPtr async_wait() {
    expect('(', "behind 'async_wait'");
    const int64_t pending = integer_from(0, kMaxDepth, "the number of groups");
    expect(')', "behind the number of groups");
    end_line();
    return std::make_unique<AsyncWait>(pending);
  }

  StmtPtr handover(int level) {
    expect('(', "behind 'handover'");
    std::string axis = dotted_name("an axis");
    expect(',', "behind the axis");
    word("versions");
    const int64_t versions = integer_from(1, kMaxDepth, "the number of versions");
    expect(')', "behind the number of versions");
    end_head();
    const int in = inner(level);
    word("produce");
    end_head();
    StmtPtr produce = body_of(in);
    if (!more(in) || !take_word("consume")) fail_expected("'consume:' beside 'produce:'");
    end_head();
    StmtPtr consume = body_of(in);
    return std::make_unique<Handover>(std::move(axis), versions, std::move(produce), std::move(consume));
  }

  Program program_;
  std::map<std::string, Var> bound_;  // the last variable of each name
  std::set<std::string> blocks_;
  int depth_of_stmts_ = 0;
};

}  // namespace

std::vector<Program> parse_programs(std::string_view text, const std::string& file) {
  if (text.size() > kMaxProgramText)
    throw UserError(SourceLocation{file, 1, 1},
                    fmt::format("a program's text larger than {} bytes", kMaxProgramText));
  return ProgramParser(text, file).programs();
}

Program parse_program(std::string_view text, const std::string& file) {
  std::vector<Program> found = parse_programs(text, file);
  if (found.size() != 1) throw UserError(SourceLocation{file, 1, 1}, "more than one program");
  return std::move(found[0]);
}

}  // namespace tunesmith

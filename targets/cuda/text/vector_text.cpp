#include "text/vector_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "machine/vector_loops.h"
#include "tunesmith/performance/vector_access.h"

namespace tunesmith::cuda {
namespace {

constexpr const char* kComponents = "xyzw";

std::string component_type(DType type) {
  if (type.is_float() && type.bits >= 32) return type.bits == 64 ? "double" : "float";
  if (type.bits == 64 && !type.is_index()) return type == kU64 ? "ulonglong" : "longlong";
  if (type.is_index() || type.bits == 32) return type == kU32 ? "uint" : "int";
  if (type.bits == 16) return type == kI16 ? "short" : "ushort";
  return type == kI8 ? "char" : "uchar";
}

/// The bits in an unsigned component.
std::string bits_of(DType type, const std::string& element) {
  return fmt::format("(unsigned)({}){}", type.bits == 16 ? "unsigned short" : "unsigned char", element);
}

/// One store.
class VectorStore {
 public:
  VectorStore(const Store& store, const ExecutionModel& execution, Names& names, ExprText& exprs)
      : store_(store),
        execution_(execution),
        names_(names),
        exprs_(exprs),
        ranges_(Analyzer::at(store)),
        lanes_(store.indices[0].dtype().lanes),
        type_(store.buffer->dtype) {}

  std::vector<std::string> lines() {
    const bool whole = is_one_access(store_, {store_.buffer, store_.indices}, execution_, kAccessBytes);
    const Expr guard = store_.mask ? same_in_all_lanes(store_.mask, ranges_) : bool_imm(true);
    if (guard && !is_const_int(guard, 1)) {
      exprs_.hold(guard);
      prefix_ = fmt::format("if ({}) ", exprs_.text(guard, ranges_));
    }
    const LoadNode* copied = store_.value.as<LoadNode>();
    if (whole && copied != nullptr && copied->buffer->dtype == type_ && is_whole(*copied)) {
      lines_.push_back(prefix_ + place(store_.buffer, store_.indices[0]) + " = " + loaded(*copied) + ";");
    } else {
      by_lanes(whole, guard);
    }
    if (!prefix_.empty()) exprs_.release();
    return std::move(lines_);
  }

 private:
  bool is_whole(const LoadNode& load) const {
    return is_one_access(store_, {load.buffer, load.indices(), &load}, execution_, kAccessBytes);
  }

  void by_lanes(bool whole, const Expr& guard) {
    const Expr value = vectors_loaded(store_.value);
    std::vector<std::string> values;
    std::vector<std::string> stores;
    for (int lane = 0; lane < lanes_; ++lane) {
      const Expr mask = store_.mask && !guard ? ranges_.simplify(in_lane(store_.mask, lane)) : Expr();
      if (mask && is_const_int(mask, 0)) continue;
      const bool masked = mask && !is_const_int(mask, 1);
      if (masked) exprs_.hold(mask);
      values.push_back(exprs_.stored(type_, exprs_.text(ranges_.simplify(lane_value(value, lane)), ranges_)));
      if (masked) exprs_.release();
      if (whole) continue;
      const Expr at = ranges_.simplify(in_lane(store_.indices[0], lane));
      stores.push_back(fmt::format("{}{} = {};",
                                   masked ? fmt::format("if ({}) ", exprs_.text(mask, ranges_)) : "",
                                   exprs_.element(store_.buffer, at, ranges_), values.back()));
    }
    if (whole)
      stores = {fmt::format("{} = {};", place(store_.buffer, store_.indices[0]),
                            VectorType(type_, lanes_).made_of(type_, values))};
    lines_.insert(lines_.end(), stores.begin(), stores.end());
    if (prefix_.empty()) return;
    // A load that is valid only under the condition is placed under it, too.
    for (std::string& line : lines_) line.insert(0, "  ");
    lines_.insert(lines_.begin(), prefix_ + "{");
    lines_.emplace_back("}");
  }

  /// `*(float4*)&A[i]`
  std::string place(const Buffer& buffer, const Expr& index, const char* qualifier = "") {
    const Expr begin = ranges_.simplify(index.arg(0));
    return fmt::format("*({}{}*)&{}", qualifier, VectorType(buffer->dtype, lanes_).name,
                       exprs_.element(buffer, begin, ranges_));
  }

  std::string loaded(const LoadNode& load) {
    const std::string vector = place(load.buffer, load.indices()[0], "const ");
    const Expr mask = load.mask() ? same_in_all_lanes(load.mask(), ranges_) : bool_imm(true);
    if (exprs_.holds(mask)) return vector;
    return fmt::format("{} ? {} : {}{{}}", exprs_.text(mask, ranges_, ExprText::kOperand), vector,
                       VectorType(load.buffer->dtype, lanes_).name);
  }

  /// The value, with whole-vector loads as variables that preceding lines define.
  Expr vectors_loaded(const Expr& expr) {
    const LoadNode* load = expr.as<LoadNode>();
    if (load != nullptr && load->dtype.lanes > 1 && is_whole(*load)) {
      for (const auto& [known, variable] : vectors_) {
        if (equal(known, expr)) return variable;
      }
      const Var variable("vector", expr.dtype());
      const std::string name = names_.fresh(load->buffer->name + "_vector");
      names_.set(variable.get(), name);
      lines_.push_back(fmt::format("const {} {} = {};", VectorType(load->buffer->dtype, lanes_).name, name,
                                   loaded(*load)));
      vectors_.emplace_back(expr, variable);
      return variable;
    }
    if (load != nullptr || expr.args().empty()) return expr;
    std::vector<Expr> args;
    for (const Expr& arg : expr.args()) args.push_back(vectors_loaded(arg));
    return with_args(expr, std::move(args));
  }

  Expr lane_value(const Expr& value, int lane) {
    return in_lane(rewrite_expr(value,
                                [&](const Expr& part) -> Expr {
                                  for (const auto& [known, variable] : vectors_) {
                                    if (part.same_as(variable)) return element(known, variable, lane);
                                  }
                                  return part;
                                }),
                   lane);
  }

  Expr element(const Expr& load, const Var& vector, int lane) {
    const DType type = load.as<LoadNode>()->buffer->dtype;
    const Var scalar("element", type);
    const std::string stored = VectorType(type, lanes_).element(type, names_.of(vector.get()), lane);
    names_.set(scalar.get(), exprs_.value_of(type, stored));
    elements_.push_back(scalar);
    return broadcast(scalar, lanes_);
  }

  const Store& store_;
  const ExecutionModel& execution_;
  Names& names_;
  ExprText& exprs_;
  Analyzer ranges_;
  int lanes_;
  DType type_;
  std::string prefix_;  // the condition of all lanes
  std::vector<std::string> lines_;
  std::vector<std::pair<Expr, Var>> vectors_;
  std::vector<Var> elements_;  // kept alive: names are keyed by address
};

}  // namespace

VectorType::VectorType(DType element, int lanes) {
  const int bytes = element.bytes() * lanes;
  if (lanes <= 4) {
    name = fmt::format("{}{}", component_type(element), lanes);
  } else {
    name = fmt::format("uint{}", bytes / 4);
    packed = 4 / element.bytes();
  }
}

std::string VectorType::element(DType type, const std::string& vector, int lane) const {
  std::string text = fmt::format("{}.{}", vector, kComponents[lane / packed]);
  if (packed > 1) {
    const int shift = lane % packed * type.bits;
    text =
        fmt::format("({}){}", storage_type(type), shift == 0 ? text : fmt::format("({} >> {})", text, shift));
  }
  return text;
}

std::string VectorType::made_of(DType type, const std::vector<std::string>& elements) const {
  std::vector<std::string> components;
  for (size_t i = 0; i < elements.size(); i += static_cast<size_t>(packed)) {
    std::string text = elements[i];
    for (size_t k = 0; k < static_cast<size_t>(packed) && packed > 1; ++k) {
      const std::string bits = bits_of(type, "(" + elements[i + k] + ")");
      text =
          k == 0 ? bits : fmt::format("{} | {} << {}", text, bits, k * 8 * static_cast<size_t>(type.bytes()));
    }
    components.push_back(std::move(text));
  }
  return fmt::format("make_{}({})", name, fmt::join(components, ", "));
}

std::vector<std::string> vector_store_text(const Store& store, const ExecutionModel& execution, Names& names,
                                           ExprText& exprs) {
  return VectorStore(store, execution, names, exprs).lines();
}

}  // namespace tunesmith::cuda

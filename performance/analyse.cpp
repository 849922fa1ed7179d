#include <algorithm>
#include <cmath>

#include "cache_traffic.h"
#include "footprint.h"
#include "store_facts.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/affine/value_at.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::features {
namespace {

/// Divisions and remainders are evaluated for this many iterations.
constexpr double kTried = 16.0;

/// The motion by the loop at `level`, with the other loops at 0.
Motion tried_out(const StoreFacts& facts, const Expr& index, size_t level) {
  const double trips = facts.levels[level].trips;
  const Motion unknown{true, 0.0, trips};
  if (trips > kTried) return unknown;
  Point point;
  for (const Level& other : facts.levels) point.emplace_back(other.loop->var, 0);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < static_cast<int64_t>(trips); ++i) {
    point[level].second = i;
    const std::optional<int64_t> place = value_at(point, index);
    if (!place) return unknown;
    places.push_back(*place);
  }
  std::ranges::sort(places);
  const auto rest = std::ranges::unique(places);
  places.erase(rest.begin(), rest.end());
  if (places.size() < 2) return {};
  const int64_t stride = places[1] - places[0];
  bool even = true;
  for (size_t i = 2; i < places.size(); ++i) even = even && places[i] - places[i - 1] == stride;
  return {true, even ? static_cast<double>(stride) : 0.0, static_cast<double>(places.size())};
}

/// `form` is that of `index`.
Motion motion_of(const StoreFacts& facts, const Expr& index, const LinearForm& form, size_t level) {
  const Var& var = facts.levels[level].loop->var;
  Motion motion;
  for (const LinearForm::Term& term : form.terms) {
    if (term.atom.get() == var.get()) {
      motion = {true, std::abs(static_cast<double>(term.coefficient)), facts.levels[level].trips};
    } else if (!term.atom.is(ExprKind::Var) &&
               any_of_expr(term.atom, [&](const Expr& part) { return part.get() == var.get(); })) {
      return tried_out(facts, index, level);
    }
  }
  return motion;
}

/// Adds one access of `buffer` at `index` to the store's.
void note_access(StoreFacts& facts, const Buffer& buffer, const Expr& index, bool write) {
  const bool is_ramp = index.is(ExprKind::Ramp);
  const Expr& first = is_ramp ? index.arg(0) : index;
  const LinearForm form = Analyzer().linear(first);
  auto found =
      std::ranges::find_if(facts.accesses, [&](const Access& access) { return access.buffer == buffer; });
  if (found == facts.accesses.end()) {
    Access access;
    access.buffer = buffer;
    access.in_register = buffer->scope == kScopeRegister;
    access.element_bytes = static_cast<double>(buffer->dtype.bytes());
    access.motion.resize(facts.levels.size());
    access.index = first;
    access.form = form;
    facts.accesses.push_back(std::move(access));
    found = facts.accesses.end() - 1;
  }
  found->count += 1.0;
  (write ? found->writes : found->reads) = true;
  found->lanes = std::max(found->lanes, static_cast<double>(index.dtype().lanes));
  if (index.dtype().is_vector()) {
    int64_t stride = 0;
    if (!is_ramp || !as_const_int(index.arg(1), &stride)) stride = 0;
    found->contiguous = found->contiguous && stride == 1;
    found->lane_stride = std::abs(static_cast<double>(stride));
  }
  for (size_t i = 0; i < facts.levels.size(); ++i) {
    const Motion motion = motion_of(facts, first, form, i);
    Motion& known = found->motion[i];
    const double places = std::max(motion.places, known.places);
    if (motion.moves && (!known.moves || motion.stride > known.stride)) known = motion;
    known.places = places;
  }
}

// ---- Arithmetic ----

void count_type(StoreFacts& facts, DType type, double count) {
  OperandType which = kTypeF32;
  if (type.is_float()) {
    which = type.bits == 64 ? kTypeF64 : type.bits == 32 ? kTypeF32 : kTypeHalf;
  } else {
    which = type.bits == 64 ? kTypeI64 : type.bits == 32 ? kTypeI32 : kTypeI8;
  }
  facts.by_type[which] += count;
}

/// Counts `by_float` or `by_int`, depending on the type; indices and conditions have their own classes.
void count_operation(StoreFacts& facts, DType type, Operation by_float, Operation by_int,
                     double weight = 1.0) {
  if (type.is_index()) {
    facts.operations[kIndexArithmetic] += weight;
    return;
  }
  const double lanes = type.lanes * weight;
  if (type.is_bool()) {
    facts.operations[kLogical] += lanes;
    return;
  }
  facts.operations[type.is_float() ? by_float : by_int] += lanes;
  facts.arithmetic += lanes;
  count_type(facts, type, lanes);
  facts.vector_operations += facts.machine.vector_bits > 0.0
                                 ? weight * std::ceil(type.lanes * type.bits / facts.machine.vector_bits)
                                 : lanes;
}

/// A product and its addition to a sum are one operation: counts that, and subtracts the product, which its
/// own node counts.
void count_sum(StoreFacts& facts, const Expr& sum) {
  const DType type = sum.dtype();
  const bool fused = type.is_float() && (sum.arg(0).is(ExprKind::Mul) || sum.arg(1).is(ExprKind::Mul));
  if (!fused) return count_operation(facts, type, kFloatAdd, kIntAdd);
  count_operation(facts, type, kFloatFma, kFloatFma);
  count_operation(facts, type, kFloatMul, kFloatMul, -1.0);
  facts.arithmetic += type.lanes;
}

void count_node(StoreFacts& facts, const Expr& node) {
  switch (node.kind()) {
    case ExprKind::Add:
    case ExprKind::Sub:
      return count_sum(facts, node);
    case ExprKind::Mul:
      return count_operation(facts, node.dtype(), kFloatMul, kIntMul);
    case ExprKind::Div:
      if (node.arg(1).is(ExprKind::Broadcast)) facts.divided_by_one += node.dtype().lanes;
      return count_operation(facts, node.dtype(), kFloatDiv, kIntDiv);
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod:
      return count_operation(facts, node.dtype(), kFloatDiv, kIntDiv);
    case ExprKind::Min:
    case ExprKind::Max:
      return count_operation(facts, node.dtype(), kFloatMinMax, kIntMinMax);
    case ExprKind::Eq:
    case ExprKind::Ne:
    case ExprKind::Lt:
    case ExprKind::Le:
      return count_operation(facts, node.arg(0).dtype(), kFloatCompare, kIntCompare);
    case ExprKind::And:
    case ExprKind::Or:
    case ExprKind::Not:
      return count_operation(facts, node.dtype(), kLogical, kLogical);
    case ExprKind::Select:
      return count_operation(facts, node.dtype(), kFloatSelect, kIntSelect);
    case ExprKind::Cast: {
      const DType from = node.arg(0).dtype();
      return count_operation(facts, from.is_float() ? from : node.dtype(), kFloatCast, kIntCast);
    }
    case ExprKind::Call:
      return count_operation(facts, node.dtype(), kFloatCall,
                             is_bit_op(node.as<CallNode>()->op) ? kIntAdd : kFloatCall);
    default:
      return;
  }
}

void read_expressions(StoreFacts& facts) {
  const Store& store = *facts.store;
  note_access(facts, store.buffer, store.indices[0], true);
  const auto visit = [&](const Expr& node) {
    count_node(facts, node);
    const LoadNode* load = node.as<LoadNode>();
    if (load == nullptr) {
      if (node.is(ExprKind::Broadcast) && node.arg(0).is(ExprKind::Load)) facts.broadcasts += 1.0;
      return;
    }
    note_access(facts, load->buffer, load->indices()[0], false);
    if (load->mask()) facts.masked_loads += 1.0;
    const Expr& index = load->indices()[0];
    if (index.dtype().is_vector() && !(index.is(ExprKind::Ramp) && is_const_int(index.arg(1), 1)))
      facts.gathers += 1.0;
    facts.accumulates = facts.accumulates || load->buffer == store.buffer;
  };
  for (const Expr& index : store.indices) walk_expr(index, visit);
  walk_expr(store.value, visit);
  if (store.mask) walk_expr(store.mask, visit);
  facts.lanes = static_cast<double>(store.indices[0].dtype().lanes);
}

// ---- Memory ----

/// Computes `bytes_inside` and related fields from the innermost loop outwards.
void measure_footprints(StoreFacts& facts, Access& access) {
  const size_t depth = facts.levels.size();
  const double buffer_bytes = static_cast<double>(access.buffer->bytes());
  const double line = facts.machine.line_bytes;
  std::vector<Step> steps;
  if (access.lanes > 1.0) steps.push_back({access.lane_stride, access.lanes});
  access.bytes_inside.assign(depth + 1, 0.0);
  access.lines_inside.assign(depth + 1, 0.0);
  access.runs_inside.assign(depth + 1, 1.0);
  access.step_inside.assign(depth + 1, 0.0);
  for (size_t from = depth + 1; from-- > 0;) {
    if (from < depth) {
      const Motion& motion = access.motion[from];
      if (!motion.moves || facts.levels[from].trips <= 1.0) {
        access.bytes_inside[from] = access.bytes_inside[from + 1];
        access.lines_inside[from] = access.lines_inside[from + 1];
        access.runs_inside[from] = access.runs_inside[from + 1];
        access.step_inside[from] = access.step_inside[from + 1];
        continue;
      }
      const Step step{motion.stride, motion.places};
      const auto after = [](const Step& a, const Step& b) {
        return b.stride == 0.0 ? a.stride != 0.0 : a.stride != 0.0 && a.stride < b.stride;
      };
      steps.insert(std::upper_bound(steps.begin(), steps.end(), step, after), step);
    }
    const Footprint touched = footprint(steps);
    const double run_bytes = touched.elements / touched.runs * access.element_bytes;
    access.bytes_inside[from] = std::min(touched.elements * access.element_bytes, buffer_bytes);
    access.lines_inside[from] =
        line > 0.0 ? std::min(touched.runs * std::ceil(run_bytes / line), std::ceil(buffer_bytes / line))
                   : 0.0;
    access.runs_inside[from] = touched.runs;
    access.step_inside[from] = touched.step * access.element_bytes;
  }
}

/// The first of the innermost unrolled loops, whose bodies are straight code.
size_t straight_code(const StoreFacts& facts) {
  size_t straight = facts.levels.size();
  while (straight > 0 && facts.is(straight - 1, LoopKind::Unrolled)) --straight;
  return straight;
}

/// The number of the machine's vectors per access.
double vectors_of(const StoreFacts& facts, const Access& access) {
  if (!access.contiguous || facts.machine.vector_bits <= 0.0) return access.lanes;
  return std::ceil(access.lanes * access.element_bytes * 8.0 / facts.machine.vector_bits);
}

/// The loops from `outside` inwards do not move what the straight code
/// accesses: it stays in registers during them, if there are enough.
struct Held {
  size_t outside = 0;
  double places = 1.0;  // in the straight code
};
Held held_by(const StoreFacts& facts, const Access& access) {
  Held held{straight_code(facts), 1.0};
  for (size_t i = held.outside; i < facts.levels.size(); ++i) {
    if (access.motion[i].moves) held.places *= access.motion[i].places;
  }
  const double registers = std::max(facts.machine.vector_registers, 1.0);
  if (held.places > 1.0 && held.places * vectors_of(facts, access) > registers) return held;
  while (held.outside > 0 && !access.motion[held.outside - 1].moves) --held.outside;
  return held;
}

/// The number of executed loads and stores: straight code accesses each place once.
double instructions_of(const StoreFacts& facts, const Access& access) {
  const Held held = held_by(facts, access);
  double count = access.count * held.places;
  for (size_t i = 0; i < held.outside; ++i) count *= facts.levels[i].trips;
  return count * vectors_of(facts, access);
}

void find_reuse(StoreFacts& facts, Access& access, bool by_statement) {
  for (size_t i = facts.levels.size(); i-- > 0;) {
    if (access.motion[i].moves || facts.levels[i].trips <= 1.0) continue;
    access.reuse_level = static_cast<int>(i);
    access.reuse_iterations = facts.inside[i + 1];
    for (const Access& other : facts.accesses) {
      if (!other.in_register) access.reuse_bytes += other.bytes_inside[i + 1];
    }
    access.reuse_count = facts.levels[i].trips;
    return;
  }
  access.reuse_by_statement = by_statement;
}

void measure_curve(StoreFacts& facts) {
  // (log2 of executions, operations per byte), from one execution to all
  std::vector<std::pair<double, double>> points;
  for (size_t i = facts.levels.size() + 1; i-- > 0;) {
    double bytes = 0.0;
    for (const Access& access : facts.accesses) {
      if (!access.in_register) bytes += access.bytes_inside[i];
    }
    const double intensity = bytes > 0.0 ? facts.arithmetic * facts.inside[i] / bytes : 0.0;
    points.emplace_back(std::log2(std::max(facts.inside[i], 1.0)), intensity);
  }
  size_t next = 0;
  for (size_t k = 0; k < StoreFacts::kCurvePoints; ++k) {
    const double x = points.back().first * static_cast<double>(k) / (StoreFacts::kCurvePoints - 1);
    while (next + 1 < points.size() && points[next].first < x) ++next;
    const auto& [right, high] = points[next];
    const auto& [left, low] = points[next == 0 ? 0 : next - 1];
    facts.curve[k] = right > left ? low + (high - low) * std::min(1.0, (x - left) / (right - left)) : high;
  }
}

}  // namespace

Machine::Machine(const DeviceModel& device)
    : cores(device.get_or("cores", 0.0)),
      vector_bits(device.get_or("vector_bits", 0.0)),
      vector_registers(device.get_or("vector_registers", 0.0)),
      fma_per_cycle(device.get_or("fma_per_cycle", 0.0)),
      l1_bytes(device.get_or("l1_bytes", 0.0)),
      l2_bytes(device.get_or("l2_bytes", 0.0)),
      l3_bytes(device.get_or("l3_bytes", 0.0)),
      l1_way_bytes(device.get_or("l1_way_bytes", 0.0)),
      l2_way_bytes(device.get_or("l2_way_bytes", 0.0)),
      line_bytes(device.get_or("cache_line_bytes", 0.0)),
      max_threads_per_block(device.get_or("max_threads_per_block", 0.0)),
      max_shared_bytes(device.get_or("max_shared_bytes", 0.0)) {}

double StoreFacts::product(LoopKind kind) const {
  double trips = 1.0;
  for (size_t i = 0; i < levels.size(); ++i) trips *= is(i, kind) ? levels[i].trips : 1.0;
  return trips;
}

void analyse(StoreFacts& facts, const std::map<const BufferNode*, int>& uses,
             std::span<const StoreFacts> earlier) {
  const size_t depth = facts.levels.size();
  facts.inside.assign(depth + 1, 1.0);
  for (size_t i = depth; i-- > 0;) facts.inside[i] = facts.inside[i + 1] * facts.levels[i].trips;
  facts.executions = facts.inside.front();
  read_expressions(facts);

  for (Access& access : facts.accesses) {
    access.elements = facts.executions * access.count * access.lanes;
    measure_footprints(facts, access);
    if (!access.in_register) access.instructions = instructions_of(facts, access);
  }
  std::stable_sort(facts.accesses.begin() + 1, facts.accesses.end(), [](const Access& a, const Access& b) {
    return a.elements * a.element_bytes > b.elements * b.element_bytes;
  });
  measure_traffic(facts, earlier);
  for (Access& access : facts.accesses) find_reuse(facts, access, uses.at(access.buffer.get()) > 1);
  measure_curve(facts);

  const Access& written = facts.accesses.front();
  facts.accumulates_in_registers =
      facts.accumulates && (written.in_register || held_by(facts, written).outside < straight_code(facts));
  const double bits = facts.lanes * static_cast<double>(facts.store->buffer->dtype.bits);
  facts.chains = facts.machine.vector_bits > 0.0 ? std::ceil(bits / facts.machine.vector_bits) : facts.lanes;
  for (size_t i = 0; i < depth; ++i) {
    if (facts.is(i, LoopKind::Unrolled) && facts.spatial(i)) facts.chains *= facts.levels[i].trips;
  }
}

}  // namespace tunesmith::features

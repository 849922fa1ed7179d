#include "text/kernel_text.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "machine/execution.h"
#include "text/async_copy_text.h"
#include "text/call_text.h"
#include "text/calls_under_way.h"
#include "text/expr_text.h"
#include "text/kernel_buffers.h"
#include "text/kernel_needs.h"
#include "text/produced_loop.h"
#include "text/vector_text.h"
#include "text/wrapped_counters.h"
#include "text/written_steps.h"
#include "tunesmith/grid/launches.h"
#include "tunesmith/grid/tile_order.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::cuda {
namespace {

/// Writes one statement of the root as a kernel.
class KernelWriter {
 public:
  KernelWriter(const LoweredProgram& lowered, const ExecutionModel& execution, int64_t static_shared_bytes,
               const Stmt& stmt, std::string name, TextForm form)
      : lowered_(lowered),
        execution_(execution),
        static_shared_bytes_(static_shared_bytes),
        root_(stmt),
        form_(form),
        exprs_(names_) {
    kernel_.name = std::move(name);
  }

  KernelText write() {
    for (const Buffer& buffer : global_buffers(lowered_, root_)) {
      if (buffer->span() > std::numeric_limits<int32_t>::max())
        throw LowerError("cuda", "a buffer is too large for 32-bit indices", buffer->name);
      names_.set(buffer.get(), names_.fresh(buffer->name));
      kernel_.arguments.push_back(buffer);
    }
    depth_ = 1;
    before_barrier_ = text_before_barriers(root_);
    plan_shared();
    stmt(root_);
    kernel_.needs_header = needs_header(root_);
    kernel_.stack_bytes = stack_bytes(root_);
    kernel_.helpers = exprs_.helpers();
    kernel_.maps = std::move(copies_.maps);
    std::vector<std::string> parameters;
    for (const Buffer& buffer : kernel_.arguments) {
      parameters.push_back(fmt::format("{}{}* __restrict__ {}", is_written(root_, buffer) ? "" : "const ",
                                       storage_type(buffer->dtype), names_.of(buffer.get())));
    }
    for (const MappedTensor& map : kernel_.maps) {
      if (is_written(root_, map.buffer))
        throw LowerError("cuda", "a bulk copy reads what its launch writes", map.buffer->name);
      parameters.push_back(fmt::format("const __grid_constant__ TensorMap {}", map.name));
    }
    kernel_.text =
        fmt::format("extern \"C\" __global__ void __launch_bounds__({}{}) {}({}) {{\n{}}}\n",
                    kernel_.launch.threads(), form_ == TextForm::Usual && !shares_registers_ ? "" : ", 1",
                    kernel_.name, fmt::join(parameters, ", "), body_);
    return std::move(kernel_);
  }

 private:
  void line(const std::string& text) { body_ += std::string(2 * depth_, ' ') + text + "\n"; }

  void nested(const Stmt& inner) {
    ++depth_;
    stmt(inner);
    --depth_;
  }

  void stmt(const Stmt& at) {
    switch (at.kind) {
      case StmtKind::Seq:
        for (const StmtPtr& child : static_cast<const Seq&>(at).children()) stmt(*child);
        return;
      case StmtKind::Loop:
        return loop(static_cast<const Loop&>(at));
      case StmtKind::Store:
        return store(static_cast<const Store&>(at));
      case StmtKind::If: {
        const auto& branch = static_cast<const If&>(at);
        if (consumers_ != nullptr && equal(branch.condition, consumers_->is_consumer()))
          return stmt(*branch.then_case());
        line(fmt::format("if ({}) {{", exprs_.text(branch.condition, Analyzer::at(at))));
        nested(*branch.then_case());
        if (branch.else_case() != nullptr) {
          line("} else {");
          nested(*branch.else_case());
        }
        return line("}");
      }
      case StmtKind::Allocate:
        return allocate(static_cast<const Allocate&>(at));
      case StmtKind::Barrier:
        return barrier();
      case StmtKind::AsyncGroup: {
        asynchronous_ = true;
        stmt(*static_cast<const AsyncGroup&>(at).body());
        asynchronous_ = false;
        return line("cp_async_commit();");
      }
      case StmtKind::AsyncWait:
        return line(fmt::format("cp_async_wait<{}>();", static_cast<const AsyncWait&>(at).pending));
      case StmtKind::Handover:  // of a loop with a producer, which writes it
      case StmtKind::Block:
        break;
    }
    throw LowerError("cuda", "a block was not lowered", "");
  }

  void barrier() {
    if (!before_barrier_.empty()) line(before_barrier_);
    line(consumers_ == nullptr
             ? "__syncthreads();"
             : fmt::format("group_barrier<1, {}>();", consumers_->consumers() * kWarpgroup));
  }

  void loop(const Loop& at) {
    if (has_producer(at)) return consume(at);
    const std::string after = after_.empty() ? left_under_way(at) : "";
    if (!after.empty()) {
      after_ = after;
      loop(at);
      after_.clear();
      return line(waiting_line(after, 0));
    }
    if (is_call(at)) return call(at);
    if (at.loop_kind == LoopKind::Bound) return bound(at);
    written_loop(at, [&] { nested(*at.body()); });
  }

  /// A loop around the text that `body` writes.
  template <class Body>
  void written_loop(const Loop& at, const Body& body) {
    const std::string name = names_.fresh(at.var->name);
    names_.set(at.var.get(), name);
    const Analyzer ranges = Analyzer::at(at);
    const std::string first = exprs_.text(at.min, ranges);
    const std::string end = exprs_.text(ranges.simplify(at.min + at.extent), ranges, ExprText::kOperand);
    std::vector<WrappedCounter> counters;
    if (at.loop_kind == LoopKind::Serial) counters = wrapped_counters(at);
    for (WrappedCounter& counter : counters) {
      counter.name = names_.fresh(fmt::format("{}_in_{}", name, counter.period));
      line(fmt::format("int {} = {};", counter.name, counter.first));
      exprs_.name(counter.value, counter.name);
    }
    const bool rolled = form_ == TextForm::Rolled && !indexes_registers(at);
    if (at.loop_kind == LoopKind::Unrolled) line(rolled ? "#pragma unroll 1" : "#pragma unroll");
    // For any extent: twins differ only in numbers.
    const int64_t steps = steps_of(*at.body());
    if (at.loop_kind == LoopKind::Serial && (rolled || 4 * steps >= kMaxSteps))
      line(fmt::format("#pragma unroll {}", rolled ? 1 : kMaxSteps / steps));
    line(fmt::format("for (int {0} = {1}; {0} < {2}; ++{0}) {{", name, first, end));
    body();
    for (size_t i = 0; i < counters.size(); ++i) {
      // Copies the value of the counter that is one step ahead, if any.
      const auto next = std::find_if(counters.begin() + static_cast<std::ptrdiff_t>(i), counters.end(),
                                     [&](const WrappedCounter& other) { return other.follows(counters[i]); });
      line(next != counters.end()
               ? fmt::format("  {} = {};", counters[i].name, next->name)
               : fmt::format("  {0} = {0} == {1} ? 0 : {0} + 1;", counters[i].name, counters[i].period - 1));
    }
    line("}");
  }

  /// The producer, which runs ahead of the consumers, limited by the versions they have released, and leaves
  /// them when it has fetched all. `body`: of the threads.
  void part_ways(const Stmt& body) {
    const Loop* const at = find_first<Loop>(body, has_producer);
    if (at == nullptr) return;
    produced_.emplace(*at);
    produced_->check_parts(body);
    for (const Allocate* allocate : shared_allocations(body)) declare(*allocate);
    make_barriers(*produced_);
    const auto registers = shared_registers(produced_->consumers());
    shares_registers_ = registers.has_value();
    line(fmt::format("if ({}) {{", exprs_.text(produced_->is_producer(), Analyzer::at(*at))));
    if (registers) line(fmt::format("  reg_dealloc<{}>();", registers->of_producer));
    line(fmt::format("  if ({}) {{", exprs_.text(produced_->first_of_group(), Analyzer::at(*at))));
    depth_ += 2;
    produce(*at);
    depth_ -= 2;
    line("  }");
    line("  return;");
    line("}");
    if (registers) line(fmt::format("reg_alloc<{}>();", registers->of_consumer));
    consumers_ = &*produced_;
  }

  void make_barriers(const ProducedLoop& produced) {
    arrived_ = names_.fresh("arrived");
    released_ = names_.fresh("released");
    line(fmt::format("unsigned long long* const {} = (unsigned long long*)({} + {});", arrived_,
                     shared_block_, barriers_at_));
    line(fmt::format("unsigned long long* const {} = {} + {};", released_, arrived_, produced.versions()));
    line(fmt::format("if ({}) {{", exprs_.text(produced.first_thread(), Analyzer::at(produced.loop()))));
    line(fmt::format("  for (int i = 0; i < {}; ++i) mbar_init({} + i, 1), mbar_init({} + i, {});",
                     produced.versions(), arrived_, released_, produced.consumers()));
    line("  fence_mbar_init();");
    line("}");
    barrier();
  }

  /// The barrier of the version of an iteration.
  std::string stage(const std::string& barriers) {
    const Analyzer ranges = Analyzer::at(*produced_->loop().body());
    const std::string version =
        exprs_.text(ranges.simplify(produced_->version()), ranges, ExprText::kOperand);
    return barriers.empty() ? version : fmt::format("{} + {}", barriers, version);
  }

  std::string next_phase(const std::string& phase) {
    return fmt::format("  {} ^= {} == {};", phase, stage(""), produced_->versions() - 1);
  }

  void produce(const Loop& at) {
    const std::string phase = names_.fresh("phase");
    line(fmt::format("int {} = 0;", phase));
    written_loop(at, [&] {
      line(fmt::format("  mbar_wait({}, {} ^ 1);", stage(released_), phase));
      line(fmt::format("  mbar_expect({}, {});", stage(arrived_), produced_->fetched_bytes()));
      copies_.arrival = stage(arrived_);
      nested(produced_->fetch());
      copies_.arrival.clear();
      line(next_phase(phase));
    });
  }

  void consume(const Loop& at) {
    const std::string phase = names_.fresh("phase"), before = names_.fresh("before");
    line(fmt::format("int {} = 0; unsigned long long* {} = {};", phase, before, released_));
    after_ = produced_->waits();
    written_loop(at, [&] {
      line(fmt::format("  mbar_wait({}, {});", stage(arrived_), phase));
      nested(produced_->rest());
      // The calls of an iteration are asynchronous: their inputs are released in the next iteration.
      line("  " + waiting_line(produced_->waits(), produced_->calls()));
      line(fmt::format("  if ({} > 0 && {}) mbar_arrive({});", names_.of(at.var.get()),
                       exprs_.text(produced_->first_of_group(), Analyzer::at(at)), before));
      line(fmt::format("  {} = {};", before, stage(released_)));
      line(next_phase(phase));
    });
    line(waiting_line(std::exchange(after_, ""), 0));
    barrier();
  }

  void bound(const Loop& at) {
    const std::string name = names_.fresh(at.var->name);
    names_.set(at.var.get(), name);
    const GridAxis axis = grid_axis(at.thread);
    auto& shape = axis.of_block ? kernel_.launch.grid : kernel_.launch.block;
    shape[axis.position] = static_cast<unsigned>(at.const_extent());
    std::string value = fmt::format("{}.{}", axis.of_block ? "blockIdx" : "threadIdx", "xyz"[axis.position]);
    // The compiler cannot know that this is uniform in a warp; the shuffle tells it.
    if (at.thread == "warpgroup.x") value = fmt::format("__shfl_sync(0xffffffffu, {}, 0)", value);
    if (const auto order = tile_order_of(at))
      value =
          fmt::format("grouped_tile<{}, {}, {}>({})", at.const_extent(), order->columns, order->group, value);
    line(fmt::format("const int {} = {};", name, value));
    const auto is_bound = [](const Loop& loop) { return loop.loop_kind == LoopKind::Bound; };
    if (find_first<Loop>(*at.body(), is_bound) == nullptr) part_ways(*at.body());
    stmt(*at.body());
  }

  void allocate(const Allocate& at) {
    if (!declared_.contains(at.buffer.get())) declare(at);
    stmt(*at.body());
  }

  void declare(const Allocate& at) {
    const Buffer& buffer = at.buffer;
    declared_.insert(buffer.get());
    const std::string name = names_.fresh(buffer->name);
    names_.set(buffer.get(), name);
    if (const TensorOperand* held = held_as(at)) {
      line(held_declaration(*held, buffer, name));
    } else if (buffer->scope == kScopeShared && !shared_block_.empty()) {
      const std::string type = storage_type(buffer->dtype);
      line(fmt::format("{0}* const {1} = ({0}*)({2} + {3});", type, name, shared_block_, *at.offset));
    } else {
      const std::string shared = fmt::format("__shared__ __align__({}) ",
                                             execution_.find_scope(kScopeShared)->alignment_of(*buffer));
      line(fmt::format("{}{} {}[{}];", buffer->scope == kScopeShared ? shared : "",
                       storage_type(buffer->dtype), name, std::max<int64_t>(buffer->span(), 1)));
    }
  }

  /// Buffers are separate arrays if possible. One block contains
  /// them all if two overlap or if they exceed the static limit.
  void plan_shared() {
    const SharedPlan plan(root_, *execution_.find_scope(kScopeShared));
    const Loop* const produced = find_first<Loop>(root_, has_producer);
    barriers_at_ = (plan.bytes + 7) / 8 * 8;
    const int64_t bytes =
        produced == nullptr ? plan.bytes : barriers_at_ + ProducedLoop(*produced).barrier_bytes();
    if (const int64_t most = execution_.find_scope(kScopeShared)->capacity; bytes > most)
      throw LowerError("cuda", "barriers in shared memory find no room there",
                       fmt::format("{} bytes, of at most {}", bytes, most));
    const bool dynamic = bytes > static_shared_bytes_;
    if (!plan.shares && !dynamic && produced == nullptr) return;
    shared_block_ = names_.fresh("shared_memory");
    line(fmt::format("{}__shared__ __align__({}) char {}[{}];", dynamic ? "extern " : "", plan.alignment,
                     shared_block_, dynamic ? "" : std::to_string(bytes)));
    if (dynamic) kernel_.launch.dynamic_shared_bytes = static_cast<size_t>(bytes);
  }

  void call(const Loop& at) {
    for (const std::string& text : call_lines(at, names_, exprs_, copies_)) line(text);
  }

  void store(const Store& at) {
    if (asynchronous_) {
      if (const auto copy = async_copy_text(at, execution_, exprs_)) return line(*copy);
    }
    if (at.indices[0].dtype().is_vector()) {
      for (const std::string& text : vector_store_text(at, execution_, names_, exprs_)) line(text);
      return;
    }
    const Analyzer ranges = Analyzer::at(at);
    const DType type = at.buffer->dtype;
    const std::string to = exprs_.element(at.buffer, at.indices[0], ranges);
    const std::string assignment =
        fmt::format("{} = {};", to, exprs_.stored(type, exprs_.text(at.value, ranges)));
    if (at.mask) return line(fmt::format("if ({}) {}", exprs_.text(at.mask, ranges), assignment));
    line(assignment);
  }

  const LoweredProgram& lowered_;
  const ExecutionModel& execution_;
  const int64_t static_shared_bytes_;
  const Stmt& root_;
  const TextForm form_;
  Names names_;
  ExprText exprs_;
  KernelText kernel_;
  std::string body_;
  size_t depth_ = 0;
  std::string shared_block_;   // that contains all buffers in shared memory; "": each is declared
  bool asynchronous_ = false;  // stores may be asynchronous
  BoxCopies copies_;
  int64_t barriers_at_ = 0;  // offset after the buffers in shared_block_ for barriers
  std::set<const BufferNode*> declared_;
  std::optional<ProducedLoop> produced_;
  const ProducedLoop* consumers_ =
      nullptr;                      // of the loop whose consumers alone execute the text from here on
  std::string arrived_, released_;  // its barriers
  bool shares_registers_ = false;
  std::string before_barrier_;
  std::string after_;  // wait statement for the calls of the enclosing loop
};

}  // namespace

std::vector<KernelText> kernel_texts(const LoweredProgram& lowered, const ExecutionModel& execution,
                                     int64_t static_shared_bytes, const std::string& symbol,
                                     std::span<const TextForm> forms) {
  const std::vector<const Stmt*> launches = launches_of(lowered.program, execution);
  std::vector<KernelText> kernels;
  for (const Stmt* launch : launches) {
    const std::string name = launches.size() == 1 ? symbol : fmt::format("{}_{}", symbol, kernels.size());
    const TextForm form = forms.empty() ? TextForm::Usual : forms[kernels.size()];
    kernels.push_back(KernelWriter(lowered, execution, static_shared_bytes, *launch, name, form).write());
  }
  return kernels;
}

}  // namespace tunesmith::cuda

#include "random_scheduler.h"

#include <algorithm>

#include <fmt/format.h>

#include <tunesmith/analysis/verify.h>
#include <tunesmith/intrinsics/tensor_intrinsic.h>
#include <tunesmith/ir/printer.h>
#include <tunesmith/ir/regions.h>

namespace tunesmith::fuzz {
namespace {

const InstructionKind& kind_named(const std::string& name) {
  return *InstructionRegistry::global().find(name);
}

/// Samplings only make numbers for transformations, so they are rarer.
const InstructionKind& random_kind(RandomStream& random) {
  const std::vector<std::string> names = InstructionRegistry::global().names();
  while (true) {
    const InstructionKind& kind = kind_named(names[random.below(names.size())]);
    if (kind.sort() == InstructionSort::Transformation || random.below(3) == 0) return kind;
  }
}

/// A rough check: the same kind of sum or copy, whose innermost loops divide into tiles.
bool could_compute(const Block& block, const TensorIntrinsic& intrinsic,
                   const std::vector<int64_t>& extents) {
  const Store* store = block.body()->as<Store>();
  const std::vector<Loop*> loops = loops_above(block);
  if (store == nullptr || store->value.kind() != intrinsic.store().value.kind()) return false;
  if (block.has_reduction() != intrinsic.block().has_reduction() || loops.size() < extents.size())
    return false;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (loops[loops.size() - extents.size() + i]->const_extent() % extents[i] != 0) return false;
  }
  return true;
}

}  // namespace

RandomScheduler::RandomScheduler(const Program& program, RandomStream random)
    : random_(random), schedule_(program, RandomStream(random.next())) {}

int64_t RandomScheduler::instances() const {
  int64_t all = 0;
  for (const Block* block : schedule_.program().blocks()) {
    int64_t own = 1;
    for (const Stmt* above = block->parent; above != nullptr; above = above->parent) {
      if (const auto* loop = above->as<Loop>()) own *= loop->const_extent();
    }
    all += own;
  }
  return all;
}

std::string RandomScheduler::step(Coverage& coverage) {
  const InstructionKind& kind = random_kind(random_);
  const std::vector<Arg> args = arguments(kind);
  const std::string before = to_string(schedule_.program());
  const Trace trace = schedule_.trace();
  const auto report = [&](const std::string& what) {
    return fmt::format("{}: {}\nprogram before:\n{}\nprogram after:\n{}", kind.name(), what, before,
                       to_string(schedule_.program()));
  };
  try {
    execute(kind, args);
    ++coverage[kind.name()].done;
    const std::string wrong =
        kind.sort() == InstructionSort::Transformation ? verify(schedule_.program()) : "";
    if (!wrong.empty()) return report("the program is not well formed: " + wrong);
  } catch (const ScheduleError& error) {
    ++coverage[kind.name()].refused[error.reason()];
    if (to_string(schedule_.program()) != before)
      return report("refused, but the program changed: " + error.reason());
    if (schedule_.trace() != trace) return report("refused, but the trace changed: " + error.reason());
  } catch (const std::exception& error) {
    return report(fmt::format("threw something else than ScheduleError: {}", error.what()));
  }
  return "";
}

void RandomScheduler::execute(const InstructionKind& kind, const std::vector<Arg>& args) {
  for (const TraceVar& output : schedule_.execute(kind, args)) {
    switch (kind.result()) {
      case ResultType::Block:
      case ResultType::Blocks:
        blocks_.push_back({{output.index}});
        break;
      case ResultType::Loop:
      case ResultType::Loops:
        loops_.push_back({{output.index}});
        break;
      default:
        integers_.push_back({{output.index}});
        break;
    }
  }
}

void RandomScheduler::trusted_step() {
  const InstructionKind& kind = random_kind(random_);
  const std::vector<Arg> args = arguments(kind);
  try {
    execute(kind, args);
  } catch (const ScheduleError&) {
    return;
  }
}

const Block* RandomScheduler::random_block() { return pick(schedule_.program().blocks()); }

BlockRV RandomScheduler::handle_of(const Block& block) {
  for (const BlockRV& known : blocks_) {
    try {
      if (&schedule_.block(known) == &block) return known;
    } catch (const ScheduleError&) {
      continue;  // the handle's block no longer exists
    }
  }
  blocks_.push_back(schedule_.handle(block));
  return blocks_.back();
}

LoopRV RandomScheduler::handle_of(const Block& block, size_t depth) {
  const LoopId wanted = loops_above(block)[depth]->id;
  for (const LoopRV& known : loops_) {
    if (schedule_.location(known) == wanted) return known;
  }
  const std::vector<LoopRV> all = schedule_.get_loops(handle_of(block));
  loops_.insert(loops_.end(), all.begin(), all.end());
  return all[depth];
}

Arg RandomScheduler::block_arg(bool reduction) {
  const Block* block = random_block();
  for (int attempt = 0; attempt < 8 && reduction && !block->has_reduction(); ++attempt)
    block = random_block();
  last_block_ = block->id;
  return handle_of(*block);
}

const Block* RandomScheduler::random_neighbour() {
  const Program& program = schedule_.program();
  const Block* block = last_block_.has_value() ? program.find_block(*last_block_) : nullptr;
  if (block == nullptr || chance(3)) return random_block();
  const std::vector<Block*> neighbours =
      chance(2) ? consumers_of(program, *block) : producers_of(program, *block);
  return neighbours.empty() ? block : pick(neighbours);
}

Arg RandomScheduler::loop_arg() {
  // Old handles may be loops that no longer exist, the root, or inlining.
  if (!loops_.empty() && chance(4)) return pick(loops_);
  const Block* block = random_neighbour();
  const size_t depth = loops_above(*block).size();
  if (depth == 0) return loops_.empty() ? Arg(schedule_.add_unit_loop(handle_of(*block))) : Arg(pick(loops_));
  return handle_of(*block, random_.below(depth));
}

Arg RandomScheduler::loops_arg() {
  const Block* block = random_block();
  const size_t depth = loops_above(*block).size();
  const size_t first = depth == 0 ? 0 : random_.below(depth);
  const size_t count = std::min<size_t>(depth - first, 1 + random_.below(4));
  std::vector<LoopRV> chosen;
  for (size_t i = first; i < first + count; ++i) chosen.push_back(handle_of(*block, i));
  if (chance(2)) random_.shuffle(chosen);
  ArgList list;
  for (const LoopRV& loop : chosen) list.emplace_back(loop);
  return list;
}

Arg RandomScheduler::neighbouring_loops() {
  const std::vector<Block*> blocks = schedule_.program().blocks();
  const size_t first = random_.below(blocks.size());
  const size_t count = 1 + random_.below(3);
  const size_t depth = random_.below(3);
  ArgList list;
  for (size_t i = first; i < blocks.size() && i < first + count; ++i) {
    const size_t loops = loops_above(*blocks[i]).size();
    if (loops > 0) list.emplace_back(handle_of(*blocks[i], std::min(depth, loops - 1)));
  }
  return list;
}

Arg RandomScheduler::factors_arg() {
  ArgList list;
  const uint64_t count = 1 + random_.below(3);
  for (uint64_t i = 0; i < count; ++i) list.emplace_back(static_cast<int64_t>(1 + random_.below(5)));
  if (!chance(4)) list[random_.below(count)] = Arg();
  if (!integers_.empty() && chance(4)) list[random_.below(count)] = pick(integers_);
  return list;
}

Arg RandomScheduler::integer_arg(const std::string& name) {
  if (!integers_.empty() && chance(8)) return pick(integers_);
  const int64_t least =
      name == "n" || name == "factor" || name == "max_innermost" || name == "inner_factor" ? 1 : 0;
  const uint64_t choices = name == "max_innermost" || name == "factor" ? 16 : 3;
  return least + static_cast<int64_t>(random_.below(choices)) - (chance(16) ? 3 : 0);
}

Arg RandomScheduler::string_arg(const std::string& name) {
  if (name == "name") return random_block()->name;
  if (name == "scope") return pick(std::vector<std::string>{kScopeGlobal, kScopeLocal, kScopeRegister});
  if (name == "access") return chance(2) ? "read" : "write";
  if (name == "index_map") return index_map();
  if (name == "intrinsic") return pick(TensorIntrinsics::global().names());
  if (name == "thread_axis") return pick(std::vector<std::string>{"block.x", "thread.x", "thread.y"});
  // Prefers keys that any place accepts, since only an existing annotation can be removed.
  return !chance(4) ? "first"
                    : pick(std::vector<std::string>{"second", "prefetch", "prefetch_behind", "nontemporal",
                                                    "double_buffer"});
}

std::string RandomScheduler::index_map() {
  const Block* block =
      last_block_.has_value() ? schedule_.program().find_block(*last_block_) : random_block();
  // A map is over the indices of a buffer or over the block's iterators.
  const bool of_iters = chance(2);
  const std::vector<Access> accesses = chance(2) ? writes_of(*block) : reads_of(*block);
  const size_t rank = of_iters ? block->iters.size() : (accesses.empty() ? 1 : pick(accesses).indices.size());
  std::vector<std::string> names;
  std::vector<std::string> results;
  for (size_t d = 0; d < rank; ++d) {
    names.push_back(fmt::format("i{}", d));
    if (of_iters && d > 0 && chance(4)) {
      results.back() = fmt::format("({})*{} + i{}", results.back(), block->iters[d].extent, d);
      continue;
    }
    switch (random_.below(of_iters ? 8 : 4)) {
      case 0:
        results.push_back(fmt::format("i{} // 2", d));
        results.push_back(fmt::format("i{} % 2", d));
        break;
      case 1:
        results.push_back(fmt::format("i{} + {}", d, random_.below(3)));
        break;
      default:
        results.push_back(names.back());
    }
  }
  if (chance(2)) random_.shuffle(results);
  return fmt::format("({}) -> ({})", fmt::join(names, ", "), fmt::join(results, ", "));
}

Arg RandomScheduler::integers_arg(const std::string& name) {
  if (name == "points") {
    const auto first = static_cast<int64_t>(1 + random_.below(3));
    if (chance(3)) return ArgList{first, first + static_cast<int64_t>(1 + random_.below(3))};
    return ArgList{first};
  }
  if ((name != "order" && name != "padding") || !last_block_.has_value())
    return ArgList{int64_t{1}, int64_t{2}, int64_t{4}};
  std::vector<int64_t> order;
  for (size_t i = 0; i < schedule_.program().find_block(*last_block_)->iters.size(); ++i) {
    order.push_back(static_cast<int64_t>(name == "order" ? i : 1 + random_.below(4)));
  }
  if (name == "order") random_.shuffle(order);
  if (chance(8) && !order.empty()) order.pop_back();
  return ArgList(order.begin(), order.end());
}

Arg RandomScheduler::scalar_arg() {
  switch (random_.below(4)) {
    case 0:
      return int64_t{1};
    case 1:
      return static_cast<int64_t>(random_.below(100));
    case 2:
      return random_.uniform();
    default:
      return "a \"text\"";
  }
}

Arg RandomScheduler::argument(const InstructionKind& kind, const ParamSpec& param) {
  switch (param.type) {
    case ParamType::Block:
      if (param.name == "epilogue") return handle_of(*random_neighbour());
      return block_arg(param.name == "reduction");
    case ParamType::Loop:
      return loop_arg();
    case ParamType::LoopOrBlock:
      return chance(2) ? block_arg() : loop_arg();
    case ParamType::Loops:
      return kind.name() == "merge" ? neighbouring_loops() : loops_arg();
    case ParamType::Int:
      return integer_arg(param.name);
    case ParamType::Ints:
      return integers_arg(param.name);
    case ParamType::OptionalInts:
      return factors_arg();
    case ParamType::Doubles:
      return ArgList{0.25, 0.5, 0.25};
    case ParamType::String:
      return string_arg(param.name);
    case ParamType::Scalar:
      return scalar_arg();
    case ParamType::Bool:
      return chance(2);
    case ParamType::BlockOrRootOrLoop:
      switch (random_.below(3)) {
        case 0:
          return block_arg();
        case 1:
          return loop_arg();
        default:
          return {};
      }
  }
  throw InternalError(fmt::format("a parameter type of {} that the fuzzer does not know", kind.name()));
}

std::vector<Arg> RandomScheduler::tile_and_intrinsic() {
  const Block* block = nullptr;
  std::string name;
  std::vector<int64_t> extents;
  bool fits = false;
  for (int attempt = 0; attempt < 16 && !fits; ++attempt) {
    name = pick(TensorIntrinsics::global().names());
    block = random_block();
    extents.clear();
    const TensorIntrinsicPtr intrinsic = TensorIntrinsics::global().find(name);
    for (const IterVar& iter : intrinsic->block().iters) {
      if (iter.extent > 1) extents.push_back(iter.extent);
    }
    fits = could_compute(*block, *intrinsic, extents);
  }
  if (!fits) return {loop_arg(), name};
  const BlockRV handle = handle_of(*block);
  const std::vector<LoopRV> loops = schedule_.get_loops(handle);
  if (loops.size() < extents.size() || loops.empty()) return {block_arg(), name};
  std::vector<LoopRV> tile;
  std::vector<LoopRV> around;
  try {
    for (size_t i = 0; i < extents.size(); ++i) {
      const LoopRV loop = loops[loops.size() - extents.size() + i];
      if (schedule_.loop(loop).const_extent() == extents[i]) {
        tile.push_back(loop);
        continue;
      }
      const std::vector<LoopRV> parts = schedule_.split(loop, {std::nullopt, extents[i]});
      around.push_back(parts[0]);
      tile.push_back(parts[1]);
    }
    std::vector<LoopRV> order = around;
    order.insert(order.end(), tile.begin(), tile.end());
    if (!around.empty()) schedule_.reorder(order);
    if (block->init() != nullptr) schedule_.decompose_reduction(handle, tile.front());
  } catch (const ScheduleError&) {
    return {loops.back(), name};  // legal, although useless
  }
  return {tile.front(), name};
}

std::vector<Arg> RandomScheduler::producer_under_a_loop() {
  const Block* block = nullptr;
  std::vector<Block*> readers;
  for (int attempt = 0; attempt < 8 && readers.empty(); ++attempt) {
    block = random_block();
    readers = consumers_of(schedule_.program(), *block);
  }
  const BlockRV handle = handle_of(*block);
  if (readers.empty()) return {handle, int64_t{0}};
  const Block& reader = *pick(readers);
  const size_t depth = loops_above(reader).size();
  try {
    if (depth > 0) schedule_.compute_at(handle, handle_of(reader, random_.below(depth)));
  } catch (const ScheduleError&) {
    return {handle, int64_t{0}};  // the block may already be under a loop
  }
  return {handle, int64_t{0}};
}

std::vector<Arg> RandomScheduler::reduction_and_reader(bool loop) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const Block& block = *random_block();
    const std::vector<Block*> readers = consumers_of(schedule_.program(), block);
    if (!block.has_reduction() || readers.empty()) continue;
    const Block& reader = *pick(readers);
    const size_t depth = loops_above(reader).size();
    if (!loop) return {handle_of(block), handle_of(reader)};
    if (depth > 0) return {handle_of(block), handle_of(reader, random_.below(depth))};
  }
  return {block_arg(), loop ? loop_arg() : block_arg()};
}

std::vector<Arg> RandomScheduler::arguments(const InstructionKind& kind) {
  std::vector<Arg> args;
  last_block_.reset();
  if (kind.name() == "tensorize" && !chance(4)) return tile_and_intrinsic();
  if (kind.name() == "rolling_buffer" && !chance(4)) return producer_under_a_loop();
  if (kind.name() == "rolling_update" && !chance(4)) return reduction_and_reader(true);
  if (kind.name() == "fuse_reduction_epilogue" && !chance(4)) return reduction_and_reader(false);
  if (kind.name() == "read_copy" && !chance(4)) return read_and_copy();
  for (const ParamSpec& param : kind.params()) {
    args.push_back(param.fallback.has_value() && chance(2) ? *param.fallback : argument(kind, param));
  }
  return args;
}

}  // namespace tunesmith::fuzz

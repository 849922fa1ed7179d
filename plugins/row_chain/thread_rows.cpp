#include "thread_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <tunesmith/stable/analysis.h>
#include <tunesmith/tiling/sampled_tiles.h>

#include "row_stages.h"

namespace tunesmith {
namespace {

/// The size of the widest access in bytes.
constexpr int64_t kAccessBytes = 16;
/// Up to this number of threads per row, each combines all partial results itself.
constexpr int64_t kMaxAlone = 32;
/// Minimum threads per block.
constexpr int64_t kMinThreads = 32;
/// The reciprocal of the share of a row's elements by which threads may exceed it.
constexpr int64_t kExcess = 4;

bool is_row(const std::vector<size_t>& rows, size_t iterator) {
  return std::ranges::find(rows, iterator) != rows.end();
}

/// Non-unit iterators that are no rows.
std::vector<size_t> columns_of(const Block& block, const std::vector<size_t>& rows) {
  std::vector<size_t> columns;
  const std::vector<IterVar> iters = block.iters();
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].extent > 1 && !is_row(rows, i)) columns.push_back(i);
  }
  return columns;
}

/// The elements of a row, if they are equal for all members with columns; 0 if not, or if a member has
/// several columns.
int64_t row_elements(const Program& program, const Chain& chain) {
  int64_t elements = 0;
  for (const std::string& name : chain.members) {
    const Block block = *program.find_block(name);
    const std::vector<size_t> columns = columns_of(block, chain.rows.at(name));
    if (columns.empty()) continue;
    const int64_t extent = block.iters()[columns.front()].extent;
    if (columns.size() > 1 || (elements != 0 && elements != extent)) return 0;
    elements = extent;
  }
  return elements;
}

bool is_made(const Program& program, const Chain& chain, const std::string& buffer) {
  return std::ranges::any_of(chain.members, [&](const std::string& name) {
    return writes_of(*program.find_block(name)).front().buffer->name == buffer;
  });
}

/// The minimum bytes of an element that is read or written along rows in memory shared by all.
int64_t element_bytes(const Program& program, const Chain& chain) {
  int64_t bytes = kAccessBytes;
  for (const std::string& name : chain.members) {
    const Block block = *program.find_block(name);
    const std::vector<size_t> columns = columns_of(block, chain.rows.at(name));
    std::vector<Access> accesses = reads_of(block);
    if (name == chain.members.back()) accesses.push_back(writes_of(block).front());
    for (const Access& access : accesses) {
      const bool moves = !columns.empty() && access.uses(columns.front());
      if (moves && (name == chain.members.back() || !is_made(program, chain, access.buffer->name)))
        bytes = std::min<int64_t>(bytes, access.buffer->dtype.bytes());
    }
  }
  return bytes;
}

class ThreadRows {
 public:
  ThreadRows(Schedule& schedule, const Chain& chain, const ThreadPlaces& places,
             const ThreadRowChoices& choices)
      : schedule_(schedule),
        chain_(chain),
        places_(places),
        choices_(choices),
        threads_(sample_one_of(schedule, choices.threads)),
        lanes_(choices.lanes) {}

  std::vector<BlockRV> run() {
    for (const std::string& name : chain_.members) stages_.push_back(schedule_.get_block(name));
    copy_reads();
    const LoopRV row = open_rows();
    const BlockRV end = stages_.back();
    for (size_t i = text_.size(); i-- > 0;) {
      if (text_[i] != end) schedule_.compute_at(text_[i], row);
    }
    for (const BlockRV block : std::vector<BlockRV>(text_)) share_out(block, row);
    place_scalars();
    return made_;
  }

 private:
  struct Reader {
    BlockRV block;
    int64_t read;
    bool plain;  // along the last dimension
  };

  /// Loads external data that several stages, or a
  /// reduction, read along rows only once, in vectors.
  void copy_reads() {
    std::vector<std::string> order;
    std::map<std::string, std::vector<Reader>> readers;
    std::map<std::string, bool> reduced;
    const Program program = schedule_.program();
    for (size_t s = 0; s < stages_.size(); ++s) {
      const Block block = schedule_.block(stages_[s]);
      const std::vector<size_t> columns = columns_of(block, chain_.rows.at(block.name));
      const std::vector<Access> reads = schedule_.read_accesses(stages_[s]);
      for (size_t i = 0; i < reads.size(); ++i) {
        const std::string& buffer = reads[i].buffer->name;
        if (columns.empty() || !reads[i].uses(columns.front()) || is_made(program, chain_, buffer)) continue;
        const bool plain = reads[i].indices.back().iterator == columns.front();
        if (!readers.contains(buffer)) order.push_back(buffer);
        readers[buffer].push_back({stages_[s], static_cast<int64_t>(i), plain});
        reduced[buffer] = reduced[buffer] || block.has_reduction();
      }
    }
    std::map<uint32_t, std::vector<BlockRV>> copies;  // by the stage that reads first
    for (const std::string& buffer : order) {
      const std::vector<Reader>& all = readers.at(buffer);
      if (all.size() == 1 && !reduced.at(buffer)) continue;
      if (all.size() > 1 && !std::ranges::all_of(all, &Reader::plain)) continue;
      const Reader& first = all.front();
      const BlockRV copy = first.plain ? schedule_.cache_read(first.block, first.read, places_.own)
                                       : schedule_.reindex(first.block, "read", first.read);
      for (size_t i = 1; i < all.size(); ++i) schedule_.call<>("read_copy", all[i].block, all[i].read, copy);
      copies[first.block.index].push_back(copy);
    }
    for (const BlockRV stage : stages_) {
      for (const BlockRV copy : copies[stage.index]) text_.push_back(copy);
      text_.push_back(stage);
    }
  }

  /// Blocks have some rows each, along a second axis of threads.
  LoopRV open_rows() {
    const RowsFirst order = rows_first(schedule_, stages_.back(), chain_.rows.at(chain_.members.back()));
    const LoopRV all = order.rows.size() > 1 ? schedule_.fuse(order.rows) : order.rows.front();
    const std::vector<LoopRV> parts =
        schedule_.split(all, {std::nullopt, sample_one_of(schedule_, choices_.rows)});
    schedule_.bind(parts[0], places_.blocks);
    schedule_.bind(parts[1], places_.rows);
    return parts[1];
  }

  std::vector<LoopRV> loops_inside(BlockRV block, LoopRV row) {
    std::vector<LoopRV> loops = schedule_.get_loops(block);
    const LoopId place = schedule_.location(row);
    const auto at =
        std::ranges::find_if(loops, [&](const LoopRV& loop) { return schedule_.location(loop) == place; });
    return {at + 1, loops.end()};
  }

  void share_out(BlockRV block, LoopRV row) {
    const std::vector<LoopRV> loops = loops_inside(block, row);
    made_.push_back(block);
    if (loops.empty()) return scalars_.push_back(block);
    const LoopRV columns = loops.size() > 1 ? schedule_.fuse(loops) : loops.front();
    const std::vector<LoopRV> parts = schedule_.split(columns, {std::nullopt, threads_, lanes_});
    if (schedule_.block(block).has_reduction()) return reduce(block, parts);
    schedule_.reorder({parts[1], parts[0], parts[2]});
    bind(block, parts[1]);
    schedule_.unroll(parts[0]);
    schedule_.vectorize(parts[2]);
    if (block != stages_.back()) schedule_.set_scope(block, 0, places_.own);
  }

  /// Each thread reduces its elements, a few reduce their results; the block itself combines the rest.
  void reduce(BlockRV block, const std::vector<LoopRV>& parts) {
    const BlockRV each = schedule_.rfactor(parts[1], -1);
    schedule_.set_scope(each, 0, places_.shared);
    finish_partial(each, parts[1], {parts[0], parts[2]});
    if (choices_.few > 0) {
      const std::vector<LoopRV> rest =
          schedule_.split(schedule_.get_loops(block).back(), {std::nullopt, choices_.few});
      const BlockRV few = schedule_.rfactor(rest[1], -1);
      schedule_.set_scope(few, 0, places_.shared);
      finish_partial(few, rest[1], {rest[0]});
    }
    scalars_.push_back(block);
  }

  void finish_partial(BlockRV partial, LoopRV threads, const std::vector<LoopRV>& steps) {
    std::vector<LoopRV> order{threads};
    order.insert(order.end(), steps.begin(), steps.end());
    schedule_.reorder(order);
    made_.push_back(partial);
    made_.push_back(schedule_.decompose_reduction(partial, steps.front()));
    for (const LoopRV& loop : steps) schedule_.unroll(loop);
    bind(partial, threads);
  }

  void bind(BlockRV block, LoopRV threads) {
    schedule_.bind(threads, places_.threads);
    thread_loops_.emplace(schedule_.block(block).name, threads);
  }

  /// Computes a row's scalars in each thread if only threads
  /// read them, and once for all if several stages do.
  void place_scalars() {
    for (size_t i = scalars_.size(); i-- > 0;) {
      const BlockRV scalar = scalars_[i];
      if (scalar == stages_.back()) continue;
      const std::optional<LoopRV> threads = reading_threads(scalar);
      schedule_.set_scope(scalar, 0, threads ? places_.own : places_.shared);
      if (!threads) continue;
      schedule_.compute_at(scalar, *threads);
      thread_loops_.emplace(schedule_.block(scalar).name, *threads);
    }
  }

  /// The loop over threads that contains all readers.
  std::optional<LoopRV> reading_threads(BlockRV scalar) {
    std::optional<LoopRV> found;
    for (const Pointer<Block>& reader : consumers_of(schedule_.program(), schedule_.block(scalar))) {
      const auto at = thread_loops_.find(reader->name);
      if (at == thread_loops_.end()) return std::nullopt;
      if (found && schedule_.location(*found) != schedule_.location(at->second)) return std::nullopt;
      found = at->second;
    }
    return found;
  }

  Schedule& schedule_;
  const Chain& chain_;
  const ThreadPlaces& places_;
  const ThreadRowChoices& choices_;
  IntRV threads_;
  int64_t lanes_;
  std::vector<BlockRV> stages_;  // the members
  std::vector<BlockRV> text_;    // with copies of what they read, in order
  std::vector<BlockRV> scalars_;
  std::map<std::string, LoopRV> thread_loops_;  // around blocks
  std::vector<BlockRV> made_;
};

/// The numbers of rows per block that give from kMinThreads
/// to `most` threads for every number of threads per row.
std::vector<int64_t> rows_of_block(const Chain& chain, int64_t least, int64_t greatest, int64_t most) {
  std::vector<int64_t> counts;
  for (int64_t count = 1; count * greatest <= most; count *= 2) {
    if (count * least >= kMinThreads && chain.row_count % count == 0) counts.push_back(count);
  }
  return counts;
}

/// The reduction that has all columns of the chain, or "".
std::string only_reduction(const Program& program, const Chain& chain) {
  std::string found;
  for (const std::string& name : chain.members) {
    const Block block = *program.find_block(name);
    if (columns_of(block, chain.rows.at(name)).empty()) continue;
    if (!found.empty() || !block.has_reduction()) return "";
    found = name;
  }
  return found;
}

int64_t reduced_elements(const Block& block, const std::vector<size_t>& rows) {
  int64_t elements = 1;
  for (const size_t column : columns_of(block, rows)) elements *= block.iters()[column].extent;
  return elements;
}

/// The block's partial results, one for each piece of its reduction, as separate rows.
Chain cut_in_pieces(Schedule& schedule, const std::string& name, const Chain& chain, int64_t piece) {
  const BlockRV block = schedule.get_block(name);
  const RowsFirst order = rows_first(schedule, block, chain.rows.at(name));
  const LoopRV all = order.others.size() > 1 ? schedule.fuse(order.others) : order.others.front();
  const BlockRV partial = schedule.rfactor(schedule.split(all, {std::nullopt, piece})[0], -1);
  Chain pieces;
  const Block view = schedule.block(partial);
  pieces.members = {view.name};
  const std::vector<IterVar> iters = view.iters();
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].kind != IterKind::Spatial) continue;
    pieces.rows[view.name].push_back(i);
    pieces.row_count *= iters[i].extent;
  }
  return pieces;
}

}  // namespace

std::vector<ThreadRowChoices> thread_row_choices(const Program& program, const Chain& chain,
                                                 const ThreadPlaces& places,
                                                 const std::vector<int64_t>& threads, int64_t max_elements) {
  std::vector<ThreadRowChoices> ways;
  const int64_t elements = row_elements(program, chain);
  if (elements == 0) return ways;
  const int64_t widest = kAccessBytes / element_bytes(program, chain);
  // A loop of one iteration is no reduction loop, so a single step would have other loops.
  for (const int64_t lanes : {std::max<int64_t>(widest / 2, 1), widest}) {
    for (const bool alone : {true, false}) {
      for (const bool one_step : {true, false}) {
        ThreadRowChoices way{.lanes = lanes, .few = alone ? 0 : kMaxAlone};
        for (const int64_t count : threads) {
          const int64_t steps = (elements + count * lanes - 1) / (count * lanes);
          const bool fits = steps * lanes <= max_elements &&
                            (steps * count * lanes - elements) * kExcess <= elements &&
                            !rows_of_block(chain, count, count, places.most).empty();
          if (fits && alone == (count <= kMaxAlone) && one_step == (steps == 1)) way.threads.push_back(count);
        }
        if (way.threads.empty()) continue;
        const auto [least, greatest] = std::ranges::minmax(way.threads);
        way.rows = rows_of_block(chain, least, greatest, places.most);
        if (!way.rows.empty()) ways.push_back(std::move(way));
      }
    }
    if (widest == 1) break;
  }
  return ways;
}

std::vector<BlockRV> compute_in_threads(Schedule& schedule, const Chain& chain, const ThreadPlaces& places,
                                        const ThreadRowChoices& choices) {
  return ThreadRows(schedule, chain, places, choices).run();
}

std::vector<int64_t> piece_lengths(const Program& program, const Chain& chain, int64_t cores) {
  std::vector<int64_t> lengths;
  const std::string name = only_reduction(program, chain);
  if (name.empty() || chain.row_count >= cores) return lengths;
  const int64_t elements = reduced_elements(*program.find_block(name), chain.rows.at(name));
  for (const int64_t length : {2048, 8192, 32768}) {
    if (elements % length == 0 && elements / length * chain.row_count >= cores) lengths.push_back(length);
  }
  return lengths;
}

std::vector<BlockRV> compute_in_pieces(Schedule& schedule, const Chain& chain, const ThreadPlaces& places,
                                       const std::vector<int64_t>& threads, int64_t max_elements,
                                       int64_t length) {
  const std::string name = only_reduction(schedule.program(), chain);
  const Chain pieces = cut_in_pieces(schedule, name, chain, length);
  std::vector<BlockRV> made;
  for (const Chain& part : {pieces, chain}) {
    const std::vector<ThreadRowChoices> ways =
        thread_row_choices(schedule.program(), part, places, threads, max_elements);
    if (ways.empty()) return {};
    const std::vector<BlockRV> blocks = compute_in_threads(schedule, part, places, ways.back());
    made.insert(made.end(), blocks.begin(), blocks.end());
  }
  return made;
}

}  // namespace tunesmith

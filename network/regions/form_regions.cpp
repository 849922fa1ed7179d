#include "tunesmith/network/form_regions.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "data_flow.h"
#include "node_kinds.h"
#include "parts.h"

namespace tunesmith::network {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);
constexpr size_t kMaxProloguesOfAProduct = 2;
// Half the limit of a workload: larger kernels gain nothing.
constexpr size_t kMaxStatements = 128;

class Former {
 public:
  explicit Former(const Network& network)
      : network_(network),
        facts_(node_facts(network)),
        flow_(network),
        region_of_(network.nodes.size(), kNone) {}

  std::vector<Region> run() {
    for (size_t i = 0; i < facts_.size(); ++i) {
      if (!is(i, NodeKind::Loop)) continue;
      region_of_[i] = regions_.size();
      regions_.push_back({{i}, i});
    }
    for (size_t i = 0; i < facts_.size(); ++i) {
      if (is(i, NodeKind::Contraction) || is(i, NodeKind::Reduction)) start_region(i);
    }
    for (size_t i = 0; i < facts_.size(); ++i) {
      if (is(i, NodeKind::Elementwise) || is(i, NodeKind::Gather)) start_region(i);
    }
    join_prologues();
    join_attention();
    give_views();
    return ordered();
  }

 private:
  struct Growing {
    std::vector<size_t> nodes;  // the first is the node that the others follow
    size_t last = 0;            // the only node whose result others read
  };

  size_t statements_of(const std::vector<size_t>& nodes) const {
    size_t statements = 0;
    for (const size_t node : nodes) statements += facts_[node].statements;
    return statements;
  }
  bool fit_together(std::initializer_list<std::reference_wrapper<const std::vector<size_t>>> parts) const {
    size_t statements = 0;
    for (const std::vector<size_t>& nodes : parts) statements += statements_of(nodes);
    return statements <= kMaxStatements;
  }

  bool is(size_t node, NodeKind kind) const { return facts_[node].kind == kind; }

  /// Starts a region with `first` and its epilogues, unless a region contains it already.
  void start_region(size_t first) {
    if (region_of_[first] != kNone) return;
    Growing region{{first}, first};
    region_of_[first] = regions_.size();
    while (const std::optional<std::vector<size_t>> next = epilogue(region)) {
      for (const size_t node : *next) region_of_[node] = regions_.size();
      region.nodes.insert(region.nodes.end(), next->begin(), next->end());
      region.last = next->back();
    }
    regions_.push_back(std::move(region));
  }

  /// The nodes up to the next element-wise post-dominator of the region's result, if all of them may join the
  /// region. Rearranging views on the way join, too, since the region writes its result in their order, and
  /// so does a last view whose result is in place. A gather does not join: it may read any element, so its
  /// input must be complete in memory.
  std::optional<std::vector<size_t>> epilogue(const Growing& region) const {
    std::vector<size_t> nodes;
    for (size_t last = region.last; flow_.post_dominator(last) != flow_.end();) {
      if (!nodes.empty() && is_read_by(last, NodeKind::InPlace)) return nodes;
      const std::vector<size_t> next = flow_.paths(last);
      const std::vector<size_t> put_back = parts_put_back(last);
      if (!std::ranges::all_of(next, [&](size_t node) {
            return may_follow(node, region.nodes.front()) ||
                   std::ranges::find(put_back, node) != put_back.end();
          }))
        return std::nullopt;
      nodes.insert(nodes.end(), next.begin(), next.end());
      if (!fit_together({region.nodes, nodes})) return std::nullopt;
      last = flow_.post_dominator(last);
      if (!is(last, NodeKind::View)) return nodes;
    }
    return std::nullopt;
  }

  bool is_read_by(size_t node, NodeKind kind) const {
    return std::ranges::any_of(flow_.readers(node), [&](size_t reader) { return is(reader, kind); });
  }

  /// Views of parts of the node's result that are transformed element-wise and concatenated again in the same
  /// positions: some columns of the result get other functions than others.
  std::vector<size_t> parts_put_back(size_t node) const {
    const size_t join = flow_.post_dominator(node);
    std::vector<size_t> views;
    if (join == flow_.end() || !is(join, NodeKind::Elementwise) || facts_[join].computes) return views;
    for (const Piece& piece : pieces_of(network_, join)) {
      if (!reads_same_part(piece.from, piece, node, views)) return {};
    }
    return views;
  }

  /// Within the region of `node`, is the tensor computed only from the piece's part of the node's result?
  bool reads_same_part(TensorIndex tensor, const Piece& piece, size_t node,
                       std::vector<size_t>& views) const {
    const size_t maker = flow_.maker(tensor);
    if (maker == flow_.end() || maker < node) return true;
    if (is(maker, NodeKind::View)) {
      const std::vector<Piece> moved = pieces_of(network_, maker);
      views.push_back(maker);
      return moved.size() == 1 && flow_.maker(moved.front().from) == node &&
             moved.front().from_begin == piece.to_begin && moved.front().shape == piece.shape;
    }
    return is(maker, NodeKind::Elementwise) &&
           std::ranges::all_of(network_.nodes[maker].inputs, [&](TensorIndex input) {
             return input == kAbsent || reads_same_part(input, piece, node, views);
           });
  }

  bool may_follow(size_t node, size_t first) const {
    if (region_of_[node] != kNone) return false;
    const NodeFacts& facts = facts_[first];
    const int64_t max_elements =
        facts.kind == NodeKind::Reduction ? std::max(facts.elements, facts.input_elements) : facts.elements;
    switch (facts_[node].kind) {
      case NodeKind::View:
        return facts_[node].elements == facts_[node].input_elements && facts_[node].elements <= max_elements;
      case NodeKind::Elementwise:
        return facts_[node].elements <= max_elements;
      case NodeKind::Gather:
        return false;
      case NodeKind::Reduction:
        return facts.kind == NodeKind::Reduction && !facts_[node].chooses &&
               facts_[node].elements <= max_elements;
      case NodeKind::Contraction:
      case NodeKind::Loop:
      case NodeKind::InPlace:
        return false;
    }
    return false;
  }

  /// The region of all readers of `region`, through views that have one reader; kNone if they are in several
  /// regions, or a reader is a result of the network.
  size_t only_reader(const Growing& region, std::vector<size_t>& views) const {
    for (size_t node = region.last;;) {
      const std::vector<size_t>& readers = flow_.readers(node);
      if (readers.empty() || flow_.is_result(node)) return kNone;
      if (readers.size() == 1 && is(readers.front(), NodeKind::View)) {
        node = readers.front();
        views.push_back(node);
        continue;
      }
      const size_t reader = region_of_[readers.front()];
      const bool same =
          std::ranges::all_of(readers, [&](size_t other) { return region_of_[other] == reader; });
      return same ? reader : kNone;
    }
  }

  void merge(size_t from, size_t into, const std::vector<size_t>& views) {
    Growing& target = regions_[into];
    for (const size_t node : regions_[from].nodes) region_of_[node] = into;
    target.nodes.insert(target.nodes.end(), regions_[from].nodes.begin(), regions_[from].nodes.end());
    target.nodes.insert(target.nodes.end(), views.begin(), views.end());
    regions_[from].nodes.clear();
  }

  NodeKind kind_of(size_t region) const { return facts_[regions_[region].nodes.front()].kind; }
  bool is_live(size_t region) const { return region != kNone && !regions_[region].nodes.empty(); }

  /// A product recomputes its prologue for each of its columns, unless its operand is packed: so the prologue
  /// must be small, and read no neighbours. A concatenation is not a prologue, because a product reads one
  /// joined tensor faster.
  bool may_precede(const Growing& region, size_t reader) const {
    if (facts_[regions_[reader].nodes.front()].chooses &&
        std::ranges::any_of(region.nodes, [&](size_t node) { return facts_[node].rounds; }))
      return false;
    if (kind_of(reader) == NodeKind::Reduction) return true;
    std::vector<size_t> computed = region.nodes;
    std::erase_if(computed, [&](size_t node) { return is(node, NodeKind::View); });
    return kind_of(reader) == NodeKind::Contraction && !facts_[regions_[reader].nodes.front()].has_windows &&
           computed.size() <= kMaxProloguesOfAProduct &&
           std::ranges::all_of(computed, [&](size_t node) { return facts_[node].computes; });
  }

  void join_prologues() {
    for (size_t i = 0; i < regions_.size(); ++i) {
      if (!is_live(i) || (kind_of(i) != NodeKind::Elementwise && kind_of(i) != NodeKind::Gather)) continue;
      std::vector<size_t> views;
      const size_t reader = only_reader(regions_[i], views);
      if (is_live(reader) && reader != i && may_precede(regions_[i], reader) &&
          fit_together({regions_[i].nodes, views, regions_[reader].nodes}))
        merge(i, reader, views);
    }
  }

  bool is_product_of_data(size_t region) const {
    return is_live(region) && kind_of(region) == NodeKind::Contraction &&
           facts_[regions_[region].nodes.front()].varying_inputs == 2;
  }

  /// Products with weights stay separate: fusing gains nothing if all columns read the rows between.
  void join_attention() {
    for (size_t i = 0; i < regions_.size(); ++i) {
      if (!is_product_of_data(i)) continue;
      std::vector<size_t> to_rows, to_product;
      const size_t rows = only_reader(regions_[i], to_rows);
      if (!is_live(rows) || kind_of(rows) != NodeKind::Reduction ||
          facts_[regions_[rows].last].elements != facts_[regions_[i].last].elements)
        continue;
      const size_t product = only_reader(regions_[rows], to_product);
      if (product == i || !is_product_of_data(product) ||
          !fit_together(
              {regions_[i].nodes, to_rows, regions_[rows].nodes, to_product, regions_[product].nodes}))
        continue;
      merge(i, product, to_rows);
      merge(rows, product, to_product);
    }
  }

  /// Backwards, since a view may read a view. A view joins each reader's region; it gets a region of its own
  /// if a reader's region is full, or a reader needs it in memory.
  void give_views() {
    for (size_t i = facts_.size(); i-- > 0;) {
      if (!is(i, NodeKind::View) || region_of_[i] != kNone) continue;
      bool is_computed = flow_.is_result(i) || flow_.readers(i).empty() || is_read_by(i, NodeKind::InPlace) ||
                         is_read_by(i, NodeKind::Loop);
      for (Growing& region : regions_) {
        if (region.nodes.empty() || is(region.nodes.front(), NodeKind::Loop) ||
            loop_of(network_, i) != loop_of(network_, region.nodes.front()))
          continue;
        const auto has = [&](size_t node) {
          return std::ranges::find(region.nodes, node) != region.nodes.end();
        };
        if (has(i) || std::ranges::none_of(flow_.readers(i), has)) continue;
        if (statements_of(region.nodes) + facts_[i].statements <= kMaxStatements) {
          region.nodes.push_back(i);
        } else {
          is_computed = true;
        }
      }
      if (is_computed) regions_.push_back({{i}, i});
    }
  }

  /// A node that nothing reads keeps all its outputs: a kernel must compute something.
  std::vector<TensorIndex> results_of(size_t node) const {
    std::vector<TensorIndex> all = network_.nodes[node].outputs, results;
    std::erase(all, kAbsent);
    std::ranges::copy_if(all, std::back_inserter(results),
                         [&](TensorIndex output) { return flow_.is_read(output); });
    return results.empty() ? all : results;
  }

  std::vector<Region> ordered() const {
    std::vector<Region> result;
    for (const Growing& region : regions_) {
      if (region.nodes.empty()) continue;
      result.push_back({region.nodes, results_of(region.last)});
      std::ranges::sort(result.back().nodes);
    }
    std::ranges::sort(result, {}, [](const Region& region) { return region.nodes.back(); });
    return result;
  }

  const Network& network_;
  std::vector<NodeFacts> facts_;
  DataFlow flow_;
  std::vector<Growing> regions_;
  std::vector<size_t> region_of_;  // by node, except views
};

}  // namespace

std::vector<Region> form_regions(const Network& network) { return Former(network).run(); }

}  // namespace tunesmith::network

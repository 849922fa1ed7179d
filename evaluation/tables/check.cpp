#include <unordered_set>

#include "tunesmith/evaluation/replay.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

/// The current hash of the row's trace, or why it gives no program.
tl::expected<uint64_t, std::string> hash_now(const TableRow& row, const Workload& workload,
                                             const Space& space) {
  try {
    const auto candidate =
        space.materialise(workload.program, Trace::parse(row.trace, "the table's trace"), RandomStream(0));
    if (!candidate) return tl::make_unexpected(candidate.error().message);
    return (*candidate)->lowered_hash;
  } catch (const UserError& error) {  // an instruction that no longer exists
    return tl::make_unexpected(std::string(error.what()));
  }
}

std::vector<tl::expected<uint64_t, std::string>> hashes_now(const Table& table, const Space& space,
                                                            ThreadPool& pool) {
  const Workload workload = workload_of(table);
  std::vector<tl::expected<uint64_t, std::string>> hashes(table.rows.size());
  pool.parallel_for(table.rows.size(),
                    [&](size_t i) { hashes[i] = hash_now(table.rows[i], workload, space); });
  return hashes;
}

}  // namespace

TableCheck check_table(const Table& table, const Space& space, ThreadPool& pool) {
  const auto hashes = hashes_now(table, space, pool);
  TableCheck check;
  check.same_rules = space.rules() == table.rules;
  std::unordered_set<uint64_t> seen;
  for (size_t i = 0; i < hashes.size(); ++i) {
    if (!hashes[i]) {
      if (check.lost++ == 0) check.first_lost = hashes[i].error();
      continue;
    }
    const bool same = *hashes[i] == table.rows[i].lowered_hash;
    ++(same ? check.standing : check.changed);
    if (!seen.insert(*hashes[i]).second) ++check.merged;
  }
  return check;
}

Table rehash_table(const Table& table, const Space& space, ThreadPool& pool) {
  const auto hashes = hashes_now(table, space, pool);
  Table rehashed = table;
  rehashed.rows.clear();
  rehashed.rules = space.rules();
  std::unordered_set<uint64_t> seen;
  for (size_t i = 0; i < hashes.size(); ++i) {
    if (!hashes[i] || !seen.insert(*hashes[i]).second) continue;
    rehashed.rows.push_back(table.rows[i]);
    rehashed.rows.back().lowered_hash = *hashes[i];
  }
  return rehashed;
}

}  // namespace tunesmith

// sample_perfect_tile and sample_partitioned_tile.
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "sampling/factorization.h"
#include "unit/primitives/programs.h"

namespace tunesmith {
namespace {

using test::expect_refused;

const SamplingKind& kind(std::string_view name) {
  return static_cast<const SamplingKind&>(*InstructionRegistry::global().find(name));
}

/// All tuples of `parts` factors of `extent`, by trying every one.
std::vector<Decision> all_tiles(int64_t extent, int64_t parts,
                                const std::function<bool(const Decision&)>& legal) {
  std::vector<Decision> all;
  const std::function<void(Decision, int64_t)> extend = [&](const Decision& begin, int64_t left) {
    if (static_cast<int64_t>(begin.size()) == parts) {
      if (left == 1 && legal(begin)) all.push_back(begin);
      return;
    }
    for (int64_t factor = 1; factor <= left; ++factor) {
      if (left % factor != 0) continue;
      Decision next = begin;
      next.push_back(factor);
      extend(next, left / factor);
    }
  };
  extend({}, extent);
  return all;
}

/// Draws many tiles and compares their distribution with the uniform one over `expected` by chi-square, whose
/// mean is the number of degrees of freedom and whose deviation is the root of twice that number.
void expect_uniform(const SamplingKind& sampling, const SamplingDomain& domain,
                    const std::vector<Decision>& expected) {
  ASSERT_FALSE(expected.empty());
  std::map<Decision, int> counts;
  for (const Decision& tile : expected) counts[tile] = 0;
  const int draws = 400 * static_cast<int>(expected.size());
  RandomStream random(20240);
  for (int i = 0; i < draws; ++i) {
    const Decision drawn = sampling.propose(domain, random);
    const auto at = counts.find(drawn);
    ASSERT_NE(at, counts.end()) << "not a legal tuple: " << testing::PrintToString(drawn);
    ++at->second;
  }
  const double mean = static_cast<double>(draws) / static_cast<double>(expected.size());
  double chi_square = 0;
  for (const auto& [tile, count] : counts) chi_square += (count - mean) * (count - mean) / mean;
  const auto freedom = static_cast<double>(expected.size() - 1);
  EXPECT_LT(chi_square, freedom + 4 * std::sqrt(2 * freedom) + 1e-9);
}

SamplingDomain perfect(int64_t extent, int64_t parts, int64_t max_innermost) {
  SamplingDomain domain;
  domain.extent = extent;
  domain.parts = parts;
  domain.max_innermost = max_innermost;
  return domain;
}

SamplingDomain partitioned(int64_t extent, int64_t parts, int64_t partition, int64_t inner_factor) {
  SamplingDomain domain;
  domain.extent = extent;
  domain.parts = parts;
  domain.partition = partition;
  domain.inner_factor = inner_factor;
  return domain;
}

TEST(Factorization, CountsAreExact) {
  const auto any = [](const Decision&) { return true; };
  for (int64_t n = 1; n <= 72; ++n) {
    for (int64_t parts = 1; parts <= 4; ++parts) {
      EXPECT_EQ(count_factorizations(n, parts), all_tiles(n, parts, any).size()) << n << " in " << parts;
    }
  }
  EXPECT_EQ(count_factorizations(1, 0), 1U);
  EXPECT_EQ(count_factorizations(6, 0), 0U);
  EXPECT_EQ(count_factorizations(int64_t{1} << 40, 16), 11899700525790ULL);
}

TEST(SamplePerfectTile, IsUniformOverAllTuples) {
  for (const auto& [extent, parts, bound] :
       std::vector<std::tuple<int64_t, int64_t, int64_t>>{{64, 4, 16},
                                                          {60, 3, 60},
                                                          {60, 3, 5},
                                                          {97, 4, 16},  // a prime that may not stand last
                                                          {97, 4, 97},  // a prime that may
                                                          {1, 3, 1},
                                                          {36, 1, 36},
                                                          {210, 2, 7},
                                                          {72, 2, 1}}) {
    SCOPED_TRACE(testing::Message() << extent << " in " << parts << " up to " << bound);
    const auto legal = [limit = bound](const Decision& tile) { return tile.back() <= limit; };
    expect_uniform(kind("sample_perfect_tile"), perfect(extent, parts, bound),
                   all_tiles(extent, parts, legal));
  }
}

TEST(SamplePartitionedTile, IsUniformOverAllTuples) {
  for (const auto& [extent, parts, partition, inner] :
       std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>>{
           {64, 4, 2, 8}, {60, 3, 1, 4}, {60, 3, 0, 60}, {97, 3, 2, 97}, {24, 2, 1, 1}}) {
    SCOPED_TRACE(testing::Message() << extent << " in " << parts << " from " << partition << " by " << inner);
    const auto legal = [from = partition, by = inner](const Decision& tile) {
      return std::accumulate(tile.begin() + from, tile.end(), int64_t{1}, std::multiplies<>()) % by == 0;
    };
    expect_uniform(kind("sample_partitioned_tile"), partitioned(extent, parts, partition, inner),
                   all_tiles(extent, parts, legal));
  }
}

/// Mutations and neighbours are legal, differ from where they start, and lead from any tuple to any other.
void expect_connected(const SamplingKind& sampling, const SamplingDomain& domain,
                      const std::vector<Decision>& all) {
  const std::set<Decision> legal(all.begin(), all.end());
  RandomStream random(5);
  for (const Decision& tile : all) {
    const auto other = sampling.mutate(domain, tile, random);
    EXPECT_EQ(other.has_value(), all.size() > 1);
    if (other.has_value()) {
      EXPECT_NE(*other, tile);
      EXPECT_TRUE(legal.contains(*other));
    }
  }
  std::set<Decision> reached{all.front()};
  std::vector<Decision> open{all.front()};
  while (!open.empty()) {
    const Decision from = open.back();
    open.pop_back();
    const std::vector<Decision> neighbours = sampling.enumerate(domain, from);
    EXPECT_EQ(std::set<Decision>(neighbours.begin(), neighbours.end()).size(), neighbours.size());
    for (const Decision& next : neighbours) {
      EXPECT_TRUE(legal.contains(next));
      EXPECT_NE(next, from);
      if (reached.insert(next).second) open.push_back(next);
    }
  }
  EXPECT_EQ(reached, legal);
}

TEST(SamplePerfectTile, MovesReachEveryTuple) {
  const auto legal = [](const Decision& tile) { return tile.back() <= 4; };
  const auto& sampling = kind("sample_perfect_tile");
  expect_connected(sampling, perfect(48, 3, 4), all_tiles(48, 3, legal));
  expect_connected(sampling, perfect(13, 3, 4), all_tiles(13, 3, legal));
  expect_connected(sampling, perfect(1, 3, 4), all_tiles(1, 3, legal));
}

TEST(SamplePartitionedTile, MovesReachEveryTuple) {
  const auto legal = [](const Decision& tile) { return tile[1] * tile[2] % 4 == 0; };
  expect_connected(kind("sample_partitioned_tile"), partitioned(48, 3, 1, 4), all_tiles(48, 3, legal));
}

/// at() numbers exactly the legal tuples, and all have different encodings.
void expect_numbered(const SamplingKind& sampling, const SamplingDomain& domain,
                     const std::vector<Decision>& all) {
  ASSERT_EQ(sampling.count(domain), all.size());
  std::set<Decision> numbered;
  std::set<std::vector<double>> encoded;
  for (uint64_t i = 0; i < all.size(); ++i) {
    const Decision tile = sampling.at(domain, i);
    numbered.insert(tile);
    encoded.insert(sampling.encode(domain, tile));
    for (const double value : sampling.encode(domain, tile)) {
      EXPECT_GE(value, 0.0);
      EXPECT_LE(value, 1.0 + 1e-12);
    }
  }
  EXPECT_EQ(numbered, std::set<Decision>(all.begin(), all.end()));
  EXPECT_EQ(encoded.size(), all.size());
}

TEST(SamplePerfectTile, EveryTupleHasANumber) {
  for (const auto& [extent, parts, bound] : std::vector<std::tuple<int64_t, int64_t, int64_t>>{
           {64, 4, 16}, {60, 3, 5}, {97, 4, 16}, {1, 3, 1}, {36, 1, 36}, {210, 2, 7}, {72, 2, 1}}) {
    SCOPED_TRACE(testing::Message() << extent << " in " << parts << " up to " << bound);
    const auto legal = [limit = bound](const Decision& tile) { return tile.back() <= limit; };
    expect_numbered(kind("sample_perfect_tile"), perfect(extent, parts, bound),
                    all_tiles(extent, parts, legal));
  }
}

TEST(SamplePartitionedTile, EveryTupleHasANumber) {
  for (const auto& [extent, parts, partition, inner] :
       std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>>{
           {64, 4, 2, 8}, {60, 3, 1, 4}, {60, 3, 0, 60}, {97, 3, 2, 97}, {24, 2, 1, 1}}) {
    SCOPED_TRACE(testing::Message() << extent << " in " << parts << " from " << partition << " by " << inner);
    const auto legal = [from = partition, by = inner](const Decision& tile) {
      return std::accumulate(tile.begin() + from, tile.end(), int64_t{1}, std::multiplies<>()) % by == 0;
    };
    expect_numbered(kind("sample_partitioned_tile"), partitioned(extent, parts, partition, inner),
                    all_tiles(extent, parts, legal));
  }
}

TEST(SamplePerfectTile, IsEncodedByTheLogarithmsOfFactorsAndOfProductsOfTheFirst) {
  const std::vector<double> four = kind("sample_perfect_tile").encode(perfect(64, 4, 64), {2, 4, 1, 8});
  ASSERT_EQ(four.size(), 5U);
  const std::vector<double> wanted = {1.0 / 6, 2.0 / 6, 0.0, 3.0 / 6, 3.0 / 6};
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(four[i], wanted[i], 1e-12) << i;
  EXPECT_EQ(kind("sample_perfect_tile").encode(perfect(64, 2, 64), {8, 8}).size(), 2U);
  EXPECT_EQ(kind("sample_perfect_tile").encode(perfect(1, 2, 64), {1, 1}), (std::vector<double>{0, 0}));
}

TEST(SamplePerfectTile, RepairTakesTheNearestFromTheInnermostOutwards) {
  const auto& sampling = kind("sample_perfect_tile");
  const SamplingDomain domain = perfect(48, 3, 16);
  EXPECT_EQ(sampling.repair(domain, {4, 3, 4}), (Decision{4, 3, 4}));  // legal: itself
  EXPECT_EQ(sampling.repair(domain, {1, 1, 48}), (Decision{3, 1, 16}));
  EXPECT_EQ(sampling.repair(domain, {8, 5, 7}), (Decision{1, 6, 8}));
  EXPECT_EQ(sampling.repair(domain, {-3, 0, 100000}), (Decision{3, 1, 16}));
  EXPECT_EQ(sampling.repair(domain, {}), (Decision{48, 1, 1}));
  EXPECT_EQ(sampling.repair(domain, {1, 2, 3, 4, 5}), (Decision{8, 2, 3}));
  EXPECT_EQ(sampling.repair(perfect(7, 2, 4), {1, 7}), (Decision{7, 1}));
  RandomStream random(3);
  for (int i = 0; i < 200; ++i) {
    const Decision legal = sampling.propose(domain, random);
    EXPECT_EQ(sampling.repair(domain, legal), legal);
  }
}

TEST(SamplePartitionedTile, RepairKeepsTheInnerFactor) {
  const auto& sampling = kind("sample_partitioned_tile");
  const SamplingDomain domain = partitioned(48, 4, 2, 16);
  EXPECT_EQ(sampling.repair(domain, {1, 3, 4, 4}), (Decision{1, 3, 4, 4}));
  EXPECT_EQ(sampling.repair(domain, {12, 4, 1, 1}), (Decision{1, 3, 16, 1}));
  EXPECT_EQ(sampling.repair(domain, {1, 1, 1, 3}), (Decision{1, 1, 16, 3}));
  EXPECT_EQ(sampling.repair(partitioned(48, 2, 0, 48), {5, 7}), (Decision{6, 8}));
}

TEST(SampleTiles, Refusals) {
  const Program program = test::make_gmm(30, 8, 4);
  Schedule schedule(program);
  const LoopRV loop = schedule.get_loops(schedule.get_block("C"))[0];
  const auto tile = [&](int n, int bound) {
    return [&, n, bound] { schedule.sample_perfect_tile(loop, n, bound); };
  };
  expect_refused(schedule, "sample_perfect_tile", "the number of factors is not between 1 and 16",
                 tile(0, 8));
  expect_refused(schedule, "sample_perfect_tile", "the number of factors is not between 1 and 16",
                 tile(17, 8));
  expect_refused(schedule, "sample_perfect_tile", "no factor may be so small", tile(2, 0));
  expect_refused(schedule, "sample_perfect_tile", "no factor may be so small", tile(1, 8));
  const auto part = [&](int at, int inner) {
    return [&, at, inner] { schedule.sample_partitioned_tile(loop, 2, at, inner); };
  };
  expect_refused(schedule, "sample_partitioned_tile", "the partition is not a position of a factor",
                 part(2, 1));
  expect_refused(schedule, "sample_partitioned_tile", "the partition is not a position of a factor",
                 part(-1, 1));
  expect_refused(schedule, "sample_partitioned_tile", "the inner factor does not divide the extent",
                 part(1, 4));
  expect_refused(schedule, "sample_partitioned_tile", "the inner factor does not divide the extent",
                 part(1, 0));
}

TEST(SampleTiles, LargeExtentsAreDrawnAtOnce) {
  const auto& sampling = kind("sample_perfect_tile");
  const SamplingDomain domain = perfect(int64_t{1} << 40, 16, 64);
  RandomStream random(1);
  const Decision drawn = sampling.propose(domain, random);
  EXPECT_EQ(sampling.repair(domain, drawn), drawn);
  EXPECT_LE(drawn.back(), 64);
}

}  // namespace
}  // namespace tunesmith

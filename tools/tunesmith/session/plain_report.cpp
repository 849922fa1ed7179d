#include "plain_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "say.h"

namespace tunesmith::cli {
namespace {

std::string sketches_text(size_t count, size_t all) {
  if (count < all) return fmt::format("{} of {} sketches leave", count, all);
  return all == 1 ? "the only sketch leaves" : fmt::format("all {} sketches leave", all);
}

}  // namespace

nlohmann::json plain_json(std::span<const PlainBlock> blocks) {
  nlohmann::json list = nlohmann::json::array();
  for (const PlainBlock& block : blocks) {
    nlohmann::json declined = nlohmann::json::array();
    for (const PlainBlock::Declined& one : block.declined)
      declined.push_back({{"module", one.module}, {"reason", one.reason}});
    list.push_back({{"block", block.block},
                    {"share", block.share},
                    {"sketches", block.sketches},
                    {"declined", std::move(declined)}});
  }
  return list;
}

std::string plain_text(const PlainBlock& block, size_t all_sketches) {
  std::string text = fmt::format("block {} has {:.1f} % of the work, and {} it plain", block.block,
                                 100.0 * block.share, sketches_text(block.sketches, all_sketches));
  for (const PlainBlock::Declined& one : block.declined)
    text += fmt::format("\n  {:<28} declined  {}", one.module, one.reason);
  return text;
}

void tell_plain(std::span<const PlainBlock> blocks, const std::string& task) {
  for (const PlainBlock& block : blocks)
    say(fmt::format("{}{}", task.empty() ? "" : task + ": ", plain_text(block, block.sketches)));
}

}  // namespace tunesmith::cli

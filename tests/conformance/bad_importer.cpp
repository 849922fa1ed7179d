// Reads files that end in .bad as empty networks, unless TUNESMITH_TEST_MISTAKE asks for a mistake.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <tunesmith/network/importer.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/support/error.h>

#include "mistake.h"

namespace {

using namespace tunesmith;

std::atomic<uint64_t> objects;
std::atomic<int> inside;

class EveryOperator final : public network::Operator {
 public:
  network::Computation define(const network::NodeView& /*node*/) const override { return {}; }
};

class BadImporter final : public Importer {
 public:
  bool reads(std::string_view file_name, std::span<const std::byte> /*head*/) const override {
    misbehave("reads");
    return file_name.ends_with(".bad");
  }

  network::Network import(std::span<const std::byte> bytes, const std::shared_ptr<const void>& /*owner*/,
                          const std::filesystem::path& /*folder*/) const override {
    misbehave("import");
    if (mistake("throws_at_damage")) throw std::out_of_range("beyond the end");
    if (mistake("broken_network")) return {"", {}, {}, {0}, {}};
    const bool alone = inside++ == 0;
    if (mistake("shares_state")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    --inside;
    if (mistake("shares_state") && !alone) throw UserError("busy");
    if (mistake("objects_differ")) throw UserError(std::to_string(number_));
    if (mistake("counts_questions")) throw UserError(std::to_string(asked_++));
    if (bytes.empty()) return {};
    throw UserError("not a file of a network");
  }

  const network::Operator* find_operator(std::string_view /*op*/, int64_t /*version*/) const override {
    static const EveryOperator kEvery;
    return mistake("invents_operators") ? &kEvery : nullptr;
  }

 private:
  const uint64_t number_ = objects++;
  mutable std::atomic<uint64_t> asked_ = 0;
};

}  // namespace

TUNESMITH_PLUGIN(BadImporter, PluginKind::Importer, "bad_importer", "1.0.0",
                 "makes the mistake that it is asked for");

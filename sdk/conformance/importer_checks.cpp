// Checks of importers: for any bytes the result is a
// sound network or a UserError, and deterministic.
#include <array>
#include <thread>

#include <fmt/format.h>

#include "checks.h"
#include "tunesmith/network/importer.h"
#include "tunesmith/support/random.h"

namespace tunesmith::conformance {
namespace of_importers {
namespace {

/// Bytes that are not a valid file of any format.
std::vector<std::string> damaged_files() {
  std::vector<std::string> files = {"", "x", std::string(1 << 16, '\xff'), std::string(1 << 12, '\0'),
                                    std::string(1 << 12, '\x0a')};
  // Fields that claim the rest's length, or much more: nested as deeply as possible.
  std::string nested;
  for (int i = 0; i < 2000; ++i) nested += "\x3a\x7f";
  files.push_back(nested);
  files.emplace_back("\x3a\xff\xff\xff\xff\x0f");
  for (uint64_t number = 0; number < 32; ++number) {
    RandomStream random(number, 1);
    std::string bytes(static_cast<size_t>(1) << (number % 13), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.uniform() * 256);
    files.push_back(bytes);
  }
  return files;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// The importer's result as text. Rethrows everything but UserError.
std::string answer(const Importer& importer, const std::string& bytes) {
  const bool reads = importer.reads("file", bytes_of(bytes));
  try {
    const network::Network network =
        importer.import(bytes_of(bytes), nullptr, std::filesystem::path("/nonexistent"));
    network::check_invariants(network);
    return fmt::format("{} {}", reads, network::to_text(network));
  } catch (const UserError& error) {
    return fmt::format("{} {}", reads, error.what());
  }
}

std::vector<std::string> answers(const Importer& importer, const std::vector<std::string>& files) {
  std::vector<std::string> result;
  result.reserve(files.size());
  for (const std::string& bytes : files) result.push_back(answer(importer, bytes));
  return result;
}

/// Damaged bytes give a UserError or a sound network.
Verdict check_contract(const Subject& subject) {
  const auto importer = subject.create<Importer>();
  for (const std::string& bytes : damaged_files()) {
    try {
      answer(*importer, bytes);
    } catch (const InternalError& error) {
      return failed(fmt::format("of {} bytes it makes what is no network: {}", bytes.size(), error.what()));
    } catch (const std::exception& error) {
      return failed(
          fmt::format("{} bytes that are no network end in no UserError: {}", bytes.size(), error.what()));
    }
  }
  return passed();
}

/// An unknown name finds no operator.
Verdict check_operators(const Subject& subject) {
  const auto importer = subject.create<Importer>();
  return importer->find_operator("no such operator", 1) == nullptr
             ? passed()
             : failed("it finds an operator called 'no such operator'");
}

/// A second object, and a repeated call, return the same.
Verdict check_determinism(const Subject& subject) {
  const std::vector<std::string> files = damaged_files();
  const auto first = subject.create<Importer>();
  const auto second = subject.create<Importer>();
  const std::vector<std::string> wanted = answers(*first, files);
  if (answers(*first, files) != wanted) return failed("asked again, it answered something else");
  return answers(*second, files) == wanted ? passed() : failed("a second object answered something else");
}

/// One object used by four threads returns the same as in one.
Verdict check_threads(const Subject& subject) {
  const std::vector<std::string> files = damaged_files();
  const auto importer = subject.create<Importer>();
  const std::vector<std::string> wanted = answers(*importer, files);
  std::array<std::string, 4> faults;
  {
    std::vector<std::jthread> threads;
    for (std::string& fault : faults) {
      threads.emplace_back([&] {
        try {
          if (answers(*importer, files) != wanted) fault = "with several threads it answered something else";
        } catch (const std::exception& error) {
          fault = fmt::format("with several threads: {}", error.what());
        }
      });
    }
  }
  for (const std::string& fault : faults) {
    if (!fault.empty()) return failed(fault);
  }
  return passed();
}

constexpr Check kChecks[] = {
    {"contract", "P30", &check_contract},
    {"operators", "P30", &check_operators},
    {"determinism", "P19", &check_determinism},
    {"threads", "P20", &check_threads},
};

}  // namespace
}  // namespace of_importers

std::span<const Check> importer_checks() { return of_importers::kChecks; }

}  // namespace tunesmith::conformance

#include "golden/corpus.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace tunesmith::golden {
namespace {

constexpr const char* kLowering = "kLoweringVersion in tunesmith/lower/version.h";

std::string target_of(const std::string& key) { return key.substr(0, key.find(' ')); }

void compare_program(const Corpus& held, const Corpus& now, const std::string& key, Differences& found) {
  const auto before = held.programs.find(key);
  if (before == held.programs.end()) {
    found.others.push_back(fmt::format("{}: is not in the corpus", key));
    return;
  }
  const Hashes& then = before->second;
  const Hashes& today = now.programs.at(key);
  const Generator& generator = now.generators.at(target_of(key));
  const auto held_generator = held.generators.find(target_of(key));
  const bool same_libraries =
      held_generator != held.generators.end() && held_generator->second.libraries == generator.libraries;
  if (then.trace != today.trace) {
    found.others.push_back(
        fmt::format("{}: its space draws another program, for which no version stands", key));
  } else if (then.lowered != today.lowered) {
    (held.lowering == now.lowering ? found.versions : found.others)
        .push_back(fmt::format("{}: the same trace gives another lowered program: raise {}", key, kLowering));
  } else if (same_libraries && then.code != today.code) {
    (held_generator->second.same_as(generator) ? found.versions : found.others)
        .push_back(
            fmt::format("{}: of the same lowered program comes other code: raise kGeneratorVersion in {}",
                        key, generator.source));
  }
}

}  // namespace

Differences compare(const Corpus& held, const Corpus& now) {
  Differences found;
  if (held.lowering != now.lowering)
    found.others.push_back(
        fmt::format("lowering is of version {}, the corpus of {}", now.lowering, held.lowering));
  for (const auto& [target, generator] : now.generators) {
    const auto before = held.generators.find(target);
    if (before == held.generators.end() || before->second.version != generator.version)
      found.others.push_back(fmt::format("the generator of {} is of version {}, the corpus of another",
                                         target, generator.version));
  }
  for (const auto& [file, hash] : now.texts) {
    const auto before = held.texts.find(file);
    if (before == held.texts.end() || before->second != hash)
      found.others.push_back(
          fmt::format("{} is another text: if what is compiled of it may differ, raise the "
                      "version of its generator",
                      file));
  }
  for (const auto& [key, hashes] : now.programs) compare_program(held, now, key, found);
  return found;
}

Corpus Corpus::read(const std::filesystem::path& file) {
  Corpus corpus;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "lowering") {
      words >> corpus.lowering;
    } else if (kind == "generator") {
      std::string target;
      words >> target;
      words >> corpus.generators[target].version >> corpus.generators[target].libraries;
    } else if (kind == "text") {
      std::string name;
      words >> name;
      words >> corpus.texts[name];
    } else {
      std::string space, workload, number;
      words >> space >> workload >> number;
      Hashes& hashes = corpus.programs[fmt::format("{} {} {} {}", kind, space, workload, number)];
      words >> hashes.trace >> hashes.lowered >> hashes.code;
    }
  }
  return corpus;
}

void Corpus::write(const std::filesystem::path& file) const {
  std::ofstream out(file);
  out << "# Written by TUNESMITH_WRITE_GOLDEN=1 build/release/bin/golden (docs/testing.md). Target, space, "
         "workload, number;\n# hashes of the trace, of the lowered program, and of its code.\n";
  out << "lowering " << lowering << '\n';
  for (const auto& [target, generator] : generators) {
    out << "generator " << target << ' ' << generator.version;
    out << (generator.libraries.empty() ? "" : " ") << generator.libraries << '\n';
  }
  for (const auto& [name, hash] : texts) out << "text " << name << ' ' << hash << '\n';
  for (const auto& [key, hashes] : programs)
    out << key << ' ' << hashes.trace << ' ' << hashes.lowered << ' ' << hashes.code << '\n';
}

}  // namespace tunesmith::golden

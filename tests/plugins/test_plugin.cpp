// An extension with the id "subject" that does nothing, and by definition of DEFECT_... one thing wrong.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/target/target.h>

int tunesmith_test_function_of_nobody();

namespace {

using tunesmith::OptionSpec;

class Subject final : public tunesmith::TargetExtension {
 public:
  explicit Subject([[maybe_unused]] const tunesmith::Options& options) : scale_(options.get_double("scale")) {
#if defined(DEFECT_THROWS_IN_CREATE)
    throw std::runtime_error("boom in create");
#elif defined(DEFECT_THROWS_INT_IN_CREATE)
    throw 42;
#elif defined(DEFECT_REFUSES_OPTIONS)
    options.fail("scale", "is not to my taste");
#elif defined(DEFECT_UNDEFINED_SYMBOL)
    scale_ += tunesmith_test_function_of_nobody();
#endif
  }
  tunesmith::ProbeResult probe(const tunesmith::Target&) const override { return {}; }
  void describe(tunesmith::DeviceModel& device) const override { device.set("scale", scale_); }
  void adapt(tunesmith::LowerOptions&) const override {}

 private:
  double scale_;
};

[[maybe_unused]] std::vector<OptionSpec> options() {
#if defined(DEFECT_THROWS_IN_OPTIONS)
  throw std::runtime_error("boom in options");
#elif defined(DEFECT_OPTION_TWICE)
  return {OptionSpec::boolean("loud", false, "say more"), OptionSpec::boolean("loud", true, "say more")};
#elif defined(DEFECT_NO_HELP)
  return {OptionSpec::boolean("loud", false, "")};
#elif defined(DEFECT_BAD_DEFAULT)
  return {OptionSpec::integer("level", 9, 0, 3, "how much to say")};
#else
  return {OptionSpec::real("scale", 1.0, 0.0, 10.0, "what describe() tells")};
#endif
}

[[maybe_unused]] consteval tunesmith::PluginNote note() {
#if defined(DEFECT_STABLE_NEWER_MINOR)
  return tunesmith::make_stable_note(tunesmith::PluginKind::Extension, "subject", "2.1.0", 1, 999);
#elif defined(DEFECT_STABLE_OTHER_MAJOR)
  return tunesmith::make_stable_note(tunesmith::PluginKind::Extension, "subject", "2.1.0", 7, 0);
#endif
  tunesmith::PluginNote note =
      tunesmith::make_exact_note(tunesmith::PluginKind::Extension, "subject", "2.1.0");
#if defined(DEFECT_OLDER_API)
  note.api_minor = tunesmith::kApiMinor - 1;
#elif defined(DEFECT_OTHER_HEADERS)
  note.header_hash = tunesmith::note_text<24>("0123456789abcdef");
#elif defined(DEFECT_OTHER_LIBRARIES)
  note.abi.boost = 106600;
  note.abi.expected = 301;
#elif defined(DEFECT_OTHER_FINGERPRINT)
  note.api_minor = 99;
  note.header_hash = tunesmith::note_text<24>("0123456789abcdef");
  note.abi.compiler_abi = 1002;
  note.abi.cxx11_abi = 0;
  note.abi.sanitizers = 2;
  note.abi.cxx_standard = 201703;
#elif defined(DEFECT_OTHER_KIND)
  note.kind = static_cast<uint32_t>(tunesmith::PluginKind::Searcher);
  note.header_hash = tunesmith::note_text<24>(tunesmith::header_hash(tunesmith::PluginKind::Searcher));
#elif defined(DEFECT_UNKNOWN_TIER)
  note.tier = 3;
#endif
  return note;
}

#if defined(DEFECT_THROWS_WHILE_LOADING)
[[maybe_unused]] const int thrown = [] {
  throw std::runtime_error("boom while loading");
  return 0;
}();
#elif defined(DEFECT_CRASHES_WHILE_LOADING) || defined(DEFECT_OTHER_HEADERS) || \
    defined(DEFECT_STABLE_NEWER_MINOR) || defined(DEFECT_STABLE_OTHER_MAJOR)
[[maybe_unused]] const int crashed = [] {
  std::abort();
  return 0;
}();
#endif

}  // namespace

#if defined(DEFECT_LONGER_NOTE)
namespace {
/// A note as a later kernel might define it, with more fields at its end.
struct LongerNote {
  tunesmith::ElfPluginNote note;
  std::array<uint32_t, 4> more{1, 2, 3, 4};
};
consteval LongerNote longer_note() {
  LongerNote longer;
  longer.note = tunesmith::make_elf_note(note());
  longer.note.content_size += sizeof(longer.more);
  longer.note.content.note_size += sizeof(longer.more);
  return longer;
}
__attribute__((used, section(".note.tunesmith"), aligned(4))) constinit const LongerNote longer =
    longer_note();
}  // namespace
#elif !defined(DEFECT_NO_NOTE)
TUNESMITH_EXPORT_NOTE(note());
#endif

#if defined(DEFECT_TWO_NOTES)
namespace {
__attribute__((used, section(".note.tunesmith"),
               aligned(4))) constinit const tunesmith::ElfPluginNote second_note =
    tunesmith::make_elf_note(note());
}
#endif

#if !defined(DEFECT_NO_DESCRIPTOR)
constinit const tunesmith::PluginDescriptor tunesmith_plugin_descriptor = {
    sizeof(tunesmith::PluginDescriptor),
    tunesmith::kApiMajor,
    tunesmith::kApiMinor,
    tunesmith::PluginKind::Extension,
#if defined(DEFECT_OTHER_DESCRIPTOR)
    "somebody_else",
#else
    "subject",
#endif
    "2.1.0",
    "does nothing",
    &options,
    &tunesmith::PluginEntry<Subject, tunesmith::PluginKind::Extension>::create,
    &tunesmith::PluginEntry<Subject, tunesmith::PluginKind::Extension>::destroy};
#endif

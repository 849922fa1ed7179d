#include "candidate.h"

#include <span>

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tunesmith/performance/features.h>
#include <tunesmith/support/hash.h>
#include <tunesmith/support/thread_pool.h>

#include "errors.h"
#include "kernel.h"

namespace tunesmith::python {
namespace {

KernelObject build_candidate(const CandidateRef& self, int threads) {
  require_own_process();
  if (!self.space || !self.workload)
    throw UserError("this candidate has no workload", "build those that ts.Search proposes");
  const int all = threads > 0 ? threads : static_cast<int>(available_processors());
  auto compiled = [&] {
    const nb::gil_scoped_release unlocked;
    return self.space->space->target().compile(self.value->lowered, "candidate");
  }();
  if (!compiled)
    throw UserError(fmt::format("{} does not compile: {}", self.workload->key, compiled.error()));
  return kernel_of(
      self.space, self.workload, std::move(*compiled), all,
      fmt::format("{}, candidate {}, not verified", self.workload->key, hex64(self.value->lowered_hash)));
}

const CandidatePtr& with_program(const CandidateRef& self) {
  if (!self.value->has_program())
    throw UserError("a candidate of the history has no program", "context.materialise() makes it again");
  return self.value;
}

ProgramRef program_of(const CandidateRef& self) {
  const CandidatePtr& candidate = with_program(self);
  return {self.workload ? std::shared_ptr<const Program>(self.workload, &self.workload->program) : nullptr,
          std::shared_ptr<const LoweredProgram>(candidate, &candidate->lowered)};
}

using Rows = nb::ndarray<nb::numpy, const float, nb::ndim<2>, nb::c_contig>;

Rows features_in(const CandidateRef& self, const DeviceRef& device) {
  const FeatureRows& rows = features_of(*with_program(self), *device.value);
  // The rows live as long as the candidate.
  return {rows.values.data(), {rows.rows(), rows.columns}, nb::cast(self)};
}

std::optional<double> seconds_of(const MeasuredRef& self) {
  return self.value.timing ? std::optional(self.value.timing->min) : std::nullopt;
}

double quantity(const DeviceRef& self, const std::string& name) {
  if (const std::optional<double> value = self.value->find(name)) return *value;
  std::vector<std::string> known;
  for (const auto& [other, value] : self.value->all()) known.push_back(other);
  throw nb::key_error(fmt::format("'{}'; {}", name, suggest(name, known)).c_str());
}

void bind_device(nb::module_& module) {
  nb::class_<DeviceRef>(module, "Device",
                        "The machine as named quantities (docs/targets.md), in the units given by their "
                        "names: `device[\"cores\"]`.")
      .def("__getitem__", &quantity, nb::arg("name"), "Raises KeyError with the nearest name.")
      .def(
          "get",
          [](const DeviceRef& self, const std::string& name, double fallback) {
            return self.value->get_or(name, fallback);
          },
          nb::arg("name"), nb::arg("fallback"),
          "The quantity, or `fallback` where the target does not give it.")
      .def("__contains__",
           [](const DeviceRef& self, const std::string& name) { return self.value->find(name).has_value(); })
      .def("__iter__",
           [](const DeviceRef& self) { return IteratorOf<nb::str>(nb::iter(nb::cast(self).attr("keys")())); })
      .def(
          "keys",
          [](const DeviceRef& self) {
            ListOf<nb::str> names{nb::list()};
            for (const auto& [name, value] : self.value->all()) names.append(name);
            return names;
          },
          "The names of its quantities, sorted.")
      .def("__len__", [](const DeviceRef& self) { return self.value->all().size(); })
      .def("__repr__", [](const DeviceRef& self) { return "Device: " + self.value->description; });
}

void bind_random(nb::module_& module) {
  nb::class_<RandomStream>(module, "RandomStream",
                           R"(Random numbers that are the same on every machine for the same seed.

A searcher takes its streams from SearchContext.next_stream(), so that a run can be repeated and continued. One made
of a seed is for tests.)")
      .def(nb::init<uint64_t, uint64_t>(), nb::arg("seed"), nb::arg("index") = 0)
      .def("next", &RandomStream::next, "64 random bits, as an int.")
      .def(
          "below",
          [](RandomStream& self, int64_t bound) {
            if (bound < 1) throw UserError(fmt::format("below: expected a number above 0, not {}", bound));
            return self.below(static_cast<uint64_t>(bound));
          },
          nb::arg("bound"), "An int from 0 to `bound` - 1, uniformly.")
      .def("uniform", &RandomStream::uniform, "A float from 0, and below 1.")
      .def("normal", &RandomStream::normal, "Of the standard normal distribution.")
      .def(
          "categorical",
          [](RandomStream& self, const std::vector<double>& weights) {
            double sum = 0.0;
            for (const double weight : weights) {
              if (!(weight >= 0.0)) throw UserError("categorical: expected weights of 0 or more");
              sum += weight;
            }
            if (sum <= 0.0) throw UserError("categorical: expected a weight above 0");
            return self.categorical(weights);
          },
          nb::arg("weights"), "An index, with probability proportional to its weight.")
      .def(
          "choice",
          [](RandomStream& self, const nb::sequence& items) {
            const size_t count = nb::len(items);
            if (count == 0) throw UserError("choice: expected something to choose from");
            return nb::object(items[self.below(count)]);
          },
          nb::arg("items"),
          nb::sig("def choice(self, items: collections.abc.Sequence[Item]) -> "
                  "Item"),
          "One element of a sequence, uniformly.")
      .def(
          "shuffle",
          [](RandomStream& self, ListOf<nb::any> items) {
            for (size_t i = items.size(); i > 1; --i) {
              const size_t other = self.below(i);
              const nb::object last(items[i - 1]);
              items[i - 1] = nb::object(items[other]);
              items[other] = last;
            }
          },
          nb::arg("items"), "Shuffles a list in place.")
      .def("__copy__", [](const RandomStream& self) { return RandomStream(self); });
}

void bind_measured(nb::module_& module) {
  nb::class_<MeasuredRef>(module, "Measured", "A candidate and its measurement.")
      .def_prop_ro(
          "candidate",
          [](const MeasuredRef& self) {
            return CandidateRef{self.value.candidate, nullptr, nullptr, self.intrinsics};
          },
          "The Candidate.")
      .def_prop_ro("seconds", &seconds_of, "Of one call, the smallest sample; None: it failed.")
      .def_prop_ro(
          "samples",
          [](const MeasuredRef& self) {
            return self.value.timing ? self.value.timing->samples : std::vector<double>();
          },
          "Seconds of one call each, in the order in which they were taken; empty: it failed.")
      .def_prop_ro(
          "failure",
          [](const MeasuredRef& self) -> std::optional<std::string> {
            if (!self.value.failure) return std::nullopt;
            return std::string(failure_cause_name(self.value.failure->cause));
          },
          "The cause, as \"wrong_result\"; None: it worked.")
      .def_prop_ro(
          "message",
          [](const MeasuredRef& self) { return self.value.failure ? self.value.failure->message : ""; },
          "Details of the failure; \"\": it worked.")
      .def("__repr__", [](const MeasuredRef& self) {
        return fmt::format("Measured {}: {}", hex64(self.value.candidate->lowered_hash),
                           self.value.failure ? std::string(failure_cause_name(self.value.failure->cause))
                                              : fmt::format("{} s", self.value.timing->min));
      });
}

}  // namespace

ListOf<MeasuredRef> measured_of(std::span<const Measured> results, const IntrinsicsPtr& intrinsics) {
  nb::list list;
  for (const Measured& result : results) list.append(nb::cast(MeasuredRef{result, intrinsics}));
  return list;
}

void bind_candidate(nb::module_& module) {
  bind_device(module);
  bind_random(module);
  nb::class_<CandidateRef>(module, "Candidate",
                           R"(A program that a searcher proposes. `==` compares the programs.

Those of a history have no program: their traces give it again.)")
      .def_prop_ro(
          "trace",
          [](const CandidateRef& self) {
            return TraceRef{self.value->trace, self.workload,
                            self.space ? self.space->space->intrinsics() : self.intrinsics};
          },
          "Complete: it gives the program without any module. Of a history's, the part that is searched.")
      .def_prop_ro("program", &program_of, "Lowered. Raises UserError for a candidate of a history.")
      .def_prop_ro(
          "hash", [](const CandidateRef& self) { return hex64(self.value->lowered_hash); },
          "Of the lowered program: what the candidate is.")
      .def(
          "features", &features_in, nb::arg("device"),
          R"(Numbers that describe the program, as a numpy array of float32 that may not be written: a row for each store, a column
for each of feature_columns(), and behind them those of the space's extensions. `device`: what CostModel.begin() is
given. Raises UserError for a candidate of a history.)")
      .def("build", &build_candidate, nb::arg("threads") = 0,
           "Compiles it for this process: a Kernel. It is not verified: compare its results.")
      .def("__eq__",
           [](const CandidateRef& self, const CandidateRef& other) {
             return self.value->lowered_hash == other.value->lowered_hash;
           })
      .def("__eq__", [](const CandidateRef&, nb::handle) { return false; })
      .def("__hash__",
           [](const CandidateRef& self) { return static_cast<int64_t>(self.value->lowered_hash >> 1); })
      .def("__repr__", [](const CandidateRef& self) {
        return fmt::format("Candidate {}", hex64(self.value->lowered_hash));
      });
  bind_measured(module);
  module.def(
      "feature_columns",
      [] {
        ListOf<nb::str> names{nb::list()};
        for (const FeatureColumn& column : feature_columns()) names.append(column.name);
        return names;
      },
      "The names of the columns of Candidate.features(); docs/search.md says what they mean.");
}

}  // namespace tunesmith::python

// Searchers in Python.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tunesmith/search/searcher.h>
#include <tunesmith/support/hash.h>

#include "candidate.h"
#include "plugins.h"

namespace tunesmith::python {
namespace {

/// The context as Python sees it. The kernel works without the interpreter's
/// lock, since other Python plugins may be called on other threads meanwhile.
struct SearchContextRef {
  std::shared_ptr<Lent<SearchContext>> value;
  IntrinsicsPtr intrinsics;  // of the space

  template <typename Work>
  auto unlocked(const Work& work) const {
    SearchContext& context = value->get();
    const nb::gil_scoped_release released;
    return work(context);
  }
  template <typename T = CandidateRef>
  ListOf<T> list_of(const std::vector<CandidatePtr>& candidates) const {
    nb::list list;
    for (const CandidatePtr& candidate : candidates)
      list.append(candidate ? nb::cast(CandidateRef{candidate, nullptr, nullptr, intrinsics})
                            : nb::object(nb::none()));
    return list;
  }
  TraceRef trace_ref(Trace trace) const { return {std::move(trace), nullptr, intrinsics}; }
};

/// The context's, for Python.
struct HistoryRef {
  SearchContextRef context;

  const MeasuredHistory& get() const { return context.value->get().history(); }
};

/// A searcher that the kernel made for a strategy in Python.
struct OtherSearcher {
  std::shared_ptr<Searcher> value;
};

std::vector<CandidatePtr> candidates_from(nb::handle objects) {
  std::vector<CandidatePtr> candidates;
  for (const nb::handle object : objects) {
    candidates.push_back(object.is_none() ? nullptr : nb::cast<const CandidateRef&>(object).value);
  }
  return candidates;
}

std::vector<double> numbers_from(nb::handle objects) {
  std::vector<double> numbers;
  for (const nb::handle object : objects) numbers.push_back(nb::cast<double>(nb::float_(object)));
  return numbers;
}

std::vector<Measured> results_from(nb::handle objects) {
  std::vector<Measured> results;
  for (const nb::handle object : objects) results.push_back(nb::cast<const MeasuredRef&>(object).value);
  return results;
}

class PythonSearcher final : public Searcher {
 public:
  explicit PythonSearcher(HeldPtr object)
      : object_(std::move(object)), repeatable_(nb::cast<bool>(object_->get().attr("repeatable"))) {}

  std::vector<CandidatePtr> propose(SearchContext& context, size_t n) override {
    return in_python([&] {
      const Lending<SearchContext> lending(context);
      return candidates_from(object_->get().attr("propose")(shown(lending, context), n));
    });
  }
  void observe(SearchContext& context, std::span<const Measured> results) override {
    in_python([&] {
      const Lending<SearchContext> lending(context);
      const SearchContextRef ref = shown(lending, context);
      object_->get().attr("observe")(ref, measured_of(results, ref.intrinsics));
    });
  }
  bool repeatable() const override { return repeatable_; }
  std::vector<double> expected() const override {
    return in_python([&] { return numbers_from(object_->get().attr("expected")()); });
  }

 private:
  SearchContextRef shown(const Lending<SearchContext>& lending, SearchContext& context) {
    if (!intrinsics_) intrinsics_ = schedule_ref(context.sketches().front().clone()).intrinsics;
    return {lending.lent(), intrinsics_};
  }

  const HeldPtr object_;
  const bool repeatable_;
  IntrinsicsPtr intrinsics_;
};

ListOf<ScheduleRef> sketches_of(const SearchContextRef& self) {
  nb::list list;
  for (const Schedule& sketch : self.value->get().sketches())
    list.append(nb::cast(schedule_ref(sketch.clone())));
  return list;
}

std::optional<TraceRef> mutated(const SearchContextRef& self, const CandidateRef& candidate,
                                RandomStream& random) {
  std::optional<Trace> trace = self.value->get().mutate(*candidate.value, random);
  if (!trace) return std::nullopt;
  return self.trace_ref(std::move(*trace));
}

ListOf<TraceRef> traces_of(const SearchContextRef& self, std::span<const Trace> traces) {
  nb::list list;
  for (const Trace& trace : traces) list.append(nb::cast(self.trace_ref(trace)));
  return list;
}

using Drafts = nb::typed<nb::iterable, nb::typed<nb::tuple, TraceRef, RandomStream>>;

/// None for a refused draft.
ListOf<std::optional<CandidateRef>> materialised(const SearchContextRef& self, const Drafts& pairs) {
  std::vector<SearchContext::Draft> drafts;
  for (const nb::handle pair : pairs) {
    drafts.push_back({nb::cast<const TraceRef&>(nb::object(pair[0])).value,
                      nb::cast<const RandomStream&>(nb::object(pair[1]))});
  }
  return self.list_of<std::optional<CandidateRef>>(
      self.unlocked([&](SearchContext& context) { return context.materialise(drafts); }));
}

void bind_history(nb::module_& module) {
  nb::class_<HistoryRef>(
      module, "History",
      R"(What was measured of a task, in that order: a sequence of Measured, whose candidates have no programs.

Valid during the call that the context was given to.)")
      .def("__len__", [](const HistoryRef& self) { return self.get().size(); })
      .def(
          "__getitem__",
          [](const HistoryRef& self, int64_t index) {
            const auto count = static_cast<int64_t>(self.get().size());
            const int64_t place = index < 0 ? index + count : index;
            if (place < 0 || place >= count) throw nb::index_error();
            return MeasuredRef{self.get()[static_cast<size_t>(place)], self.context.intrinsics};
          },
          nb::arg("index"))
      .def("__iter__", &iterator_of<MeasuredRef>)
      .def(
          "fastest",
          [](const HistoryRef& self, size_t n) { return self.context.list_of(self.get().fastest(n)); },
          nb::arg("n"), "At most `n` Candidates of those that worked, the fastest first.")
      .def("__repr__",
           [](const HistoryRef& self) { return fmt::format("History of {}", self.get().size()); });
}

void bind_other(nb::module_& module) {
  nb::class_<OtherSearcher>(
      module, "OtherSearcher",
      "A searcher that SearchContext.create_searcher() made. Whoever has it tells it of all results.")
      .def(
          "propose",
          [](const OtherSearcher& self, const SearchContextRef& context, size_t n) {
            return context.list_of(
                context.unlocked([&](SearchContext& own) { return self.value->propose(own, n); }));
          },
          nb::arg("context"), nb::arg("n"), "As Searcher.propose().")
      .def(
          "observe",
          [](const OtherSearcher& self, const SearchContextRef& context, const ListOf<MeasuredRef>& results) {
            const std::vector<Measured> told = results_from(results);
            context.unlocked([&](SearchContext& own) { self.value->observe(own, told); });
          },
          nb::arg("context"), nb::arg("results"), "As Searcher.observe().");
}

nb::class_<SearchContextRef> bind_context(nb::module_& module) {
  return nb::class_<SearchContextRef>(module, "SearchContext",
                                      "Services of the kernel for a Searcher. Valid during one call.")
      .def_prop_ro(
          "sketches", &sketches_of,
          "The space: a list of Schedule, in a fixed order, not empty, with all decisions open to be "
          "changed.")
      .def_prop_ro(
          "device",
          [](const SearchContextRef& self) {
            return DeviceRef{std::make_shared<const DeviceModel>(self.value->get().device())};
          },
          "The machine's quantities: a Device.")
      .def(
          "next_stream", [](const SearchContextRef& self) { return self.value->get().next_stream(); },
          "A RandomStream of its own: take one for each candidate that is drawn or mutated.")
      .def(
          "draw",
          [](const SearchContextRef& self, RandomStream& random) {
            return self.trace_ref(self.value->get().draw(random));
          },
          nb::arg("random"),
          "A Trace of a sketch chosen at random, those that gave fast programs more often, with all "
          "decisions "
          "open: materialise() draws them.")
      .def("mutate", &mutated, nb::arg("candidate"), nb::arg("random"),
           "The candidate's Trace with one decision changed; None when none can be.")
      .def(
          "neighbours",
          [](const SearchContextRef& self, const CandidateRef& candidate) {
            return traces_of(self, self.value->get().neighbours(*candidate.value));
          },
          nb::arg("candidate"),
          "All Traces that differ from the candidate's in one decision, in a fixed order.");
}

}  // namespace

std::shared_ptr<void> searcher_of(HeldPtr object) {
  return std::static_pointer_cast<Searcher>(std::make_shared<PythonSearcher>(std::move(object)));
}

void bind_search_context(nb::module_& module) {
  bind_history(module);
  bind_other(module);
  bind_context(module)
      .def(
          "materialise", &materialised, nb::arg("drafts"),
          R"(Makes Candidates of a list of pairs (Trace, RandomStream), whose open decisions the stream draws: a list with one
entry for each, None where it was refused, which is counted. On all threads. Duplicates are not removed.)")
      .def(
          "is_measured",
          [](const SearchContextRef& self, const CandidateRef& candidate) {
            return self.value->get().is_measured(candidate.value->lowered_hash);
          },
          nb::arg("candidate"), "Is its program in the history, or being measured?")
      .def(
          "score",
          [](const SearchContextRef& self, const ListOf<CandidateRef>& candidates) {
            const std::vector<CandidatePtr> asked = candidates_from(candidates);
            return self.unlocked([&](SearchContext& context) { return context.score(asked); });
          },
          nb::arg("candidates"), "The cost model's scores: a list of float, higher is better.")
      .def_prop_ro(
          "history", [](const SearchContextRef& self) { return HistoryRef{self}; },
          "All that is known of the task on this machine, then what this run has measured: a History.")
      .def_prop_ro(
          "seeds", [](const SearchContextRef& self) { return traces_of(self, self.value->get().seeds()); },
          "Traces that were among the fastest of similar tasks on record, of the nearest task first.")
      .def(
          "create_searcher",
          [](const SearchContextRef& self, const std::string& id) {
            return OtherSearcher{
                self.unlocked([&](SearchContext& context) { return context.create_searcher(id); })};
          },
          nb::arg("id"),
          R"(Another searcher, with its default options, for a strategy that is made of others: an OtherSearcher. Raises UserError
with the nearest name.)");
}

}  // namespace tunesmith::python

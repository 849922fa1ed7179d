// Ask and tell: a searcher proposes, and whoever asked says what became of it.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <tunesmith/support/hash.h>
#include <tunesmith/support/thread_pool.h>
#include <tunesmith/tuning/offline_task.h>

#include "errors.h"
#include "kernel.h"
#include "refs.h"

namespace tunesmith::python {
namespace {

struct CandidateRef {
  CandidatePtr value;
  WorkloadPtr workload;
  std::shared_ptr<HeldSpace> space;
};

class Search {
 public:
  Search(nb::handle workload, nb::handle space, uint64_t seed)
      : workload_(workload_from(workload).value), space_(space_from(space).value) {
    require_own_process();
    const nb::gil_scoped_release unlocked;
    task_ = std::make_unique<OfflineTask>(*workload_, *space_->space, seed, 0);
    searcher_ = space_->space->create_searcher(size_t{0});
  }

  nb::list ask(size_t n);
  void tell(const nb::sequence& seconds);
  int64_t trials() const { return trials_; }

 private:
  WorkloadPtr workload_;
  std::shared_ptr<HeldSpace> space_;
  std::unique_ptr<OfflineTask> task_;
  std::shared_ptr<Searcher> searcher_;
  std::vector<CandidatePtr> asked_;  // and not told yet
  int64_t trials_ = 0;
};

nb::list Search::ask(size_t n) {
  require_own_process();
  if (!asked_.empty())
    throw UserError(fmt::format("{} candidates of the last ask() were not told of", asked_.size()),
                    "tell() what became of them first: seconds, or None for one that failed");
  {
    const nb::gil_scoped_release unlocked;
    task_->begin_round(trials_);
    asked_ = searcher_->propose(task_->context(), n);
  }
  nb::list list;
  for (const CandidatePtr& candidate : asked_)
    list.append(nb::cast(CandidateRef{candidate, workload_, space_}));
  return list;
}

Measured told(const CandidatePtr& candidate, nb::handle seconds) {
  if (seconds.is_none())
    return {candidate, std::nullopt, CandidateFailure{FailureCause::WrongResult, "as was told"}};
  double value = 0.0;
  if (!nb::try_cast(seconds, value) || !is_time(value))
    throw UserError(fmt::format("expected seconds above 0, or None for a candidate that failed, not {}",
                                nb::cast<std::string>(nb::repr(seconds))));
  return {candidate, make_timing({value}), std::nullopt};
}

void Search::tell(const nb::sequence& seconds) {
  require_own_process();
  const size_t count = nb::len(seconds);
  if (count != asked_.size())
    throw UserError(fmt::format("expected {} times, one for each candidate of the last ask(), not {}",
                                asked_.size(), count));
  std::vector<Measured> results;
  for (size_t i = 0; i < count; ++i) results.push_back(told(asked_[i], seconds[i]));
  const nb::gil_scoped_release unlocked;
  task_->learn(results);
  searcher_->observe(task_->context(), results);
  trials_ += static_cast<int64_t>(results.size());
  asked_.clear();
}

nb::object build_candidate(const CandidateRef& self, int threads) {
  require_own_process();
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

}  // namespace

void bind_search(nb::module_& module) {
  nb::class_<CandidateRef>(module, "Candidate", "A program that a searcher proposes.")
      .def_prop_ro(
          "trace",
          [](const CandidateRef& self) {
            return TraceRef{self.value->trace, self.workload, self.space->space->intrinsics()};
          },
          "Complete: it gives the program without any module.")
      .def_prop_ro(
          "program",
          [](const CandidateRef& self) {
            return ProgramRef{std::shared_ptr<const Program>(self.workload, &self.workload->program),
                              std::shared_ptr<const LoweredProgram>(self.value, &self.value->lowered)};
          },
          "Lowered.")
      .def_prop_ro(
          "hash", [](const CandidateRef& self) { return hex64(self.value->lowered_hash); },
          "Of the lowered program: what the candidate is.")
      .def("build", &build_candidate, nb::arg("threads") = 0,
           "A Kernel of it, for this process, which nobody has verified: compare what it computes.")
      .def("__repr__", [](const CandidateRef& self) {
        return fmt::format("Candidate {}", hex64(self.value->lowered_hash));
      });

  nb::class_<Search>(
      module, "Search",
      R"(Ask and tell: the space's searcher proposes programs, and the caller, who measures them as it likes, says what became of them.

    search = ts.Search("softmax", space=space, seed=0)
    while candidates := search.ask(8):
        search.tell([my_seconds(candidate) for candidate in candidates])     # None: it failed

Nothing is recorded. Task verifies, measures and records by itself.)")
      .def(
          "__init__",
          [](Search* self, nb::handle workload, nb::handle space, uint64_t seed) {
            new (self) Search(workload, space, seed);
          },
          nb::arg("workload"), nb::arg("space") = nb::none(), nb::arg("seed") = 0)
      .def("ask", &Search::ask, nb::arg("n"),
           "At most `n` Candidates, none proposed before; none at all: the searcher has nothing more to "
           "propose.")
      .def("tell", &Search::tell, nb::arg("seconds"),
           "What became of the candidates of the last ask(), in their order: seconds of one call, or None "
           "where one failed.")
      .def_prop_ro("trials", &Search::trials, "Candidates told of.");
}

}  // namespace tunesmith::python

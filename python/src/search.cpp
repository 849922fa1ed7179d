// Ask and tell: a searcher proposes, and the caller tells it the results.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <tunesmith/tuning/offline_task.h>

#include "candidate.h"
#include "errors.h"

namespace tunesmith::python {
namespace {

class Search {
 public:
  Search(nb::handle workload, nb::handle space, uint64_t seed)
      : workload_(workload_from(workload).value), space_(space_from(space).value) {
    require_own_process();
    const nb::gil_scoped_release unlocked;
    task_ = std::make_unique<OfflineTask>(*workload_, *space_->space, seed, 0);
    searcher_ = space_->space->create_searcher(size_t{0});
  }

  ListOf<CandidateRef> ask(size_t n);
  void tell(const nb::typed<nb::sequence, std::optional<double>>& seconds);
  int64_t trials() const { return trials_; }

 private:
  WorkloadPtr workload_;
  std::shared_ptr<HeldSpace> space_;
  std::unique_ptr<OfflineTask> task_;
  std::shared_ptr<Searcher> searcher_;
  std::vector<CandidatePtr> asked_;  // without results so far
  int64_t trials_ = 0;
};

ListOf<CandidateRef> Search::ask(size_t n) {
  require_own_process();
  if (!asked_.empty())
    throw UserError(fmt::format("{} candidates of the last ask() have no result yet", asked_.size()),
                    "call tell() first with their seconds, or None for a failed one");
  {
    const nb::gil_scoped_release unlocked;
    task_->begin_round(trials_);
    asked_ = searcher_->propose(task_->context(), n);
  }
  nb::list list;
  for (const CandidatePtr& candidate : asked_)
    list.append(nb::cast(CandidateRef{candidate, workload_, space_, nullptr}));
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

void Search::tell(const nb::typed<nb::sequence, std::optional<double>>& seconds) {
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

}  // namespace

void bind_search(nb::module_& module) {
  nb::class_<Search>(
      module, "Search",
      R"(Ask and tell: the space's searcher proposes programs, and the caller, who measures them as it likes, says what became of them.

    search = ts.Search("softmax", space=space, seed=0)
    while candidates := search.ask(8):
        search.tell([my_seconds(candidate) for candidate in candidates])     # None: it failed

Nothing is recorded. Task verifies, measures and records by itself.)")
      .def(
          "__init__",
          [](Search* self, const WorkloadLike& workload, const SpaceLike& space, uint64_t seed) {
            new (self) Search(workload, space, seed);
          },
          nb::arg("workload"), nb::arg("space") = nb::none(), nb::arg("seed") = 0)
      .def("ask", &Search::ask, nb::arg("n"),
           "At most `n` Candidates, none proposed before; none at all: the searcher has nothing more to "
           "propose.")
      .def("tell", &Search::tell, nb::arg("seconds"),
           "Reports the candidates of the last ask(), in order: seconds of one call, or None for a failed "
           "one.")
      .def_prop_ro("trials", &Search::trials, "Candidates told of.");
}

}  // namespace tunesmith::python

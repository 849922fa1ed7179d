#!/usr/bin/env python3
"""Faults that strangers found in public bug reports, networks, attacks and first days, and the tests that would have found them.

Usage: lines.py BUILD [LINE...]     runs the tests of all lines, or of these ("B", "B.4"); exits with 1 where one fails or a line has none
       lines.py BUILD --check       asks only whether each test that is named here is there

A test is named as CTest names it, PROGRAM:SUITE.NAME is one of GoogleTest's, kept/NAME a folder of tests/networks, and python/FILE:NAME a test of tests/python.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = "networks_kept_networks_give_what_is_expected networks_kept_networks_are_tuned"  # run all folders of tests/networks

# Each line: what was found, and the tests.
LINES = {
    "A.1": ("the latest ranking wins, whatever it ranked",
            "unit_records:BestTest.ARankingWithoutTheBestHidesItOnlyIfItFoundAFasterOne unit_records:BestTest.TheLatestRankingOfTheBestDecidesBeforeTheSearch "
            "unit_records:BestTest.WhatALaterRankingLeftOutWasNeverComparedWithIt unit_tuning:TunerTest.WhatAKilledRunDidNotRankIsRankedOnce e2e_what_a_killed_run_never_ranked_is_ranked_before_it_is_built "
            "unit_tuning:TunerTest.TheBestOnRecordIsTimedAgainByARunThatBeginsAfresh unit_tuning:Histories.TheBestIsNeverLost "
            "unit_tuning:Rank.ProgramsAreComparedWithinRounds unit_tuning:Rank.WhatIsKnownStaysTheBestUntilAnotherIsClearlyFaster unit_tuning:QuietSamples.OrderKernelsWhateverTheMachineDoes "
            "unit_measuring:Interleave.RoundsThatTakeTooLongAreTakenInSmallerPieces"),
    "A.2": ("a budget that covers nothing but plain programs is silent", "networks_what_cannot_be_verified_is_left_as_it_is_written"),
    "A.3": ("one odd batch through torch.compile loses the tuned kernels", "python/test_torch.py:test_an_odd_batch_keeps_the_programs"),
    "B.1": ("verify accepts another softmax axis; useless bounds are a warning",
            "kept/verify_void_masked_attention unit_verification:ErrorBound.OfAMaskedSoftmaxIsTight unit_verification:ErrorBound.OfARowOfTheLowestNumbersIsTight "
            "unit_network:PlaceVerifier.DrawsDataForAStepWithUselessBounds unit_network:PlaceVerifier.SaysWhichStepIsNotVerified networks_another_axis_of_a_masked_softmax_is_refused"),
    "B.2": ("an exponential that underflows has a bound of 0", "unit_verification:ErrorBound.OfAnExponentialThatUnderflowsIsNotZero"),
    "B.3": ("a program that skips its work passes on a disturbed machine", "unit_measuring:TimedCheckTest.RefusesWhatSkipsWhatLooksDone unit_measuring:TimedCheckTest.RefusesWhatIsFastOnWhatItHasSeenAlone"),
    "B.4": ("positions and extents of Resize; operators without another oracle",
            "kept/resize_by_sizes kept/resize_by_scales kept/resize_nearest_default_12_19 kept/resize_refused_no_simple_fraction unit_operators_onnx:OnnxResize.PositionsAreExact "
            "unit_operators_onnx:OnnxResize.AScaleIsTheFractionThatIsMeant networks_drawn_beside_onnxruntime networks_cases_of_onnx"),
    "B.5": ("TopK whose values nobody reads, views joined twice, Sinh, i64's minimum, autocast",
            "kept/topk_indices_only kept/concat_of_a_view_twice kept/view_twice_in_concat kept/view_read_beside_join kept/sinh_cosh_overflow kept/i64_min_by_constant "
            "unit_network:JoinInPlace.AViewThatIsJoinedTwiceIsComputedOnce unit_network:JoinInPlace.AnotherReaderOfAViewReadsWhereItIsJoined python/test_torch.py:test_autocast_computes_in_its_type"),
    "B.6": ("extents called ?, given twice or that contradict", "kept/question_mark_extents importers_onnx:OnnxGraph.WhatIsNoNameIsAnExtentOfItsOwn networks_dimensions_are_checked "
                                                                 "unit_network:NetworkPasses.AnExtentThatComesOutOtherwiseIsRefused"),
    "C.1": ("Where(IsNaN(softmax), 0, softmax) cannot be tuned", "kept/tune_isnan_guard unit_verification:ErrorBound.OfAQuestionForNaNIsThatOfWhatMayBeAnything"),
    "C.2": ("quantised networks cannot be tuned", "kept/tune_qdq kept/qdq_cannot_be_tuned unit_operators_onnx:OnnxQuantization.CanBeVerified"),
    "C.3": ("an element-wise node joined with a choice", "kept/elementwise_then_argmax_cannot_be_tuned kept/elementwise_then_choice unit_network:FormRegions.AChoiceIsMadeOfWhatIsRoundedBefore"),
    "C.4": ("references put large temporaries on the stack", "unit_lower:PlanMemory.WhatTheStackDoesNotHoldIsWorkspace unit_tuning:TunerTest.ManyBuffersAreNoReasonToRefuseTheUnscheduledProgram "
            "kept/tune_cubic_resize unit_verification:ReferenceProgram.OfNestedSumsAndProductsStaysSmall"),
    "C.5": ("what is refused is refused after the budget", "test_semantics:SketchLimit.OfManyBlocksThereIsAShareOfTheCombinations networks_what_cannot_be_verified_is_left_as_it_is_written networks_a_network_is_tuned_in_one_command"),
    "D.1": ("mistakes of units that are accepted",
            "unit_verification:Edges.ShowAFactorThatIsTakenForZeroWhereItIsSmall unit_verification:AddEdges.EveryScaleOccurs unit_measuring:WatchedCall.SeesWhatIsNotKept "
            "unit_measuring:TimedCheckOnStridesTest.ChangesElementsAlone unit_target:ExtensionFile.ACallTakesTime targets_tensor_core:TwinStrides.ShowAFieldThatIsTooNarrow faults_every_mistake_is_counted"),
    "D.2": ("text that ends the process",
            "unit_support:Yaml.LimitsNestingAndSize unit_space:SpacesText.ChainsAndNumbersOfSpacesHaveALimit unit_target:ExtensionFile.ProductsOfVariantsHaveALimit unit_trace:Schedule.LoopsNestNoDeeperThanALimit "
            "unit_trace:TraceParser.TextsAndListsHaveALimit unit_primitives:TransformBlockLayout.OfALongMapNoMoreIsReadThanALimit unit_primitives:ComputeInline.ExpressionsHaveALimit "
            "unit_search:ModelFileTest.WhatIsDamagedIsRefusedWhereverItIs mistakes_trace mistakes_workload mistakes_spaces mistakes_manifest mistakes_extension mistakes_cost_model mistakes_onnx"),
    "D.3": ("a store that a mistake closes",
            "unit_records:BestTest.RankingsFollowInTheOrderOfTheStoreWhateverTheClockSays unit_tuning:TunerTest.ADefinitionOnRecordThatIsNotTheWorkloadsIsMended "
            "unit_tuning:TunerTest.ATraceThatGivesItsProgramNoMoreIsSaidAndTheNextIsTheBest unit_records:ExchangeTest.OfAFileThatIsCutShortTheRestIsRescued "
            "unit_records:ExchangeTest.AFolderThatCannotBeWrittenIsRead report:ReportDataTest.WhatCannotBeReadOrReplayedIsPassedOver unit_measuring:WorkerStack.IsRaisedToTheHardLimit "
            "unit_measuring:WorkerStack.BelowThatTheMachineIsToBlame"),
    "D.4": ("plugins that end, hang or replace what calls them",
            "faults_calls_of_a_module faults_calls_of_a_searcher faults_calls_of_a_cost_model faults_calls_of_a_task_scheduler faults_calls_of_a_extension faults_calls_of_a_target "
            "targets_llvm:UnitPeak.IsNoRateOfAUnitThatEndsItsProcess unit_space:NamedExtension.AFileIsInNoLock unit_plugin:TrustedFile.ItsPathLastsWhateverTakesItsName"),
    "D.5": ("long chains, names of functions and files, lint, fragments without brackets",
            "kept/long_chain unit_network:FormRegions.ALongChainIsSeveralRegions python/test_kernel.py:test_a_tensor_without_its_memory sdk_new_extension_in_yaml targets_llvm:BuiltLibrary.LiesInAFolderThatIsCalledAsAnOption unit_space:NamedExtension.SaysNothingThatItsTargetCannotHave "
            "golden:DrawnShapes.OfTheBuiltInSpacesAreLegal golden:DrawnShapes.OfEachModuleAloneAreLegal"),
    "E.1": ("shares of the peak swing", "second_day_one_share_everywhere_and_doubts_of_the_peak_are_said newcomer_shares_are_of_the_units_of_their_types networks_a_built_library_is_run_and_timed"),
    "E.2": ("the best is three numbers", "second_day_a_summary_begins_with_the_result"),
    "E.3": ("the Python package's names, types and defaults", "python/test_tune.py:test_a_refused_budget_measures_nothing python/test_tune.py:test_a_result_is_pickled python/test_types.py:test_what_pages_show_is_accepted python/test_types.py:test_mistakes_are_found"),
    "E.4": ("the wheel's tag", "python_package"),
    "E.5": ("commands and pages a newcomer stumbles over", "newcomer_every_error_begins_alike_and_says_what_to_do newcomer_no_message_is_the_librarys_own newcomer_types_of_other_languages_are_known newcomer_explanations_say_a_sentence_once newcomer_differences_are_differences newcomer_doctor_ends_with_a_verdict user_completion_knows_the_commands newcomer_lists_tell_tasks_by_their_shapes newcomer_records_are_deleted_when_somebody_agrees networks_a_network_is_summarised importers_onnx:OnnxExternalFiles.OutsideTheFolderAreRefused docs_readme_plugin"),
    "E.6": ("the report of many tasks", "report_in_a_browser"),
    "E.7": ("a library's example and main program", "e2e_examples_call_the_library"),
    "E.8": ("small tasks are scalar; zero points are slow", "test_semantics:Parallel.IsDrawnForFewIterations test_semantics:RowChain.LeavesAProductOutsideThatNoReductionReads unit_operators_onnx:OnnxQuantization.ProductsOfIntegersTakeBothZeroPoints"),
}


def tests_of(line):
    return LINES[line][1].split()


def known_tests(build):
    listed = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^ *Test +#\d+: (\S+)", listed, re.MULTILINE))


def is_there(test, ctests):
    if test.startswith("kept/"):
        return bool(list((ROOT / "tests/networks" / test[5:]).rglob("model.onnx")))
    if test.startswith("python/"):
        file, name = test[7:].split(":")
        return f"def {name}(" in (ROOT / "tests/python" / file).read_text()
    if ":" not in test:
        return test in ctests
    program, name = test.split(":")
    folder = ROOT / "tests" / (f"unit/{program[5:]}" if program.startswith("unit_") else program.removeprefix("test_"))
    wanted = re.compile(r"TEST(?:_F|_P)?\(" + r",\s*".join(map(re.escape, name.split("."))) + r"\)")
    return any(wanted.search(file.read_text()) for file in folder.glob("*.cpp"))


def commands_of(tests, build):
    """One command for each test program."""
    plain = sorted({word for test in tests for word in (KEPT.split() if test.startswith("kept/") else ["python_package"] if test.startswith("python/") else [] if ":" in test else [test])})
    if plain:
        yield ["ctest", "--test-dir", build, "--output-on-failure", "-R", f"^({'|'.join(plain)})$"]
    programs = {}
    for test in tests:
        if ":" in test and not test.startswith("python/"):
            program, name = test.split(":")
            programs.setdefault(program, []).append(f"*{name}*")
    for program, names in programs.items():
        yield [f"{build}/bin/{program}", "--gtest_brief=1", f"--gtest_filter={':'.join(names)}"]


def run(line, build):
    if not tests_of(line):
        return "has no test"
    for command in commands_of(tests_of(line), build):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            return f"FAILED\n{' '.join(command)}\n{done.stdout}{done.stderr}"
    return f"{len(tests_of(line))} tests passed"


def main():
    build, wanted = sys.argv[1], sys.argv[2:]
    ctests = known_tests(build)
    missing = [f"{line}: {test}" for line in LINES for test in tests_of(line) if not is_there(test, ctests)]
    assert not missing, "tests that are named here and are not there:\n" + "\n".join(missing)
    if wanted == ["--check"]:
        return 0
    failed = False
    for line, (what, _) in LINES.items():
        if not wanted or any(line == one or line.startswith(one + ".") for one in wanted):
            said = run(line, build)
            failed |= not said.endswith("passed")
            print(f"{line} {what}: {said}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Tunes for a missing device, as a user does. Usage: devices.py --tunesmith BINARY TEST"""
import functools
import json
import pathlib
import sqlite3

import cli

run = functools.partial(cli.run, timeout=280)


def tuning_ends_with_a_verified_program_and_modelled_times(folder):
    database = folder / "records.db"
    result = json.loads(run("tune", "gmm:n=64,m=64,k=64", "--space", "cuda", "--trials", 12, "--database", database, "--json").stdout)
    assert result["modelled"] is True and "times=modelled" in result["target"], result
    assert result["trials"] == 12 and result["valid"] >= 8, result
    assert 0 < result["best_seconds"] < result["baseline_seconds"], result
    shown = run("tune", "gmm:n=64,m=64,k=64", "--space", "cuda", "--trials", 12, "--database", database).stdout
    assert "modelled times" in shown, shown
    assert "12 from records" in shown, shown
    listed = run("records", "best", "--database", database).stdout
    assert "modelled" in listed, listed
    with sqlite3.connect(database) as store:
        assert store.execute("SELECT DISTINCT device FROM task").fetchall() == [("modelled",)]


def nests_are_bound_to_blocks_and_threads_that_share_memory(folder):
    explained = run("spaces", "explain", "softmax:m=16,n=24", "--space", "cuda").stdout
    assert "auto_bind" in explained, explained
    tuned = run("tune", "gmm:n=64,m=64,k=64", "--space", "cuda", "--trials", 6, "--database", folder / "records.db", "--json").stdout
    best = json.loads(tuned)["trace"]
    shown = run("trace", "show", best, "--database", folder / "records.db").stdout
    assert '"block.x"' in shown and '"thread.x"' in shown and '"shared"' in shown, shown
    text = run("trace", "show", best, "--database", folder / "records.db", "--space", "cuda", "--code").stdout
    assert "__global__" in text and "threadIdx.x" in text and "__shared__" in text and "__syncthreads" in text, text


def code_waste_and_a_library_are_had_of_a_program(folder):
    database = folder / "records.db"
    best = json.loads(run("tune", "gmm:n=64,m=64,k=64", "--space", "cuda", "--trials", 6, "--database", database, "--json").stdout)["trace"]
    show = lambda *options, **more: run("trace", "show", best, "--database", database, *options, **more)
    code = show("--space", "cuda", "--code").stdout
    assert "__global__" in code and "threadIdx.x" in code, code
    waste = show("--space", "cuda", "--waste").stdout
    assert "would do" in waste or "no inefficient memory accesses" in waste, waste
    assert isinstance(json.loads(show("--space", "cuda", "--waste", "--json").stdout)["waste"], list)
    built = json.loads(run("build", "gmm:n=64,m=64,k=64", "--space", "cuda", "--trace", best, "--database", database, "--name", "product",
                           "--output", folder / "out", "--json").stdout)
    assert built["library"].endswith("product.cu") and "<<<dim3(" in (folder / "out" / "product.cu").read_text(), built
    assert "int product(const float* A, const float* B, float* " in (folder / "out" / "product.h").read_text(), built


def a_program_without_a_record_is_verified_as_its_twin(folder):
    trace = pathlib.Path(__file__).parents[1] / "targets_cuda/traces/sgemm_128x128x8.trace"
    workload = "gmm:n=512,m=512,k=512"
    database = folder / "records.db"
    build = lambda *options, **more: run("build", workload, "--space", "cuda", "--trace", trace, "--database", database, "--output", folder / "out", *options, **more)
    built = json.loads(build("--json").stdout)
    assert built["measured_now"] and "verified and modelled at build time, as its twin of gmm:" in built["provenance"], built
    assert "verified and modelled now, as its twin of gmm:" in build().stdout
    run("tune", workload, "--space", "cuda", "--trials", 2, "--database", database)
    compared = json.loads(run("bench", workload, "--space", "cuda", "--compare", trace, "--rounds", 3, "--database", database, "--json").stdout)
    assert all(entry["seconds"] > 0 for entry in compared["benchmarks"][0]["entries"]), compared


def products_under_other_axes_run_on_a_matrix_unit(folder):
    """Candidates for convolutions, transposed factors, bytes, and f32 rounded to tf32 are verified."""
    for workload, space, calls in (
            ("conv2d:h=7,w=9,ci=8,co=20,kernel=3,dtype=f16", "cuda-tensorcore", ["tensor_core_a_f16", "tensor_core_b_f16"]),
            ("gram:n=40,k=24,dtype=bf16", "cuda-tensorcore", ["tensor_core_a_bf16", "tensor_core_b_bt_bf16", "tensor_core_bt_bf16"]),
            ("conv1d:l=20,ci=8,co=16,kernel=3,dtype=i8", "cuda-tensorcore-mma", ["tensor_core_mma_a_i8", "tensor_core_mma_b_bt_i8"]),
            ("gmm_tf32:n=24,m=16,k=40", "cuda-tensorcore-mma", ["tensor_core_mma_a_f32", "tensor_core_mma_f32"])):
        database = folder / f"{workload.split(':')[0]}.db"
        result = json.loads(run("tune", workload, "--space", space, "--trials", 4, "--database", database, "--json").stdout)
        assert result["valid"] == result["trials"] == 4, result
        shown = run("trace", "show", result["trace"], "--database", database).stdout
        assert all(f'"{call}"' in shown for call in calls), shown
        text = run("trace", "show", result["trace"], "--database", database, "--space", space, "--code").stdout
        assert text.count("__global__") == 1, text  # padding, windows and the result's layout need no other launch


def a_producer_copies_boxes_where_shapes_allow_it(folder):
    database = folder / "records.db"
    result = json.loads(run("tune", "gmm:n=128,m=128,k=256,dtype=bf16", "--space", "cuda-hopper", "--trials", 6, "--database", database, "--json").stdout)
    assert result["valid"] == result["trials"] == 6, result
    show = lambda *options: run("trace", "show", result["trace"], "--database", database, *options).stdout
    assert "_bf16" in show() and "software_pipeline" in show() and "hopper_box_" in show(), show()
    text = show("--space", "cuda-hopper", "--code")
    assert "tma_load_2d(" in text and "mbar_wait(released" in text and "wgmma_wait<1>" in text, text
    explained = run("spaces", "explain", "gmm:n=100,m=128,k=64,dtype=f16", "--space", "cuda-hopper").stdout
    assert "2 schedules; 128 columns without boxes: the reduction is one step" in explained, explained


def a_matrix_unit_declines_what_has_nothing_to_use_again(folder):
    explained = run("spaces", "explain", "depthwise_conv2d:h=8,w=8,c=16,kernel=3,dtype=f16", "--space", "cuda-tensorcore").stdout
    assert "a factor has no axis of its own, along which the other is reused" in explained, explained


def what_a_processor_has_not_is_said_in_a_sentence(folder):
    database = folder / "records.db"
    best = json.loads(run("tune", "gmm:n=16,m=16,k=16", "--trials", 2, "--database", database, "--json").stdout)["trace"]
    for option, words in ("--waste", "target has no grid of threads"), ("--code", "generates machine code, not source"):
        refused = run("trace", "show", best, "--database", database, option, code=2).stderr
        assert words in refused and "mcpu" not in refused, refused


def unknown_architectures_are_refused_with_their_place(folder):
    spaces = folder / "spaces.yaml"
    spaces.write_text("version: 1\nspaces:\n  old:\n    extends: cuda\n    target: {arch: sm_81}\n")
    refused = run("tune", "gmm:n=8,m=8,k=8", "--spaces", spaces, "--space", "old", "--trials", 2, "--database", folder / "r.db", code=2).stderr
    assert f"{spaces}:5:" in refused and "sm_80" in refused, refused


if __name__ == "__main__":
    cli.run_test(globals(), own_lock=False)

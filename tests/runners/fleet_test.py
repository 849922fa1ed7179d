#!/usr/bin/env python3
"""Runs with a tuner, workers and a broker, of which some are killed.
Usage: fleet_test.py TUNESMITH CASE"""
import json
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import sys
import time

import amqp
from fleet_bench import SEARCH, TRIALS, Bench, running

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "e2e"))
import onnx_files  # noqa: E402  in the folder beside


def same_programs(bench):
    """One worker, then three, measure the same programs in the same order as a run on this machine; the tuner records them."""
    wanted = bench.local()
    bench.worker(1)
    for name, more in (("one", []), ("three", [2, 3])):
        for number in more:
            bench.worker(number)
        process = bench.tune("amqp", name=name)
        bench.finish(process, name)
        assert bench.searched(name) == wanted, (bench.searched(name), wanted)
        assert any(record["kind"] == "ranking" for record in bench.records(name))
    shown = json.loads(subprocess.run([bench.tunesmith, "fleet", "--json"], env=bench.environment, capture_output=True, text=True, check=True).stdout)
    (identity,) = shown["identities"]
    assert len(identity["workers"]) == 3 and identity["waiting"] == 0 and identity["threads"] == 1, shown
    assert sum(worker["done"] for worker in identity["workers"]) > TRIALS, shown
    built = bench.start("build", SEARCH[0], "--threads", 1, "--database", "three.db", "-o", "lib", name="build")
    bench.finish(built, "build")
    assert "verified and measured now" not in bench.text("build"), bench.text("build")
    # After SIGTERM a worker finishes its jobs and ends, with its run's end on record.
    for process in bench.workers:
        process.send_signal(signal.SIGTERM)
    for process in bench.workers:
        assert process.wait(60) == 0


def killed_worker(bench):
    """After kill -9 of one of two workers, the other gets its jobs."""
    wanted = bench.local()
    victim = bench.worker(1)
    process = bench.tune("amqp")
    bench.await_text("worker1", "gmm:.*(us|ms|ns)")
    bench.worker(2)
    victim.kill()
    bench.finish(process, "tune_amqp")
    assert bench.searched("tune_amqp") == wanted


def killed_tuner(bench):
    """After kill -9 of the tuner, answers wait until the same command gets them."""
    wanted = bench.local()
    bench.worker(1)
    process = bench.tune("amqp")
    bench.await_text("worker1", "gmm:.*(us|ms|ns)")
    process.kill()
    process.wait(60)
    process = bench.tune("amqp")
    bench.finish(process, "tune_amqp")
    assert bench.searched("tune_amqp") == wanted
    measured = [record["lowered_hash"] for record in bench.records("worker1") if record["kind"] == "search"]
    assert sorted(measured) == sorted(wanted), "the worker measured a program twice, or not at all"


def restarted_broker(bench):
    """When the broker is killed and restarted, tuner and worker wait and continue."""
    wanted = bench.local()
    bench.worker(1)
    process = bench.tune("amqp")
    bench.await_text("worker1", "gmm:.*(us|ms|ns)")
    bench.broker.stop(signal.SIGKILL)
    bench.await_text("tune_amqp", "what is asked waits there|the broker does not respond|amqp://.*:")
    time.sleep(2)
    assert process.poll() is None, bench.text("tune_amqp")
    bench.broker.start()
    bench.finish(process, "tune_amqp")
    bench.await_text("worker1", "the broker is there again")
    assert bench.searched("tune_amqp") == wanted


def hanging_broker(bench):
    """A broker that answers nothing for most of a minute, as in a partitioned network, stalls the run and ends nothing."""
    wanted = bench.local()
    bench.worker(1)
    process = bench.tune("amqp")
    bench.await_text("worker1", "gmm:.*(us|ms|ns)")
    bench.broker.send_signal(signal.SIGSTOP)
    bench.await_text("tune_amqp", "what is asked waits there, and the run with it")
    time.sleep(10)
    assert process.poll() is None and bench.workers[0].poll() is None, bench.text("tune_amqp") + bench.text("worker1")
    bench.broker.send_signal(signal.SIGCONT)
    bench.finish(process, "tune_amqp")
    assert bench.searched("tune_amqp") == wanted


def ended_without_broker(bench):
    """A worker that is told to end while the broker is away ends, and says what becomes of its jobs; another one gets them."""
    wanted = bench.local()
    worker = bench.worker(1)
    process = bench.tune("amqp")
    bench.await_text("worker1", "gmm:.*(us|ms|ns)")
    worker.send_signal(signal.SIGSTOP)
    while bench.broker.unacknowledged("tunesmith.jobs.") < 2:  # one may be answered already
        worker.send_signal(signal.SIGCONT)
        time.sleep(0.05)
        worker.send_signal(signal.SIGSTOP)
        assert process.poll() is None, bench.text("tune_amqp")
    bench.broker.stop(signal.SIGKILL)
    worker.send_signal(signal.SIGTERM)
    worker.send_signal(signal.SIGCONT)
    assert worker.wait(60) == 0, bench.text("worker1")
    assert re.search(r"no broker for 10 s: this worker ends; .* delivers its [1-9]\d* unanswered jobs again", bench.text("worker1")), bench.text("worker1")
    bench.broker.start()
    bench.worker(2)
    bench.finish(process, "tune_amqp")
    assert bench.searched("tune_amqp") == wanted


def broker_without_memory(bench):
    """A broker that is low on memory takes no answers: the worker says so, and continues when it takes them again."""
    wanted = bench.local()
    worker = bench.worker(1)
    process = bench.tune("amqp")
    bench.await_text("worker1", "gmm:.*(us|ms|ns)")
    worker.send_signal(signal.SIGSTOP)
    bench.broker.control("set_vm_memory_high_watermark", "absolute", "1MB")
    bench.broker.await_log("memory resource limit alarm set")
    worker.send_signal(signal.SIGCONT)
    bench.await_text("worker1", "the broker takes no answers now: low on memory; they wait here")
    assert process.poll() is None, bench.text("tune_amqp")
    bench.broker.control("set_vm_memory_high_watermark", "absolute", "512MiB")
    bench.finish(process, "tune_amqp")
    assert bench.searched("tune_amqp") == wanted


def dead_letter(bench):
    """A candidate on which three workers die has failed; the others are measured."""
    victim = bench.worker(1)
    identity = re.search(r"identity (\w{16})", bench.text("worker1"))[1]
    process = bench.tune("amqp")
    bench.await_text("worker1", "gmm:.*(us|ms|ns)")
    victim.kill()
    victim.wait(60)
    for _ in range(12):
        assert amqp.take_and_die(bench.broker.port, f"tunesmith.jobs.{identity}")
        time.sleep(0.3)
    bench.worker(2)
    bench.finish(process, "tune_amqp")
    searched = [record for record in bench.records("tune_amqp") if record["kind"] == "search"]
    dead = [record for record in searched if record["cause"] == "worker_lost"]
    assert dead and all("three workers died" in record["message"] for record in dead), searched
    assert len(searched) == TRIALS and len(dead) < 8, dead


def foreign_messages(bench):
    """Both ends refuse damaged, foreign and oversized messages by name, and continue."""
    bench.worker(1)
    identity = re.search(r"identity (\w{16})", bench.text("worker1"))[1]
    whole = b'{"checksum":"0000000000000000","job":{},"version":6}'
    jobs = {"not JSON": (b"\x00\xff", "damaged"), "truncated": (whole[:-9], "damaged"), "checksum": (whole, "checksum"), "too_large": (b"x" * (6 << 20), "exceeds"),
            "nested": (b'{"job":' + b"[" * 5000, "damaged|nested")}
    for name, (body, _) in jobs.items():
        amqp.publish(bench.broker.port, "tunesmith.jobs", f"{identity}.stranger", body, correlation=name, reply_to="tunesmith.answers.stranger")
    amqp.publish(bench.broker.port, "tunesmith.jobs", f"{identity}.stranger", whole, kind="order", correlation="kind", reply_to="amq.direct")
    for name, (_, why) in jobs.items():
        bench.await_text("worker1", rf"rejected a message \({name}\): .*({why})")
    bench.await_text("worker1", "where workers do not write")
    bench.await_text("worker1", f"(?s)(nobody waits for an answer.*){{{len(jobs)}}}")  # strangers have no queue
    # The tuner waits for a worker that answers late.
    wanted = bench.local(12)
    bench.workers[0].send_signal(signal.SIGSTOP)
    process = bench.tune("amqp", 12)
    time.sleep(3)
    bench.workers[0].send_signal(signal.SIGCONT)
    bench.finish(process, "tune_amqp")
    assert bench.searched("tune_amqp") == wanted


def odd_messages(bench):
    """Jobs of other packs and of another version are refused by name. Answers that come twice, in another order and by clocks that are a
    year wrong are one record each."""
    wanted = bench.local()
    bench.worker(1)
    identity = re.search(r"identity (\w{16})", bench.text("worker1"))[1]
    port = bench.broker.port
    process = bench.tune("amqp")
    bench.await_text("worker1", "(?s)gmm:.*gmm:.*(us|ms|ns)")  # the unscheduled program, and one of the first round
    bench.workers[0].send_signal(signal.SIGSTOP)
    jobs = amqp.take_all(port, f"tunesmith.jobs.{identity}")  # it gives them back, each twice
    assert jobs, "the first round was over at once"
    process.kill()
    process.wait(60)
    key = f"{identity}.stranger"
    for name, body in (("packs", amqp.sealed(jobs[0]["body"], "with=[^\" ]*", "with=none:0000000000000000")), ("version", amqp.sealed(jobs[0]["body"], "^", "", 99))):
        amqp.publish(port, "tunesmith.jobs", key, body, correlation=name, reply_to="tunesmith.answers.stranger")
    for job in [*jobs, *jobs]:
        amqp.publish(port, "tunesmith.jobs", key, **job)
    bench.workers[0].send_signal(signal.SIGCONT)
    bench.await_text("worker1", r"rejected a message \(packs\): expected target '.*' with 1 threads, found '.*with=none")
    bench.await_text("worker1", r"rejected a message \(version\): .*version")
    answers, until = {}, time.monotonic() + 240  # with those that the killed tuner had not taken off the broker
    while len(answers) < len(jobs) + 2:
        assert time.monotonic() < until, f"{len(answers)} answers: {bench.text('worker1')}"
        time.sleep(0.3)
        answers |= {answer["correlation"]: answer for answer in amqp.take_all(port, jobs[0]["reply_to"])}
    year = 365 * 86_400_000
    for number, answer in enumerate(reversed([*answers.values(), *answers.values()])):
        shift = (-year, year)[number % 2]
        amqp.publish(port, "", jobs[0]["reply_to"], **answer | {"body": amqp.sealed(answer["body"], r'"time_ms":(\d+)', lambda found: f'"time_ms":{int(found[1]) + shift}')})
    process = bench.tune("amqp")
    bench.finish(process, "tune_amqp")
    assert bench.searched("tune_amqp") == wanted


def plain_text(bench):
    """A remote broker is refused without TLS, and a wrong password is reported."""
    def said(url, *more):
        done = subprocess.run([bench.tunesmith, "fleet", "--broker", url, *more], capture_output=True, text=True, timeout=120)
        return done.returncode, done.stderr
    code, text = said("amqp://guest:guest@192.0.2.1")
    assert code == 2 and "not encrypted" in text and "--insecure" in text and "guest:guest" not in text, text
    code, text = said(bench.broker.url.replace("guest:guest", "guest:wrong"))
    assert code == 4 and "refuses the login" in text and "wrong" not in text, text
    code, text = said("amqp://127.0.0.1:1")
    assert code == 4 and "does not respond" in text, text
    process = bench.tune("amqp", name="alone")
    bench.finish(process, "alone", code=4)
    assert "nobody at" in bench.text("alone") and "tunesmith serve" in bench.text("alone"), bench.text("alone")


def other_machine(bench):
    """The tuner composes the space of another machine, and proposes what that machine would."""
    (bench.folder / "limited.yaml").write_text("version: 1\nspaces:\n  limited:\n    extends: cpu\n    target: {kind: llvm, mcpu: haswell}\n")
    limited = ["--spaces", "limited.yaml", "--space", "limited"]
    process = bench.tune("local", search=[*SEARCH, *limited])
    bench.finish(process, "tune_local")
    wanted = bench.searched("tune_local")
    bench.worker(1, *limited)
    identity = re.search(r"identity (\w{16})", bench.text("worker1"))[1]
    process = bench.tune("amqp", name="refused")
    bench.finish(process, "refused", code=4)
    assert identity in bench.text("refused"), bench.text("refused")
    (bench.folder / "seen.yaml").write_text(f"version: 1\nspaces:\n  seen:\n    extends: cpu\n    runner: {{kind: amqp, identity: {identity[:8]}}}\n")
    seen = ["--spaces", "seen.yaml", "--space", "seen"]
    process = bench.tune("amqp", name="seen", search=[*SEARCH, *seen])
    bench.finish(process, "seen")
    assert bench.searched("seen") == wanted, (bench.searched("seen"), wanted)
    targets = {record["target"] for record in bench.records("seen")}
    assert targets == {record["target"] for record in bench.records("tune_local")} and all("haswell" in target for target in targets), targets


def library_for_each_identity(bench):
    """A network that workers of two identities tune is built for each, where its programs can be compiled, from what they measured."""
    (bench.folder / "limited.yaml").write_text("version: 1\nspaces:\n  limited:\n    extends: cpu\n    target: {kind: llvm, mcpu: haswell}\n")
    (bench.folder / "net.onnx").write_bytes(onnx_files.model(
        [onnx_files.node("MatMul", ["X", "W"], ["P"]), onnx_files.node("Softmax", ["P"], ["Y"])],
        [onnx_files.tensor_value("X", 16, 4)], [onnx_files.tensor_value("Y", 16, 4)], [("W", [0.1 * i for i in range(16)], 4, 4)]))
    bench.worker(1)
    bench.worker(2, "--spaces", "limited.yaml", "--space", "limited")
    for number in (1, 2):
        identity = re.search(r"identity (\w{16})", bench.text(f"worker{number}"))[1]
        (bench.folder / f"of{number}.yaml").write_text(f"version: 1\nspaces:\n  of:\n    extends: cpu\n    runner: {{kind: amqp, identity: {identity}}}\n")
        name = f"library{number}"
        process = bench.start("network", "tune", "net.onnx", "--spaces", f"of{number}.yaml", "--space", "of", "--trials", 12, "--database", f"{name}.db", "-o", name, name=name)
        bench.finish(process, name)
    (target,) = {record["target"] for record in bench.records("library2")}
    assert "haswell" in target and re.search("no library built; next: tunesmith records export .*--database library2.db", bench.text("library2")), bench.text("library2")
    there = bench.start("network", "build", "net.onnx", "--spaces", "limited.yaml", "--space", "limited", "--threads", 1, "--database", "library2.db", "-o", "library2", name="there")
    bench.finish(there, "there")
    for folder, text in (("library1", bench.text("library1").split("built ")[1]), ("library2", bench.text("there"))):
        assert "unscheduled program" not in text and list((bench.folder / folder).glob("lib*.so")), text


def drifting_worker(bench):
    """A machine that is slower than usual is named, and its times are marked."""
    bench.worker(1, "--reference-seconds", 1e-6)
    process = bench.tune("amqp")
    bench.finish(process, "tune_amqp")
    bench.await_text("worker1", "the reference program takes [0-9.]+ times its usual time")
    shown = subprocess.run([bench.tunesmith, "fleet", "--wait", "10"], env=bench.environment, capture_output=True, text=True, check=True).stdout
    assert "drifts: its reference program takes" in shown, shown
    assert all(record["disturbed"] for record in bench.records("tune_amqp") if record["kind"] == "search"), bench.records("tune_amqp")


def hanging_worker(bench):
    """The jobs that a hanging worker holds are sent again; what it answers when it goes on changes nothing."""
    wanted = bench.local()
    hanging = bench.worker(1)
    (bench.folder / "soon.yaml").write_text("version: 1\nspaces:\n  soon:\n    extends: cpu\n    runner: {kind: amqp, resend_seconds: 5}\n")
    process = bench.tune("amqp", search=[*SEARCH, "--spaces", "soon.yaml", "--space", "soon"])
    bench.await_text("worker1", "gmm:.*(us|ms|ns)")
    hanging.send_signal(signal.SIGSTOP)
    bench.worker(2)
    bench.await_text("tune_amqp", r"no answer for 5 s: \d+ jobs are sent again; a worker hangs")
    bench.finish(process, "tune_amqp")
    hanging.send_signal(signal.SIGCONT)
    assert bench.searched("tune_amqp") == wanted


def deleted_queue(bench):
    """After the queue of jobs is deleted, workers make it again, and the tuner sends its jobs again."""
    wanted = bench.local()
    bench.worker(1)
    identity = re.search(r"identity (\w{16})", bench.text("worker1"))[1]
    process = bench.tune("amqp")
    bench.await_text("worker1", "gmm:.*(us|ms|ns)")
    bench.workers[0].send_signal(signal.SIGSTOP)
    amqp.delete_queue(bench.broker.port, f"tunesmith.jobs.{identity}")
    bench.workers[0].send_signal(signal.SIGCONT)
    bench.await_text("worker1", "a queue was deleted|NOT_FOUND - no queue")  # whichever comes first: the notice or a refusal
    bench.finish(process, "tune_amqp")
    assert bench.searched("tune_amqp") == wanted


def changed_password(bench):
    """After a change of the password, worker and tuner say what to look at; with the right one both continue."""
    wanted = bench.local()
    bench.worker(1)
    process = bench.tune("amqp")
    bench.await_text("worker1", "gmm:.*(us|ms|ns)")
    bench.workers[0].send_signal(signal.SIGSTOP)
    bench.broker.control("change_password", "guest", "other")
    bench.broker.control("close_all_connections", "password changed")
    bench.workers[0].send_signal(signal.SIGCONT)
    bench.finish(process, "tune_amqp", code=4)
    for name in ("tune_amqp", "worker1"):
        bench.await_text(name, "refuses the login: .*remedy: check user, password")
    bench.broker.control("change_password", "guest", "guest")
    bench.await_text("worker1", "the broker is there again")
    process = bench.tune("amqp")
    bench.finish(process, "tune_amqp")
    assert bench.searched("tune_amqp") == wanted


def full_disk(bench):
    """A worker that cannot record says so and ends; another one gets its jobs."""
    wanted = bench.local()
    def few_bytes():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    full = bench.worker(1, limit=few_bytes)
    process = bench.tune("amqp")
    assert full.wait(240) == 4, bench.text("worker1")
    assert re.search(r"worker1\.db.*(full|disk)", bench.text("worker1")), bench.text("worker1")
    bench.worker(2)
    bench.finish(process, "tune_amqp")
    assert bench.searched("tune_amqp") == wanted


def encrypted(bench):
    """The users, permissions and TLS of docs/fleet.md, with a private certificate authority and passwords in files."""
    page = (pathlib.Path(__file__).parents[2] / "docs" / "fleet.md").read_text()
    commands = re.findall(r"rabbitmqctl ((?:add_user|set_permissions) .*?)(?= &&|\n)", page)
    assert len(commands) == 4, commands
    for command in commands:
        bench.broker.control(*shlex.split(command))
    url = f"amqps://{{}}@localhost:{bench.broker.tls_port}"
    trusted = bench.environment | {"TUNESMITH_BROKER_CA": str(bench.broker.certificates["authority"])}
    secret = bench.folder / "secret"
    secret.write_text(url.format("worker:WORD2") + "\n")
    secret.chmod(0o644)
    bench.environment = trusted | {"TUNESMITH_BROKER": f"file:{secret}"}
    process = bench.start("serve", "--threads", 1, name="open")
    bench.finish(process, "open", code=4)
    assert "others may read" in bench.text("open"), bench.text("open")
    secret.chmod(0o600)
    bench.worker(1)
    bench.worker(2, "--broker", url.format("worker:WORD2"))
    shown = pathlib.Path(f"/proc/{bench.workers[1].pid}/cmdline").read_bytes()
    assert b"worker:" in shown and b"WORD2" not in shown, shown
    bench.environment = trusted | {"TUNESMITH_BROKER": url.format("tuner:WORD1")}
    wanted = bench.local()
    process = bench.tune("amqp")
    bench.finish(process, "tune_amqp")
    assert bench.searched("tune_amqp") == wanted
    del bench.environment["TUNESMITH_BROKER_CA"]
    process = bench.start("fleet", name="untrusting")
    bench.finish(process, "untrusting", code=4)
    assert "certificate is not trusted" in bench.text("untrusting"), bench.text("untrusting")
    runs = subprocess.run([bench.tunesmith, "records", "export", "--database", "worker2.db"], env=bench.environment, capture_output=True, text=True, cwd=bench.folder, check=True).stdout
    assert "WORD2" not in runs


CASES = {case.__name__: case for case in (same_programs, killed_worker, killed_tuner, restarted_broker, hanging_broker, ended_without_broker, broker_without_memory, dead_letter, foreign_messages, odd_messages, plain_text, other_machine, library_for_each_identity, drifting_worker, hanging_worker, deleted_queue, changed_password, full_disk, encrypted)}


def main():
    tunesmith, name = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    with running(lambda folder: Bench(tunesmith, folder, tls=name == "encrypted")) as bench:
        CASES[name](bench)


if __name__ == "__main__":
    main()

"""Another version of a pack makes other programs of another task; some changes are refused before a run begins."""
import cli
import run_pack
from mistakes import MISTAKES
from units import UNITS

RELU = UNITS["relu"]
CLAMPED = next(mistake.text() for mistake in MISTAKES if mistake.name == "a relu is clamped at 6")


def tune(folder, text):
    run_pack.write_unit(folder, RELU, text)
    tuned = run_pack.tune(folder)
    assert tuned.code == 0, tuned
    return tuned


def build(folder, *more):
    return cli.start("build", folder / "work.yaml", *run_pack.at(folder), "--database", folder / "records.db", "--threads", 1, "--output", folder / "out", *more)


def edited_between_tune_and_build(folder):
    """The fragment gets a mistake after the correct one was tuned."""
    right = tune(folder, RELU.text())
    best = right.result["trace"]
    assert cli.require(build(folder), 0)
    run_pack.write_unit(folder, RELU, CLAMPED)
    refused = build(folder)
    assert refused.returncode == 2 and "no record of acme_work" in refused.stderr, refused
    refused = build(folder, "--trace", best)
    if refused.returncode == 0:  # the best program calls no instruction, and is verified again
        assert "measured now" in refused.stdout + refused.stderr, refused
    else:
        assert "program rejected: wrong_result" in refused.stderr, refused
    return "no record of it"


def edited_between_two_runs(folder):
    right = tune(folder, RELU.text())
    wrong = tune(folder, CLAMPED)
    assert wrong.result["known"] == wrong.result["resumed"] == 0 and wrong.refused == {"wrong_result": len(right.called)}, wrong
    assert wrong.result["valid"] == len(right.plain), (wrong.result, len(right.plain))
    assert tune(folder, RELU.text()).result["resumed"] == len(right.called) + len(right.plain)
    return f"wrong_result {len(right.called)}"


def quantities_are_edited(folder):
    texts = [RELU.text().replace("target: llvm\n", f"target: llvm\nquantities: {{acme_lanes: {lanes}}}\n") for lanes in (16, 8)]
    first, second = (tune(folder, text) for text in texts)
    assert first.result["known"] == second.result["known"] == 0, (first.result, second.result)
    return "tuned anew"


def remarks_are_edited(folder):
    """Remarks do not change the program, so records stay valid."""
    first = tune(folder, RELU.text())
    assert tune(folder, "# By Acme\n" + RELU.text()).result["resumed"] == first.result["trials"]
    return "resumed"


def edited_without_its_manifest(folder):
    run_pack.write_unit(folder, RELU, RELU.text())
    (folder / "acme.yaml").write_text(CLAMPED)
    refused = run_pack.tune(folder)
    assert refused.code == 4 and "extension 'acme': " in refused.said and "acme.yaml is refused: [P9] its SHA-256 is " in refused.said, refused
    code, failed = run_pack.verify(folder)
    assert code == 4 and "[P9]" in failed["loads"], failed
    return "P9"


def one_name_in_two_packs(folder):
    run_pack.write_unit(folder, RELU, RELU.text())
    run_pack.write_pack(folder / "other", {"acme_two": CLAMPED.replace("extension: acme\n", "extension: acme_two\n")})
    for pair in ("acme, acme_two", "acme_two, acme"):
        spaces = folder / "two.yaml"
        spaces.write_text((folder / "spaces.yaml").read_text().replace("with: [acme]", f"with: [{pair}]"))
        refused = cli.start("tune", folder / "work.yaml", "--spaces", spaces, "--plugin-path", folder, "--plugin-path", folder / "other",
                            "--plugin-path", run_pack.MODULES, "--database", folder / "records.db", "--trials", 8)
        names = " and ".join(f"'{name}'" for name in pair.split(", "))
        assert refused.returncode == 2 and "two.yaml:6:" in refused.stderr and f"extensions {names} both have an intrinsic 'acme_op'" in refused.stderr, refused
    return "the spaces file is refused"


VERSIONS = [edited_between_tune_and_build, edited_between_two_runs, quantities_are_edited, remarks_are_edited, edited_without_its_manifest, one_name_in_two_packs]

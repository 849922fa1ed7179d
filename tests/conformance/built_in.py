#!/usr/bin/env python3
"""Do the packs that come along keep the rules? Usage: built_in.py TUNESMITH FOLDER SPACES only|but PACK...

Verifies the packs of FOLDER that are named, or all but those, each by its manifest.
"""
import pathlib
import subprocess
import sys

# attention_scores is for inline_constant_scalars (a constant that attention multiplies with), softmax for row_chain (rows that the cores share evenly),
# reduce_sum_1d for stream (what no first-level cache holds), gmm of f16 for tensor_core, attention for fused_attention.
ATTENTION = pathlib.Path(__file__).resolve().parent.parent / "e2e" / "attention.yaml"
WORKLOADS = ("attention_scores:seq=4,heads=2,dim=6", "softmax:m=64,n=40", "reduce_sum_1d:n=20000", "gmm:n=20,m=16,k=32,dtype=f16", f"{ATTENTION}:n=64,d=32")


def main():
    tunesmith, folder, spaces, which, *names = sys.argv[1:]
    packs = {file.name.removesuffix(".pack.json"): file for file in sorted(pathlib.Path(folder).rglob("*.pack.json"))}
    missing = sorted(set(names) - set(packs))
    assert not missing, f"there are no packs {missing} in {folder}"
    failed = []
    for name, file in packs.items():
        if (name in names) != (which == "only"):
            continue
        words = [word for workload in WORKLOADS for word in ("--workload", workload)]
        done = subprocess.run([tunesmith, "plugins", "verify", file, "--spaces", spaces, *words, "--time-limit", "600"])
        if done.returncode != 0:
            failed.append(name)
    print(f"these packs break a rule: {', '.join(failed)}" if failed else "all keep the rules")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

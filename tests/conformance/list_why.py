#!/usr/bin/env python3
"""`plugins list --why`: every place that was looked at, what was found there, accepted or refused and why.
Usage: list_why.py TUNESMITH FOLDER, which has the packs bad_searcher and bad_cost_model"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TUNESMITH, LIBRARIES = sys.argv[1:]


def main():
    with tempfile.TemporaryDirectory(prefix="tunesmith-why-") as folder:
        place = pathlib.Path(folder) / "place"
        place.mkdir()
        for pack in ("bad_searcher", "bad_cost_model"):
            for suffix in (".so", ".pack.json"):
                shutil.copy2(pathlib.Path(LIBRARIES) / (pack + suffix), place)
        (place / "bad_searcher.so").chmod(0o777)
        (place / "damaged.pack.json").write_text("{")
        # A second plugin llvm does not replace the built-in one.
        for file in json.loads(listed(place, "--json"))["plugins"]:
            if file["id"] == "llvm":
                manifest = pathlib.Path(file["library"]).with_suffix(".pack.json")
        text = manifest.read_text()
        (place / "llvm.pack.json").write_text(text)

        answer = json.loads(listed(place, "--why", "--options", "--json", TUNESMITH_PLUGIN_PATH="/nowhere/at/all"))
        looked_at = {pathlib.Path(entry["path"]).name: entry for entry in answer["looked_at"] if entry["source"] == "--plugin-path"}
        for name, outcome, detail in [
            ("place", "searched", "manifests: 4"),
            ("bad_cost_model.so", "accepted", "cost_model 'bad_cost_model'"),
            ("bad_searcher.so", "refused", "is refused: [P8] "),
            ("damaged.pack.json", "refused", "[P6] "),
            ("llvm.so", "refused", "[P7] target 'llvm' is built in, from "),
        ]:
            assert looked_at[name]["outcome"] == outcome and detail in looked_at[name]["detail"], (name, looked_at.get(name))
        elsewhere = {entry["path"]: entry for entry in answer["looked_at"] if entry["source"] != "--plugin-path"}
        assert elsewhere["/nowhere/at/all"]["outcome"] == "absent", elsewhere
        assert any(entry["outcome"] == "accepted" and entry["source"] == "the system's folder" for entry in elsewhere.values())

        # A refused plugin does not prevent the reference of all options.
        plugins = {plugin["id"]: plugin for plugin in answer["plugins"]}
        assert "options" not in plugins["bad_searcher"]
        tiling = {option["name"]: option for option in plugins["multi_level_tiling"]["options"]}
        assert tiling["structure"]["help"] and tiling["structure"]["default"], tiling
        listing = json.loads(listed(place, "--json"))
        assert plugins["llvm"]["help"] and [plugin["help"] for plugin in listing["plugins"] if plugin["id"] == "bad_searcher"] == [""], listing
        assert any("llvm.so" in entry["path"] and "[P7]" in entry["reason"] for entry in listing["refused"]), listing
        assert "refused    " in listed(place) and plugins["llvm"]["help"] in listed(place)
        alone = json.loads(listed(place, "--options", "--json"))["plugins"]
        assert any("[P8]" in plugin.get("refused", "") for plugin in alone if plugin["id"] == "bad_searcher")
        text = listed(place, "--why", "--options")
        for part in ("\nrefused   ", "\naccepted  ", "[P8] ", "structure: "):
            assert part in text, f"{part!r} is not in:\n{text}"


def listed(place, *arguments, **environment):
    return subprocess.run([TUNESMITH, "plugins", "list", "--plugin-path", place, *arguments], check=True, capture_output=True, text=True,
                          env={**os.environ, **environment}).stdout


if __name__ == "__main__":
    main()

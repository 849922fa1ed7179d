"""The results' file: JSON that is valid after every row, so that a run can continue an earlier one."""
import json
import os


class Mismatch(Exception):
    """The file's results have other settings."""


SETTINGS = ("threads", "trials", "seed", "space", "trace")


class Results:
    def __init__(self, file, settings, machine):
        self._file = file
        self.data = {"version": 1, "settings": settings, "machine": machine, "rows": []}
        if file.exists():
            found = load(file)
            other = [key for key in SETTINGS if found["settings"].get(key) != settings.get(key)]
            if other:
                raise Mismatch(f"{file} has results of other {', '.join(other)}; --output names another file")
            if found["machine"].get("model") != machine["model"]:
                raise Mismatch(f"{file} is of another machine ({found['machine'].get('model')}); --output names another file")
            self.data["rows"] = found["rows"]

    def row(self, name):
        return next((row for row in self.data["rows"] if row["name"] == name), None)

    def has(self, name, busy_too=False):
        """Whether the row has figures; those from a busy machine count only with `busy_too`."""
        row = self.row(name)
        return row is not None and "tunesmith" in row.get("times", {}) and (busy_too or not row.get("loaded"))

    def put(self, row):
        old = self.row(row["name"])
        rows = self.data["rows"]
        if old is None:
            rows.append(row)
        else:
            rows[rows.index(old)] = row
        self.save()

    def save(self):
        part = self._file.with_name(self._file.name + ".part")
        self._file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(self.data, indent=1) + "\n")
        os.replace(part, self._file)


def load(file):
    found = json.loads(file.read_text())
    if found.get("version") != 1 or "rows" not in found:
        raise Mismatch(f"{file} is not a file of results of this version")
    return found

"""The rows to measure: the suite's shapes and the fused groups, by section."""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITE = ROOT / "workloads/suite.yaml"
GROUPS = ROOT / "bench/peers/groups.yaml"
# The rows of the project's speed goals. TVM is tuned for these by default, since some thirty rows take it an hour.
HEADLINES = ["gmm:b=1,n=512,m=512,k=512", "gmm:b=1,n=1024,m=1024,k=1024", "conv2d:h=14,w=14,ci=256,co=256,kernel=3,stride=1,padding=1",
             "conv2d:h=7,w=7,ci=512,co=512,kernel=3,stride=1,padding=1", "attention_scores:b=1,seq=128,heads=12,dim=64",
             "conv2d:h=56,w=56,ci=64,co=64,kernel=1,stride=1,padding=0", "depthwise_conv2d:h=112,w=112,c=32,kernel=3,stride=1,padding=1",
             "conv_bias_bn_relu:h=56,w=56,ci=64,co=128,kernel=3,stride=2,padding=1", "softmax:m=1024,n=1024",
             "conv1d:l=64,ci=256,co=256,kernel=5,stride=1,padding=2", "transposed_conv2d:h=8,w=8,ci=256,co=128,kernel=4,stride=2,padding=1",
             "norm:b=1,m=1024,n=1024", "capsule_conv2d:h=16,w=16,ci=32,co=32,kernel=3,stride=2,padding=1", "dense_bias_gelu:n=128,k=768,m=3072"]


@dataclasses.dataclass(frozen=True)
class Row:
    section: str
    workload: str  # as the command line takes it, from the root of the repository

    @property
    def is_group(self):
        return self.section in ("BERT", "Llama", "ResNet", "MobileNet")

    @property
    def name(self):
        """The workload without the folder and the ending of its file."""
        file, _, parameters = self.workload.partition(":")
        return f"{pathlib.PurePath(file).stem}:{parameters}"

    @property
    def tuned(self):
        """The workload to tune: its weights are constant, as the peers' are, even if the suite's workload leaves that open."""
        if self.name.startswith("gmm:") and "constant_b" not in self.workload:
            return self.workload + ",constant_b=1"
        return self.workload


def read(file):
    """The rows of a suite's file (a mapping of lists of strings), in the file's order."""
    rows = []
    section = None
    for line in file.read_text().splitlines():
        text = line.split("#")[0].strip()
        if text.endswith(":"):
            section = text[:-1]
        elif text.startswith("- "):
            rows.append(Row(section, text[2:]))
    return rows


def select(suite, groups, only, headlines=False):
    """Rows of both kinds if neither is asked for; `only` is a regular expression for the section and name."""
    rows = []
    if suite or not groups:
        rows += [row for row in read(SUITE) if not headlines or row.workload in HEADLINES]
    if groups or not suite:
        rows += read(GROUPS)
    return [row for row in rows if re.search(only, f"{row.section} {row.name}")]


def parameters(key):
    """(name, {parameter: value}) of a workload's key; whole numbers become int."""
    name, _, text = key.partition(":")
    found = {}
    for item in filter(None, text.split(",")):
        parameter, _, value = item.partition("=")
        found[parameter] = int(value) if re.fullmatch(r"-?\d+", value) else value
    return name, found


def tvm_folder(records, one, trials, seed):
    """The folder with TVM's records of a row."""
    return records / f"{trials}-{seed}" / one.name.replace(":", "-").replace(",", "-").replace("=", "")

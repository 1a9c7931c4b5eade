"""Static links: followed through imports, fixtures, set-up and helpers; never from a bare name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extract.conftest import Extract

PACKAGE = {
    "src/pkg/__init__.py": "from .core import *\nfrom .nets import Net, Child as Kid\nfrom . import core\n"
    "from .run import run\n",
    "src/pkg/core.py": "def add(a, b): return a + b\ndef sub(a, b): return a - b\ndef make():\n    return Thing()\n"
    "class Thing:\n    def use(self): return 1\n    @property\n    def size(self): return 2\n"
    "    @size.setter\n    def size(self, v): pass\n    @classmethod\n    def new(cls): return cls()\n"
    "    def chain(self): return self\n    def __call__(self): return 3\n",
    "src/pkg/nets.py": "import torch.nn as nn\nclass Net(nn.Module):\n    def __init__(self): super().__init__()\n"
    "    def forward(self, x): return x\n    def loss(self): return 0\n"
    "class Child(Net):\n    def loss(self): return super().loss()\n",
    "src/pkg/run.py": "def run(): return 1\ndef walk(): return 2\n",
    "src/pkg/loop_a.py": "from .loop_b import *\nfrom .loop_b import ghost\n",
    "src/pkg/loop_b.py": "from .loop_a import *\nfrom .loop_a import ghost\n",
}
ADD, SUB, THING = "src/pkg/core.py:add", "src/pkg/core.py:sub", "src/pkg/core.py:Thing"
NET = "src/pkg/nets.py:Net"
CASES: list[tuple[str, str, set[str]]] = [
    ("from import", "from pkg.core import add\ndef test(): add(1, 2)", {ADD}),
    ("alias", "import pkg.core as c\ndef test(): c.sub(1, 2)", {SUB}),
    ("dotted", "import pkg.core\ndef test(): pkg.core.add(1, 2)", {ADD}),
    ("submodule", "from pkg import core\ndef test(): core.add(1, 2)", {ADD}),
    ("re-exported by a star", "import pkg\ndef test(): pkg.add(1, 2)", {ADD}),
    ("star in the test", "from pkg.core import *\ndef test(): add(1, 2)", {ADD}),
    ("function named as its module", "from pkg import run\ndef test(): run()", {"src/pkg/run.py:run"}),
    ("beside a function of its name", "from pkg.run import walk\ndef test(): walk()", {"src/pkg/run.py:walk"}),
    ("local import", "def test():\n    from pkg import add as plus\n    plus(1, 2)", {ADD}),
    ("passed on", "import pytest\nfrom pkg import add\ndef test(): pytest.raises(E, add, 1)", {ADD}),
    ("parametrised",
     "import pytest, pkg\n@pytest.mark.parametrize('f', [pkg.add, pkg.sub])\ndef test(f): f(1, 2)", {ADD, SUB}),
    ("table of cases", "import pkg\nCASES = [(pkg.add, 3)]\ndef test():\n    for f, n in CASES: f(1, n)", {ADD}),
    ("method of a call", "from pkg.core import Thing\ndef test(): Thing().use()", {f"{THING}.use"}),
    ("method of a variable", "from pkg.core import Thing\ndef test():\n    t = Thing()\n    t.use()", {f"{THING}.use"}),
    ("property",
     "from pkg.core import Thing\ndef test():\n    t = Thing()\n    t.size.bit_length()", {f"{THING}.size"}),
    ("setter", "from pkg.core import Thing\ndef test():\n    t = Thing()\n    t.size = 3", {f"{THING}.size"}),
    ("class method", "from pkg.core import Thing\ndef test(): Thing.new().use()", {f"{THING}.new", f"{THING}.use"}),
    ("fluent", "from pkg.core import Thing\ndef test(): Thing().chain().use()", {f"{THING}.chain", f"{THING}.use"}),
    ("returned", "from pkg.core import make\ndef test(): make().use()", {"src/pkg/core.py:make", f"{THING}.use"}),
    ("called instance", "from pkg.core import Thing\ndef test():\n    t = Thing()\n    t()", {f"{THING}.__call__"}),
    ("module", "import pkg\ndef test():\n    n = pkg.Net().to('cpu')\n    n(1)", {f"{NET}.__init__", f"{NET}.forward"}),
    (
        "inherited",
        "import pkg\ndef test():\n    n = pkg.Kid()\n    n.loss()\n    n(1)",
        {f"{NET}.__init__", f"{NET}.forward", "src/pkg/nets.py:Child.loss"},
    ),
    (
        "set-up of unittest",
        "import unittest, pkg\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.n = pkg.Net()\n"
        "    def test(self): self.n.loss()",
        {f"{NET}.__init__", f"{NET}.loss"},
    ),
    (
        "fixture",
        "import pytest, pkg\n@pytest.fixture\ndef net():\n    n = pkg.Net()\n    yield n\ndef test(net): net.loss()",
        {f"{NET}.__init__", f"{NET}.loss"},
    ),
    ("fixture of conftest", "def test(shared): shared.use()", {"src/pkg/core.py:make", f"{THING}.use"}),
    ("helper", "import pkg\ndef check(x): pkg.add(x, x)\ndef test(): check(1)", {ADD}),
    ("helper module", "from helpers import check_sub\ndef test(): check_sub()", {SUB}),
    (
        "helper class",
        "import pkg\nclass Mine(pkg.Net):\n    def __init__(self): super().__init__()\ndef test(): Mine().loss()",
        {f"{NET}.__init__", f"{NET}.loss"},
    ),
    ("method of the test class",
     "import pkg\nclass Test:\n    def go(self): pkg.add(1, 2)\n    def test(self): self.go()", {ADD}),
    ("bare name", "def test(): add(1, 2)", set()),
    ("own definition of that name", "import pkg\ndef add(a, b): pass\ndef test(): add(1, 2)", set()),
    ("shadowed by a parameter", "from pkg import add\ndef test(add=None): add(1, 2)", set()),
    ("another package's", "from other import add\ndef test(): add(1, 2)", set()),
    ("attribute of something unknown", "def test():\n    x = thing()\n    x.use()", set()),
    ("class only named", "from pkg.core import Thing\ndef test(): isinstance(1, Thing)", set()),
    ("imports in a circle", "from pkg.loop_a import ghost, x\ndef test(): ghost(x)", set()),
    ("assigned from itself",
     "import pkg\ndef test():\n    x = pkg.add(1, 2)\n    x = x.y(x).z\n    x = x.y()\n    x.use()", {ADD}),
]  # fmt: skip
SUPPORT = {
    "tests/conftest.py": "import pytest, pkg.core\n@pytest.fixture\ndef shared(): return pkg.core.make()\n",
    "tests/helpers.py": "import pkg\ndef check_sub(): return deeper()\ndef deeper(): pkg.sub(1, 2)\n",
}


@pytest.mark.parametrize(("text", "linked"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_links(extract: Extract, text: str, linked: set[str]) -> None:
    found = extract(PACKAGE | SUPPORT | {"tests/test_a.py": text + "\n"}, black="none")
    ((_, got),) = found.links().items()
    assert got == linked


def test_setter_and_getter_are_linked_apart(extract: Extract) -> None:
    text = (
        "from pkg.core import Thing\ndef test_get(): Thing().size\ndef test_set():\n    t = Thing()\n    t.size = 1\n"
    )
    found = extract(PACKAGE | {"tests/test_a.py": text})
    kinds = {row.function_id: row.kind for row in found.functions}
    tests = {row.test_id: row.qualname for row in found.tests}
    from curate.records import Link

    linked = {tests[r.test_id]: kinds[r.function_id] for r in found.rows if isinstance(r, Link)}
    assert linked == {"test_get": "getter", "test_set": "setter"}


@pytest.mark.parametrize("seed", ["1", "2"])
def test_rows_do_not_depend_on_the_hash_seed(extract: Extract, seed: str, tmp_path: Path) -> None:
    files = {f"tests/test_{n}.py": text for n, (_, text, _) in enumerate(CASES)}
    found = extract(PACKAGE | SUPPORT | files, black="none")
    code = (
        "import sys, pathlib\nfrom curate.extract import Settings, extract\n"
        "rows = extract(pathlib.Path(sys.argv[1]), 'snap', 'toy', Settings(black='none'))\n"
        "print('\\n'.join(row.model_dump_json() for row in rows))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(found.root)],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stdout.splitlines() == [row.model_dump_json() for row in found.rows]
    assert [(row.path, row.start_byte) for row in found.functions] == sorted(
        (row.path, row.start_byte) for row in found.functions
    )

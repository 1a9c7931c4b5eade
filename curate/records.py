"""Every table, as a class: one frozen record class a table, one docstring a column.

The DuckDB tables, Arrow schemas, JSON Schemas under `schema/tables/` and the features of the published data set are
derived from these classes (see `derive.py`); nobody writes them by hand.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

Axis = str
Relation = Literal["exact", "renamed", "near", "partial"]


class Struct(BaseModel):
    """A group of named values inside a column."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Record(Struct):
    """A row of a table."""

    table: ClassVar[str]


class Row(Record):
    """A row that a stage wrote while it worked on one item."""

    run_id: str = ""
    """The run of a stage that wrote this row; see `runs`. Filled in when the row is stored."""
    work_item: str = ""
    """The item that the stage was working on: with run_id, the entry of `work` that this row belongs to."""


# --- bookkeeping


class Run(Record):
    """One run of one stage."""

    table: ClassVar[str] = "runs"

    run_id: str
    """Starts with the time (UTC), so that runs sort by age."""
    stage: str
    """Name of the stage."""
    version: str
    """The stage's number, raised by hand when its results change, and a hash of the settings that shape them."""
    settings: str
    """The settings as JSON."""
    started_at: datetime
    """When the run began (UTC)."""
    ended_at: datetime | None
    """When it ended; a run that was killed leaves only the row without an end."""
    items: int
    """How many items were pending when it began (row without an end) or were done (row with an end)."""
    status: Literal["started", "done", "interrupted", "failed"]
    """How it ended."""
    curate: str
    """Version of curate."""


class Work(Record):
    """One item that a stage has dealt with: what is not here is pending."""

    table: ClassVar[str] = "work"

    run_id: str
    """The run that dealt with it."""
    stage: str
    """Name of the stage."""
    version: str
    """Version of the stage, as in `runs`."""
    item_id: str
    """What was dealt with: an id of the table that the stage reads, or a hash for a stage that reads a whole table."""
    status: Literal["done", "failed", "retry"]
    """`failed` items have a row in `failures`; `retry` ones too, and are taken up again by the next run."""
    done_at: datetime
    """When (UTC)."""


class Failure(Row):
    """An item that a stage could not deal with."""

    table: ClassVar[str] = "failures"

    stage: str
    """Name of the stage."""
    item_id: str
    """What failed: the stage's item, or a part of it such as one file of a snapshot."""
    subject: str
    """What failed, in words a person can look up: a project, a file, a function."""
    reason: str
    """Class of failure, for counting: for example does_not_parse."""
    detail: str
    """What happened, with enough to run it again."""


# --- finding repositories


class Search(Row):
    """One question to the repository search: all repositories of a query that were created in a span of time."""

    table: ClassVar[str] = "searches"

    host: str
    """Host of the service that was asked."""
    query: str
    """The query, without the span."""
    created_from: datetime
    """First second of the span (UTC)."""
    created_to: datetime
    """Last second of the span, inclusive (UTC)."""
    status: Literal["complete", "split", "incomplete"]
    """split: more hits than a search hands out, or too many to be searched in time, so both halves are asked;
    incomplete: asked several times and still short of the total, so the next run asks again."""
    total: int
    """Number of hits that the search claims."""
    found: int
    """Number of different repositories that it handed out; 0 for one that was split."""


class Hit(Row):
    """A repository as a search found it."""

    table: ClassVar[str] = "hits"

    query: str
    """The query that found it."""
    host: str
    """Host of the service, such as github.com."""
    repository_id: int
    """Number that it keeps when it is renamed or moved."""
    full_name: str
    """OWNER/NAME at that time."""
    stars: int
    """Number of stars at that time."""
    fork: bool
    """Whether it was made as a fork."""
    archived: bool
    """Whether it is read-only."""
    private: bool
    """Whether only some may read it."""
    is_template: bool
    """Whether others are made from it."""
    size_kb: int
    """Size of its objects, in KiB, as the service reports it."""
    language: str | None
    """Its main language."""
    topics: list[str]
    """Its topics."""
    license: str | None
    """SPDX id that the service recognised; null for none and for NOASSERTION."""
    created_at: datetime
    """When it was made (UTC)."""
    pushed_at: datetime | None
    """When something was pushed last (UTC)."""


class Etag(Struct):
    """What to send along so that an unchanged answer costs nothing."""

    path: str
    """What was asked."""
    etag: str
    """Tag of the answer."""


class Repository(Row):
    """A repository looked up by itself."""

    table: ClassVar[str] = "repositories"

    host: str
    """Host of the service, such as github.com."""
    repository_id: int
    """Number that it keeps when it is renamed or moved."""
    full_name: str
    """OWNER/NAME now."""
    former_names: list[str]
    """Other names under which it was asked for, or seen by earlier runs."""
    url: str
    """Its page."""
    ref: str
    """Branch, tag or commit that was resolved: the one asked for, else the default branch."""
    revision: str
    """Commit that this names."""
    committed_at: datetime | None
    """Date of the commit (UTC)."""
    root_commit: str | None
    """The oldest commit that the service lists for it: copies share it, also those not made as forks. Null when nobody
    asked."""
    fork_of: str | None
    """Full name of the repository that its network of forks began with."""
    fork_of_id: int | None
    """Number of that one."""
    template: str | None
    """Full name of the template that it was made from."""
    stars: int
    """Number of stars."""
    archived: bool
    """Whether it is read-only."""
    private: bool
    """Whether only some may read it."""
    size_kb: int
    """Size of its objects, in KiB, as the service reports it."""
    language: str | None
    """Its main language."""
    topics: list[str]
    """Its topics."""
    license: str | None
    """SPDX id that the service recognised; null for none and for NOASSERTION. Our own reading is in `snapshots`."""
    created_at: datetime
    """When it was made (UTC)."""
    pushed_at: datetime | None
    """When something was pushed last (UTC)."""
    etags: list[Etag]
    """For asking again at no cost."""


class Choice(Row):
    """Whether a repository that a source file leads to is taken in, and why not."""

    table: ClassVar[str] = "choices"

    source_file: str
    """The file in `sources/`."""
    host: str
    """Host of the service."""
    repository_id: int
    """The repository."""
    full_name: str
    """Its newest known name."""
    request: str | None
    """The exact request that is mined for it; null when it is left out."""
    reason_class: str
    """Class of the reason, for counting; empty when it is taken."""
    reason: str
    """Why it is left out, in one sentence."""


# --- mining


class Snapshot(Row):
    """A project at one commit or version."""

    table: ClassVar[str] = "snapshots"

    snapshot_id: str
    """Hash of what identifies the content: the archive's hash, the commit, or the hash of the folder's files."""
    source: Literal["pypi", "git", "github", "local"]
    """Kind of source that it came from."""
    name: str
    """Name of the project: normalised distribution name, OWNER/NAME or last part of a git URL, or folder name."""
    repository_id: int | None = None
    """Number of the repository; null when it was not looked up (see `repositories`)."""
    url: str
    """Where it came from, without credentials: file address, git URL, or the folder's name."""
    revision: str
    """The exact revision: commit hash, version of an archive (its hash is in sha256), or content hash of a folder."""
    sha256: str
    """Hash of the archive as downloaded, or of the sorted (path, content hash) list of the files."""
    committed_at: datetime | None
    """Commit date, or upload date of the archive (UTC); null when unknown, as for a folder."""
    license_expression: str | None
    """SPDX expression; null when none could be read. Never NOASSERTION."""
    license_path: str | None
    """File of the snapshot that the expression was read from."""
    license_from: str | None
    """How it was read, as in `licenses`, and from which file."""
    requires_python: str | None
    """Interpreter versions that the project asks for, as a PEP 440 specifier."""
    files: int
    """Number of files kept."""
    bytes: int
    """Total size of the files kept, in bytes."""


class Framework(Struct):
    """A framework that a project uses."""

    name: str
    """Top-level module, such as torch."""
    kind: str
    """deep learning, machine learning or arrays."""
    files: int
    """Number of files outside the tests that import it."""
    test_files: int
    """Number of files of the tests that do."""
    first_path: str
    """First file that imports it, those outside the tests before others."""
    first_line: int
    """Line of the import there (1-based; within its cell for a notebook)."""


class Profile(Row):
    """What a project is like, as far as its source files tell."""

    table: ClassVar[str] = "profiles"

    snapshot_id: str
    """The snapshot."""
    python_files: int
    """Number of Python files and notebooks, hidden folders left out."""
    unreadable: int
    """Number of these that do not parse, for a notebook any of its cells, or have more than 2 MB."""
    functions: int
    """Number of functions and methods outside the tests, nested ones and stubs left out."""
    stubs: int
    """Number of these stubs: overload signatures, and bodies of only `pass`, `...` or `raise NotImplementedError`."""
    documented: int
    """Number of these functions that have a docstring."""
    documented_share: float
    """documented / functions, in [0, 1]; 0 without functions."""
    tests: int
    """Number of test functions and methods in the tests, parameters not counted."""
    tests_per_function: float
    """tests / functions; 0 without functions."""
    frameworks: list[Framework]
    """Frameworks that it imports, by name."""


class License(Row):
    """A place that says under which licence a project, a folder or a file of it is; all that was found is kept."""

    table: ClassVar[str] = "licenses"

    snapshot_id: str
    """The snapshot."""
    path: str
    """What it holds for: empty for the whole project, else a file, or a folder with all that is in it."""
    expression: str | None
    """SPDX expression; null when a licence is named, or its text is there, that is not known or not told exactly."""
    read_from: str
    """File of the snapshot that says so."""
    how: Literal["expression", "field", "classifier", "text", "notice", "tag", "reuse", "combined"]
    """expression, field, classifier: of the metadata; text: compared with SPDX's texts; notice: a sentence that names
    it; tag: SPDX-License-Identifier; reuse: REUSE.toml or .reuse/dep5; combined: follows from several others."""
    text: str
    """The very text: the metadata's line, the notice, the licence file (its first 50,000 characters)."""
    score: float
    """Similarity to SPDX's text of the licence, in [0, 1]; 1 for what is declared, 0 for what is not known."""
    decides: bool
    """Whether this is what counts for `path`; at most one row a path is."""
    reason: str
    """Why it counts although others say something else, or why nothing does; empty when there is nothing to explain."""


class History(Row):
    """The history of a project's repository, as far as it could be fetched."""

    table: ClassVar[str] = "histories"

    snapshot_id: str
    """The snapshot at whose commit it ends."""
    commits: int
    """Number of commits: that of the snapshot and all before it."""
    first_commit: str
    """The commit without parents that has the earliest committer date."""
    first_commit_at: datetime | None
    """Its committer date (UTC); null when it cannot be read."""
    root_commits: list[str]
    """Every commit without parents, sorted; more than one when histories were joined."""
    complete: bool
    """Whether it goes back to the beginning."""
    reason: str
    """Why not; empty when it does."""
    bytes: int
    """Size on disk; what is read from a repository of this machine does not count."""
    fetched_at: datetime
    """When it was looked at (UTC): no commit of it is younger, whatever its own date says."""


# --- extraction


class Section(Struct):
    """A part of a docstring."""

    name: str
    """summary, description, parameters, returns, yields, raises, examples, attributes, notes, references, ..."""
    text: str
    """Its text, dedented."""


class Function(Row):
    """A function or method of a snapshot."""

    table: ClassVar[str] = "functions"

    function_id: str
    """Hash of snapshot, path, qualified name, kind and the ordinal among definitions that share these."""
    snapshot_id: str
    """The snapshot that it is in."""
    path: str
    """File, relative to the project's root, with forward slashes."""
    module: str
    """Dotted name under which the file is imported."""
    qualname: str
    """Qualified name as Python gives it (`Class.method`, `outer.<locals>.inner`)."""
    kind: Literal["function", "method", "getter", "setter", "deleter"]
    """What it is; property accessors are told apart."""
    cell: int | None
    """Index among all cells of a notebook; lines and bytes then count within that cell's source as UTF-8."""
    first_line: int
    """Line of `def` (1-based)."""
    last_line: int
    """Last line of the body (1-based, inclusive)."""
    start_byte: int
    """Offset of the first byte of the definition in the file, decorators included."""
    end_byte: int
    """Offset after the last byte of the definition."""
    body_byte: int
    """Offset at which the first statement after the docstring starts; end_byte when there is none."""
    signature: str
    """`def` line as one line, without the colon."""
    docstring: str | None
    """Docstring, dedented as inspect.cleandoc does."""
    sections: list[Section]
    """The docstring's sections (Google, NumPy or reStructuredText style)."""
    source: str
    """Text of the definition, decorators included, dedented, newlines as LF."""
    normalised: str
    """The definition without comments and docstrings, in one spelling whatever its layout, quotes and parentheses
    (`ast.unparse`); laid out by black for functions that can become problems."""
    normalised_sha256: str
    """Hash of `normalised` as it was before black: the same for all copies, wherever they stand."""
    context: str
    """What a reader needs beside the definition: imports it uses and the skeleton of its class."""
    decorators: list[str]
    """Decorators as written, outermost first."""
    arguments: list[str]
    """Names of the parameters, in order."""
    imports: list[str]
    """Full dotted names of the imported things it uses."""
    calls: list[str]
    """Dotted names of what it calls, resolved through the imports, in order of first appearance."""
    bases: list[str]
    """Base classes of its class, resolved through the imports."""
    is_async: bool
    """Whether it is an `async def`."""
    is_nested: bool
    """Whether it is defined inside another function."""
    in_tests: bool
    """Whether its file is a test file or belongs to the tests."""
    is_stub: bool
    """Whether it has no behaviour of its own: only `pass`, `...`, a docstring or `raise NotImplementedError`."""
    cyclomatic_complexity: int
    """As radon counts it."""
    lines: int
    """last_line - first_line + 1."""
    tokens: int
    """Number of Python tokens in `normalised` before black, layout left out; a formatted string is one token."""


class Test(Row):
    """A test function or method."""

    table: ClassVar[str] = "tests"

    test_id: str
    """Hash of snapshot and node_id."""
    snapshot_id: str
    """The snapshot that it is in."""
    path: str
    """Test file, relative to the project's root."""
    qualname: str
    """`test_f` or `TestClass.test_f`."""
    node_id: str
    """pytest's id without parameters: `path::TestClass::test_f`."""
    framework: Literal["pytest", "unittest"]
    """How it is written."""
    first_line: int
    """Line of `def` (1-based); 0 when only found by collecting."""
    last_line: int
    """Last line (1-based); 0 when only found by collecting."""
    source: str
    """Text of the test, decorators included, dedented; empty when only found by collecting."""
    found_by: Literal["static", "collected"]
    """Read from the file, or only seen when pytest collected it (inherited or generated tests)."""


class Link(Row):
    """A test that exercises a function."""

    table: ClassVar[str] = "links"

    function_id: str
    """The function."""
    test_id: str
    """The test."""
    how: Literal["static", "coverage", "proven"]
    """Read from names and imports; seen when the test ran; or proven: the test fails when the body raises."""


# --- dates


class Appearance(Row):
    """Since when a function has been there, as the history of its project tells; never later than it was."""

    table: ClassVar[str] = "appearances"

    function_id: str
    """The function."""
    first_seen_at: datetime
    """Earliest date among the commits that began, moved or changed it, or what it was made from (UTC)."""
    first_seen_commit: str
    """The commit with that date."""
    first_seen_path: str
    """The file that it stood in there."""
    body_seen_at: datetime
    """When exactly this body (`normalised_sha256`) was first written anywhere in the project (UTC)."""
    body_seen_commit: str
    """The commit that wrote it."""
    changed_at: datetime
    """Since when the function has this body (UTC); moving, reformatting, comments and docstrings are no changes."""
    changed_commit: str
    """The commit that gave it this body."""
    complete: bool
    """Whether its beginning can be known; false: it may be older than first_seen_at."""
    how: str
    """Where it began, where it moved, when it changed, with the commits to look at."""


# --- verification


class Environment(Row):
    """The environment in which a snapshot's tests run."""

    table: ClassVar[str] = "environments"

    environment_id: str
    """Hash of interpreter and lock; equal locks share one environment."""
    snapshot_id: str
    """The snapshot that it was made for."""
    python: str
    """Version of the interpreter."""
    requirements: list[str]
    """What was asked for, as PEP 508 requirements."""
    requirements_from: list[str]
    """Where that was read: `pyproject.toml project.dependencies`, `tests import numpy`, ..."""
    lock: str
    """Every package with its exact version and hashes, as a requirements file; what was built, by its source."""
    resolved_as_of: datetime | None
    """Packages newer than this were not considered; null when that had to be given up."""
    steps: list[str]
    """The steps taken to get there, fall-backs and builds included."""
    project: Literal["source", "wheel"]
    """How the project itself is seen: its sources alone, or with the files that a wheel built in the sandbox adds."""


class TestRun(Row):
    """One test function in one run of the suite (parametrised items counted together)."""

    table: ClassVar[str] = "test_runs"

    snapshot_id: str
    """The snapshot."""
    test_id: str
    """The test."""
    environment_id: str
    """The environment."""
    run: int
    """Number of the run of the suite, from 1; settings differ between runs."""
    setting: str
    """What this run varied: hash seed, order, coverage."""
    outcome: Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed", "timeout", "crashed"]
    """passed: at least one item passed and none failed; a suite that skips everything has passed nothing."""
    items: int
    """How many items (parameter sets) ran."""
    seconds: float
    """Wall time of all items, in seconds."""
    detail: str
    """First lines of what went wrong; empty when it passed."""


class Verdict(Row):
    """Whether running has proven a function to be a sound problem."""

    table: ClassVar[str] = "verdicts"

    function_id: str
    """The function."""
    outcome: str
    """`verified`, or the reason why not in snake_case (no_tests, tests_fail, stub_passes, ...)."""
    reason: str
    """One sentence that says why."""
    detail: str
    """Lines that show it; empty when verified."""
    runs: int
    """How often the reference passed all its linked tests."""
    tests: int
    """Number of linked tests that pass on the reference."""
    tests_failing_on_stub: int
    """Number of these that fail when the body raises."""
    mutants: int
    """Number of mutants that were run; 0 when none were."""
    mutants_killed: int
    """Number of mutants that at least one test killed."""
    environment_id: str | None
    """Environment it ran in."""
    sandbox: str | None
    """Name of the sandbox it ran in."""


class Mutant(Row):
    """A function with one small change, and whether its tests noticed."""

    table: ClassVar[str] = "mutants"

    mutant_id: str
    """Hash of function and source."""
    function_id: str
    """The function."""
    operator: str
    """Kind of change: relation, constant, axis, ..."""
    line: int
    """Line of the change in the file (1-based)."""
    before: str
    """What stood there, in one spelling."""
    after: str
    """What stood there instead."""
    source: str
    """The whole definition with the change."""
    outcome: Literal["killed", "survived", "not_judged"]
    """killed: a test failed, crashed or took far too long; survived: all of them passed."""
    killed_by: str | None
    """Id of the first test that failed; null for those that were not killed."""
    how: Literal["exchanged", "imported"]
    """exchanged: put into the running project; imported: the project was imported with it."""
    detail: str
    """First lines of what the test said, or why it was not judged; empty for survivors."""


# --- labels


class Label(Row):
    """What a labeller says of a function on one axis."""

    table: ClassVar[str] = "labels"

    function_id: str
    """The function."""
    axis: Axis
    """Name of a file in schema/axes."""
    value: str
    """One of the axis's values."""
    labeller: str
    """Who said so: rules, model, llm:NAME, human:NAME."""
    confidence: float
    """How sure the labeller is, in [0, 1]."""
    evidence: str
    """Why, in words a person can check."""


# --- duplicates and contamination


class Cluster(Row):
    """The group of equal or nearly equal functions that a function belongs to."""

    table: ClassVar[str] = "clusters"

    function_id: str
    """The function."""
    cluster_id: str
    """Hash of the cluster's representative."""
    representative_id: str
    """The function that stands for the cluster: verified first, then earliest, then id."""
    relation: Literal["representative", "exact", "renamed", "near"]
    """How the function relates to the nearest other member on its way to the representative."""
    similarity: float
    """Jaccard similarity of the token shingles to the representative, in [0, 1]."""


class Corpus(Row):
    """A corpus that candidates were checked against, or could not be."""

    table: ClassVar[str] = "corpora"

    corpus: str
    """Its name in sources/corpora.toml."""
    revision: str
    """Hub revision, package version or hash of the file."""
    origin: str
    """Where it was read: Hub id, package, file name."""
    status: Literal["checked", "not_checked"]
    """Whether it could be read."""
    items: int
    """Number of items read."""
    reason: str
    """Why it was not checked; empty when it was."""


class Match(Row):
    """An item of a corpus that a function is found in, or that is found in it."""

    table: ClassVar[str] = "matches"

    function_id: str
    """The function."""
    corpus: str
    """Name of the corpus in sources/corpora.toml."""
    item_id: str
    """Id of the item within the corpus."""
    relation: Relation
    """exact: equal after formatting; renamed: also after renaming; near: Jaccard; partial: one contains the other."""
    part: Literal["code", "docstring"] = "code"
    """What of the function matches: its code, or what its docstring says."""
    overlap: float
    """Share of the function's token shingles that the item has, in [0, 1]."""


# --- release


class Selection(Row):
    """Why a function is in a release, or not."""

    table: ClassVar[str] = "selections"

    release: str
    """Name of the recipe."""
    version: str
    """Version of the release."""
    function_id: str
    """The function."""
    problem_id: str | None
    """Its id in the release; null when left out."""
    split: str | None
    """The split that it is in; null when left out."""
    gate: str | None
    """The first gate that refused it; null when it is in."""
    reason_class: str
    """Class of the reason, for counting; empty when it is in."""
    reason: str
    """Why, in one sentence."""


class ProblemTest(Struct):
    """A test that an answer has to pass."""

    node_id: str
    """pytest's id, without parameters."""
    path: str
    """Test file, relative to the project's root."""
    source: str
    """Text of the test function."""


class ProblemLabel(Struct):
    """A label of a problem, with who gave it."""

    axis: str
    """Name of the axis."""
    value: str
    """Its value."""
    labeller: str
    """Who gave it."""
    confidence: float
    """How sure the labeller is, in [0, 1]."""


class Evidence(Struct):
    """What was proven about a problem before it was released."""

    runs: int
    """How often the reference passed all its tests."""
    tests: int
    """Number of tests that exercise the function and pass on the reference."""
    tests_failing_on_stub: int
    """How many of them fail when the body is replaced by a raise."""
    mutants: int
    """Number of mutants run; 0 when none were."""
    mutants_killed: int
    """Number of mutants that the tests told from the reference."""
    python: str
    """Version of the interpreter that ran them."""
    sandbox: str
    """Sandbox that they ran in."""
    cluster_size: int
    """How many functions of the mined projects are duplicates of this one, itself included."""
    corpora_checked: list[str]
    """Corpora, with revision, that it was compared with."""
    license_path: str
    """File that the licence was read from; its text lies in the release under LICENSES/."""
    license_from: str
    """How it was read: expression, field or classifier of the metadata, text, notice, tag, reuse, or combined from
    several."""


class Problem(Record):
    """A problem as published: one row of a split on the Hub."""

    table: ClassVar[str] = "problems"

    problem_id: str
    """Stable id: the same problem keeps it in every version."""
    version: str
    """Version of the release that this row belongs to."""
    kind: Literal["function"]
    """What kind of problem it is; also the name of the configuration."""
    prompt: str
    """What a model is given: context, signature and docstring, and what to write."""
    entry_point: str
    """Qualified name of the function to write."""
    signature: str
    """Its `def` line without the colon."""
    docstring: str
    """Its docstring."""
    context: str
    """Imports that the reference uses and the skeleton of the class around it."""
    reference: str
    """The original definition."""
    tests: list[ProblemTest]
    """The tests that pass on the reference and fail on a stub."""
    project: str
    """Name of the project."""
    url: str
    """Where the project came from."""
    revision: str
    """Exact revision: commit or version."""
    path: str
    """File of the function, relative to the project's root."""
    first_line: int
    """Line of `def` (1-based)."""
    last_line: int
    """Last line (1-based, inclusive)."""
    license: str
    """SPDX expression of the licence that holds for its file."""
    phase: str | None
    """Stage of the deep-learning process that the function serves."""
    task: str | None
    """Learning task that it serves."""
    data_type: str | None
    """Kind of data that it takes."""
    label_source: str
    """Who gave phase, task and data_type."""
    label_confidence: float
    """The lowest confidence among the labels of the problem, in [0, 1]."""
    labels: list[ProblemLabel]
    """Every label with its labeller, axes beyond the three included."""
    cyclomatic_complexity: int
    """Cyclomatic complexity of the reference, as radon counts it."""
    lines: int
    """Lines of the reference."""
    mutation_score: float | None
    """Share of mutants that the tests kill, in [0, 1]; null when none were run."""
    created_at: datetime | None
    """Date of the commit or upload that the function was taken from (UTC)."""
    first_seen_at: datetime | None = None
    """When it, or what it was made from, or its body elsewhere, first stood in the project's history (UTC), moves and
    reformatting followed; null when the history was not read, or not back to its beginning."""
    environment: str
    """Id of the environment; its lock lies in the release under environments/ID.txt."""
    evidence: Evidence
    """What was proven."""


ROWS: tuple[type[Row], ...] = (
    Search, Hit, Repository, Choice, Snapshot, License, Profile, History, Function, Test, Link, Appearance,
    Environment, TestRun, Verdict, Mutant, Label, Cluster, Corpus, Match, Selection, Failure,
)  # fmt: skip
"""Tables that stages append to."""

_EVERY: tuple[type[Record], ...] = (*ROWS, Run, Work)
TABLES: dict[str, type[Record]] = {cls.table: cls for cls in _EVERY}
"""Every table of the store, by name."""

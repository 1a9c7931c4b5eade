"""The command line: every command is options in, one call, one summary out."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Any

import click

from curate import __version__
from curate.call import FOLDER, Call, common, of_mining, of_stage, with_recipe, with_version
from curate.errors import UserError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="curate")
@click.option("-C", "folder", type=FOLDER, help="Work in this folder.")
@click.pass_context
def cli(context: click.Context, folder: Path | None) -> None:
    """Build code-generation benchmarks from real projects, and keep them honest.

    \b
    Example:
      curate init my-benchmark
      curate -C my-benchmark run quickstart
    """
    context.obj = folder


@cli.command()
@click.argument("folder", default=".", type=FOLDER)
@common
def init(call: Call, folder: Path) -> None:
    """Lay out a new workspace in FOLDER.

    \b
    Example:
      curate init my-benchmark
    """
    from curate.layout import lay_out

    target = call.folder / folder
    made = lay_out(target)
    call.console.put(workspace=str(target.resolve()), made=made)
    call.console.say(
        f"{target} is a curate workspace ({len(made)} files written)\nnext: curate -C {target} run quickstart"
    )


@cli.command()
@click.argument("source", nargs=-1, required=True)
@click.option("--dry-run", is_flag=True, help="Only say what would be taken, and why the rest is not.")
@click.option("--history", is_flag=True, help="Fetch the history of git repositories, for dates of functions.")
@of_mining
@with_recipe
@of_stage
def mine(
    call: Call, source: tuple[str, ...], dry_run: bool, refresh: bool, history: bool, max_disk: int | None
) -> None:
    """Take in projects.

    SOURCE is a sources/*.toml (a list of projects, a search of GitHub, or both), github:OWNER/NAME[@REF],
    git+URL[@REF], pypi:NAME[==VERSION], or a folder.

    \b
    Example:
      curate mine sources/quickstart.toml
      curate mine sources/deep-learning.toml --dry-run
      curate mine github:pytorch/ignite@v0.5.1 pypi:einops==0.8.2
    """
    from curate.flow import Mining
    from curate.flow import mine as mine_sources
    from curate.reports import of_mining as report

    mining = Mining(refresh, dry_run, history, max_disk)
    mined = mine_sources(call.pipeline(), source, call.options, call.console.stage, mining)
    report(call.console, mined, dry_run=dry_run)


@cli.command()
@with_recipe
@of_stage
def extract(call: Call) -> None:
    """Find functions, tests and static links; since when each function is there, where the history was fetched.

    \b
    Example:
      curate extract --only einops
    """
    call.stages("extract", "date")


@cli.command()
@with_recipe
@of_stage
def verify(call: Call) -> None:
    """Prove functions by running their tests.

    Everything runs in a sandbox: the tests have to pass on the reference and to fail on a stub.

    \b
    Example:
      curate verify --workers 2
    """
    call.stages("install", "trace", "prove")


@cli.command()
@with_recipe
@of_stage
def label(call: Call) -> None:
    """Label functions along the axes of schema/axes.

    \b
    Example:
      curate label
    """
    call.stages("label")


@cli.command()
@with_recipe
@of_stage
def dedupe(call: Call) -> None:
    """Group equal, renamed and nearly equal functions.

    \b
    Example:
      curate dedupe
    """
    call.stages("dedupe")


@cli.command()
@with_recipe
@of_stage
def contamination(call: Call) -> None:
    """Look for functions in known corpora (sources/corpora.toml).

    \b
    Example:
      curate contamination
    """
    call.stages("contamination")


@cli.command()
@click.argument("name", metavar="RECIPE")
@with_version
@of_stage
def release(call: Call, name: str, version: str | None) -> None:
    """Write releases/RECIPE/VERSION from what is in the store.

    \b
    Example:
      curate release quickstart --version 0.1.0
    """
    from curate.flow import release as write_release
    from curate.reports import of_release

    of_release(call.console, write_release(call.workspace, name, version, call.options, call.console.stage))


@cli.command()
@click.argument("name", metavar="RECIPE")
@with_version
@of_mining
@of_stage
def run(call: Call, name: str, version: str | None, refresh: bool, max_disk: int | None) -> None:
    """Run all stages of RECIPE and write the release.

    Goes on where an earlier run stopped.

    \b
    Example:
      curate run quickstart
    """
    from curate.flow import Mining, run_recipe
    from curate.reports import of_release

    mining = Mining(refresh=refresh, max_disk=max_disk)
    released = run_recipe(call.workspace, name, version, call.options, call.console.stage, mining, call.patient)
    of_release(call.console, released)


@cli.command()
@click.argument("name", metavar="[RECIPE]", required=False)
@common
def status(call: Call, name: str | None) -> None:
    """Show the funnel: how many came in, how many left, why.

    Of all projects taken in; with RECIPE, by its settings and gates.

    \b
    Example:
      curate status
    """
    from curate.flow import status as find_status
    from curate.release.funnel import as_data, as_text

    found = find_status(call.workspace, name)
    steps = found.pop("funnel")
    call.console.put(**found, funnel=as_data(steps))
    call.console.say(as_text(steps))
    for row in found["stages"]:
        call.console.say(f"  {row['stage']:<16}{row['done']} done, {row['failed']} failed, last run {row['last_run']}")
    for row in found["failures"]:
        first = (row["detail"].splitlines() or [""])[0]
        call.console.say(f"  {row['stage']}: {row['reason']} {row['count']}, such as {row['example']}: {first}")


@cli.command()
@click.argument("item", metavar="ID")
@with_recipe
@common
def show(call: Call, item: str) -> None:
    """Show one function with all its evidence.

    ID is a function_id, a problem_id, or PROJECT:PATH:QUALNAME or an end of it.

    \b
    Example:
      curate show einops:einops/einops.py:rearrange
    """
    from curate.show import as_text
    from curate.show import show as find

    pipeline = call.pipeline()
    found = find(pipeline.store, pipeline.view, item)
    call.console.put(**found)
    call.console.say(as_text(found))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exits 0 done, 1 the user's mistake, 2 wrong usage, 3 a fault of curate, 130 interrupted."""
    sys.exit(run_command(arguments))


def run_command(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    meta: dict[str, Any] = {}
    try:
        with cli.make_context("curate", list(sys.argv[1:] if arguments is None else arguments)) as context:
            meta = context.meta
            cli.invoke(context)
            code = _end(meta.get("curate.call"))
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`| head`) has seen enough; nothing may be printed at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except UserError as error:
        click.echo(f"curate: {' '.join(str(error).split())}", err=True)
        code = 1
    except click.exceptions.Exit as left:
        code = left.exit_code
    except click.ClickException as error:
        error.show()
        code = 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("curate: interrupted; run the same command again to go on", err=True)
        code = 130
    except Exception:
        code = _fault(meta.get("curate.call"), traceback.format_exc())
    return code


def _end(call: Call | None) -> int:
    """Print what is to be printed at the end; faults that cost single items are faults all the same."""
    if call is None:
        return 0
    call.console.finish()
    return _fault(call, "\n".join(call.console.bugs)) if call.console.bugs else 0


def _fault(call: Call | None, text: str) -> int:
    """Write a traceback into a log file and say where it is."""
    from datetime import UTC, datetime

    folder = (call.folder if call else Path()) / ".curate" / "logs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        log = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S}.log"
        log.write_text(f"curate {__version__}\n{text}")
        where = f"the traceback is in {log}"
    except OSError:
        where = text
    last = text.strip().splitlines()[-1] if text.strip() else "unknown"
    click.echo(f"curate: this is a fault of curate ({last}); {where}", err=True)
    return 3


if __name__ == "__main__":
    main()

"""`simstudy compare`: system outputs in files, every pair tested, and what came out for people or for machines."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simstudy.cli.compare_options import ComparedOutput, HowTested
from simstudy.cli.errors import outliving_the_pipe
from simstudy.cli.files import HEADING, Files, Paths, SomeFormats
from simstudy.cli.gate import Gates, around, tell
from simstudy.cli.options import grouped, settings_of
from simstudy.cli.several_tasks import SeveralTasks, with_tasks
from simstudy.cli.some_pairs import check_some_pairs, is_parquet, show_some_pairs, write_some_pairs
from simstudy.cli.terminal import printer, write_page, written
from simstudy.cli.wording import worded_notes
from simstudy.files.whole import is_html, require_page
from simstudy.validation import InputError

if TYPE_CHECKING:
    from simstudy.examination import Examination
    from simstudy.examination.several import Several
    from simstudy.gates.verdicts import Verdict
    from simstudy.outputs import TestSet
    from simstudy.readers.long_table import Loaded


@grouped
def compare(
    context: typer.Context,
    paths: Paths,
    *,
    files: Annotated[Files, HEADING],
    formats: Annotated[SomeFormats, "Files of some formats"],
    how: Annotated[HowTested, "The test"],
    tasks: Annotated[SeveralTasks, "Several tasks"],
    output: Annotated[ComparedOutput, "What comes out"],
    gates: Annotated[Gates, "Gates for pipelines"],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="bleu, chrf, rouge1, ter, wer, aer, las, span_f1, accuracy, macro_f1, mcc, auc, mean, ap, …; "
            "or your own as module:name, a function or a metric. Repeat the option for further metrics. Default for "
            "scores: accuracy if all are 0 or 1, otherwise the mean."
        ),
    ] = None,
    by_domain: Annotated[
        bool, typer.Option("--by-domain", help="Compare the systems on each domain separately.")
    ] = False,
) -> None:
    """Compare systems by their output files: which gains are significant, and which systems may be the best.

    The command prints a verdict for two systems and a leaderboard for more. Examples:

    simstudy compare old.txt new.txt --metric bleu --references ref.txt

    simstudy compare base=runs/base/hyp.txt new=runs/new/hyp.txt --metric bleu --references ref.txt

    simstudy compare old.txt new.txt --metric bleu --metric chrf --references ref.txt

    simstudy compare submissions/ --metric bleu --references ref.A.en --systems systems.csv --by group --out report.html

    simstudy compare results.csv --metric accuracy --columns item=instance_id,score=resolved,domain=repo

    simstudy compare asr.csv --metric mean --columns score=wer --lower-is-better

    simstudy compare leaderboard.parquet new.csv --metric accuracy --against new

    simstudy compare leaderboard.parquet --metric accuracy --out pairs.parquet

    simstudy compare logs/ --metric accuracy --average macro

    simstudy compare candidates.csv --metric precision@500 --columns gold=is_collocation --ties keep
    """
    from simstudy.engines.registry import default_test
    from simstudy.examination.several import Several
    from simstudy.readers.request import Texts, Ties, name_and_path

    settings, asked, narrow = _settings(context), gates.ask(how), is_parquet(output.out)
    about: dict[str, Any] = {"ties": Ties(formats.ties, how.seed), "item_columns": [tasks.each, how.strata]}
    about["texts"] = Texts(formats.tokenize, formats.lowercase)
    every, hashes = files.read_each(paths, metric or [None], by_domain=by_domain, narrow=narrow, **about)
    # What can be wrong is said before minutes of resampling.
    for loaded in every:
        _check_systems(loaded.outputs.names, output.baseline)
    gates.check(asked, every, files, how.test)
    given = [path for _, path in map(name_and_path, paths)]
    _check_out(output.out, [*given, *(files.references or []), *filter(None, (files.systems, files.items))], len(every))
    if how.against is not None or is_parquet(output.out):
        others = {"several metrics or domains": len(every) > 1, "a gate": asked, tasks.asked or "": tasks.asked}
        _some_pairs(_test_set(every[0], files, how, context), how, output, others)
        return
    ways = [replace(how, test=how.test or default_test(loaded.outputs.metric)) for loaded in every]
    parts = [
        replace(_examine(_test_set(loaded, files, one, context), one), files=hashes)
        for loaded, one in zip(every, ways, strict=True)
    ]
    parts = _averaged(parts, tasks, ways[0], given)
    settings["test"] = how.test or ways[0].test
    verdicts = gates.decide(asked, parts, how, settings)
    parts = gates.noted(parts, verdicts)
    found = parts[0] if len(parts) == 1 else Several(tuple(parts))
    write_page(found, output.out, settings, figures=output.figures, baseline=output.baseline)
    _print(found, settings, verdicts, output, gates)
    tell(gates, verdicts, as_json=output.print_json)


def _averaged(parts: list[Examination], tasks: SeveralTasks, how: HowTested, given: list[Path]) -> list[Examination]:
    """One comparison with averages of its tasks; several as they are."""
    if len(parts) > 1 and tasks.asked:
        raise InputError(tasks.asked, "must not be given with several metrics or domains: it has a table of its own")
    return [with_tasks(parts[0], tasks, how, given)] if len(parts) == 1 else parts


def _some_pairs(test_set: TestSet, how: HowTested, output: ComparedOutput, others: dict[str, object]) -> None:
    """The table of some pairs, or of all as Parquet; a ValueError says which other option does not go with it."""
    more = {"--margin": how.margin is not None, "--duplicates": test_set.duplicates != "keep"}
    check_some_pairs(output.out, {**others, **output.analyses, **more})
    if output.out is None:
        show_some_pairs(test_set, how.against, how.alpha, verbose=output.verbose)
    else:
        write_some_pairs(test_set, how.against, how.alpha, output.out)


def _print(
    found: Examination | Several,
    settings: dict[str, Any],
    verdicts: Sequence[Verdict],
    output: ComparedOutput,
    gates: Gates,
) -> None:
    with outliving_the_pipe(bool(verdicts)), around(gates, verdicts, as_json=output.print_json):
        if output.print_json:
            _print_json(found, settings, verdicts)
        elif output.for_a_paper:
            print(output.paper(found.paper(baseline=output.baseline, every_pair=output.verbose)))
        else:
            _show(found, verbose=output.verbose, out=output.out)


def _settings(context: typer.Context) -> dict[str, Any]:
    """The command's options; what is given once is no list."""
    settings = settings_of(context)
    for name in ("metric", "domain", "columns"):
        if isinstance(settings[name], list) and len(settings[name]) == 1:
            settings[name] = settings[name][0]
    return settings


def _test_set(loaded: Loaded, files: Files, how: HowTested, context: typer.Context) -> TestSet:
    from simstudy.outputs import TestSet

    notes = worded_notes(loaded.notes, context.command.params)
    return TestSet(
        loaded.outputs, files.relation(loaded) or (), files.unit, how.settings(),
        duplicates=files.duplicates, notes=notes, texts=loaded.texts,
    )  # fmt: skip


def _show(found: Examination | Several, *, verbose: bool, out: Path | None) -> None:
    from simstudy.examination import printed, several_printed
    from simstudy.examination.several import Several

    if isinstance(found, Several):
        several_printed.show(found, printer, verbose=verbose, last=written(out))
    else:
        printed.show(found, printer, verbose=verbose, last=written(out))


def _examine(test_set: TestSet, how: HowTested) -> Examination:
    from simstudy.examination import examine

    # What a metric of the user's own prints is no part of our output, which may be JSON.
    with redirect_stdout(sys.stderr):
        return examine(test_set, alpha=how.alpha, margin=how.margin)


def _check_systems(names: list[str], baseline: str | None) -> None:
    """Raise a ValueError where there are not two systems, or not that of --baseline."""
    from simstudy.papers.leaderboards import check_baseline

    if len(names) < 2:
        raise InputError(f"at least two systems are needed to compare, but there is only '{names[0]}'")
    if baseline is not None:
        check_baseline(baseline, names)


def _check_out(out: Path | None, inputs: Sequence[Path], n_parts: int) -> None:
    """Raise a ValueError where the folder holds anything but an earlier comparison, or the file is not a page."""
    if out is None:
        return
    from simstudy.examination import page, several
    from simstudy.running.folders import require_own

    if is_html(out):
        require_page(out)
        return
    if is_parquet(out):
        if out.resolve() in [path.resolve() for path in inputs]:
            raise InputError("out", f"must be a file of its own, but {out} is an input")
        return
    for path in inputs:
        if out.resolve() in (path.resolve(), path.resolve().parent):
            raise InputError("out", f"must be a folder of its own, but {out} holds the input {path}")
    require_own(out, page.RESULTS_OF if n_parts == 1 else several.RESULTS_OF)


def _print_json(found: Examination | Several, settings: dict[str, Any], verdicts: Sequence[Verdict]) -> None:
    from simstudy.examination.json import as_json
    from simstudy.examination.several import Several
    from simstudy.text.plain_text import json_in

    n_parts = len(found.parts) if isinstance(found, Several) else 1
    more = [{"gates": [verdict.as_json(k) for verdict in verdicts]} if verdicts else {} for k in range(n_parts)]
    pieces = found.as_json(settings, more) if isinstance(found, Several) else as_json(found, settings, more[0])
    for piece in pieces:
        print(json_in(piece, sys.stdout.encoding), end="")
    print()

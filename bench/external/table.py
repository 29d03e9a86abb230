# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The table of a comparison."""

import dataclasses
import math
import statistics

from bench.external import cases

_COLUMNS = (f"  {'':10} {'per second':>10} {'p50 us':>10} {'p99 us':>11} "
            f"{'longest us':>11} {'slow':>8} {'failed':>8} {'CPU us':>8}")


def medians(runs):
    """Returns the median of each figure."""
    return cases.Figures(*(
        statistics.median(getattr(run, field.name) for run in runs)
        for field in dataclasses.fields(cases.Figures)))


def ratio(runs, base, figure):
    """Returns the median and the range of the ratios within the rounds, as
    text; "-" if a figure of the base is zero."""
    values = [getattr(run, figure) for run in base]
    if not all(values):
        return "-"
    ratios = [getattr(run, figure) / value for run, value in zip(runs, values)]
    return (f"{statistics.median(ratios):.2f} "
            f"({min(ratios):.2f}-{max(ratios):.2f})")


def _cpu_ratio(runs, base):
    # Messages cost what their streams do.
    return ratio(runs, base, "cpu_us") if runs[0].cpu_us else ""


def _known(value, form):
    return "" if math.isnan(value) else format(value, form)


def _row(name, figures, last=""):
    row = (f"  {name:10} {figures.per_second:10.1f} {1e6 * figures.p50:10.1f} "
           f"{1e6 * figures.p99:11.1f} {1e6 * figures.longest:11.1f} "
           f"{_known(figures.slow, '.0f'):>8} "
           f"{_known(figures.failed, '.2%'):>8} "
           f"{_known(figures.cpu_us or math.nan, '.1f'):>8}")
    return f"{row} {last}".rstrip()


def text(service, case, results):
    """Returns the table of a case. `results` has the rounds of each program,
    that with which the others are compared first."""
    lines = [f"{service.name} server, {case.title}",
             f"{_COLUMNS} {case.figure + ' ratio':>20} {'CPU ratio':>20}"]
    base = next(iter(results.values()))
    lines += [_row(name, medians(runs),
                   f"{ratio(runs, base, case.figure):>20} "
                   f"{_cpu_ratio(runs, base):>20}")
              for name, runs in results.items()]
    if case.is_frozen and not case.stream:
        lines.append(_row("computed", cases.truth_of_freeze(case)))
    return "\n".join(lines)

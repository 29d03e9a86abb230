# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The comparison as Markdown."""

from bench.simulation import figures

_HEAD = """\
| place | driver | test | load | RPC | rate/s | sim. | error | p50 us | sim. | error | p99 us | sim. | error |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"""


def _number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _cells(name, real, simulated, error):
    text = f"{100 * error:+.0f} %"
    if not figures.is_within(name, error):
        text = f"**{text}**"
    least, most = getattr(real.least, name), getattr(real.most, name)
    spread = f" ({_number(least)}–{_number(most)})" if least < most else ""
    return (f"{_number(getattr(real.median, name))}{spread} | "
            f"{_number(getattr(simulated, name))} | {text}")


def row(cell, rpc, real, simulated):
    """Returns the line of an RPC (real: a figures.Range); errors beyond the aims
    are bold."""
    errors = figures.errors(real.median, simulated)
    columns = [cell.place, cell.driver, cell.test, cell.load, rpc,
               *(_cells(name, real, simulated, errors[name])
                 for name in figures.AIMS)]
    return "| " + " | ".join(columns) + " |"


def document(rows, notes):
    """Returns the page bench/simulation/VALIDATION.md."""
    return "\n".join([
        "# Simulated and real runs", "",
        "Written by `bench/simulation/validate`, which says what is compared. "
        "Costs are", "calibrated with client_server at one load; everything "
        "else is predicted unseen.", "Figures are medians of several rounds, "
        "each with a calibration of its own, with the", "range of the real "
        "ones: an error within it says more about the machine than about",
        "the simulation. Latencies are service times in microseconds; bold "
        "errors are beyond", "the aims: rate 10 %, p50 20 %, p99 30 %.", "", notes, "", head(), *(row(*of) for of in rows),
        ""])


def head():
    return _HEAD


def _unsteady(name, rows):
    """Returns in how many rows the real runs differ by more than is aimed at."""
    return sum(getattr(real.most, name) > (1 + figures.AIMS[name]) *
               getattr(real.least, name) for _, _, real, _ in rows)


def _in_range(name, rows):
    """Returns in how many rows the simulated figure could be one of a real run."""
    return sum(getattr(real.least, name) <= getattr(simulated, name) <=
               getattr(real.most, name) for _, _, real, simulated in rows)


def summary(rows):
    """Returns how many of the rows (cell, RPC, real, simulated) are within the
    aims, and within the range of the real ones."""
    lines = []
    for name, aim in figures.AIMS.items():
        errors = [figures.errors(real.median, simulated)[name]
                  for _, _, real, simulated in rows]
        within = sum(figures.is_within(name, error) for error in errors)
        worst = max(errors, key=abs)
        lines.append(f"- {name}: {within} of {len(errors)} within "
                     f"{100 * aim:.0f} %; the worst is off by "
                     f"{100 * worst:+.0f} %. Between rounds, real runs alone "
                     f"differ by more than {100 * aim:.0f} % in "
                     f"{_unsteady(name, rows)}; {_in_range(name, rows)} of the "
                     "simulated figures are within their range.")
    return "\n".join(lines)

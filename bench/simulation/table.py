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
    return (f"{_number(getattr(real, name))} | "
            f"{_number(getattr(simulated, name))} | {text}")


def row(cell, rpc, real, simulated):
    """Returns the line of an RPC; errors beyond the aims are bold."""
    errors = figures.errors(real, simulated)
    columns = [cell.place, cell.driver, cell.test, cell.load, rpc,
               *(_cells(name, real, simulated, errors[name])
                 for name in figures.AIMS)]
    return "| " + " | ".join(columns) + " |"


def document(rows, notes):
    """Returns the page docs/simulation_validation.md."""
    return "\n".join([
        "# Simulated and real runs", "",
        "Written by `bench/simulation/validate`, which says what is compared. "
        "Costs are", "calibrated with client_server at one load; everything "
        "else is predicted unseen.", "Latencies are service times in "
        "microseconds; bold errors are beyond the aims:", "rate 10 %, p50 "
        "20 %, p99 30 %.", "", notes, "", head(), *(row(*of) for of in rows),
        ""])


def head():
    return _HEAD


def summary(rows):
    """Returns how many of the rows (cell, RPC, real, simulated) are within the
    aims."""
    lines = []
    for name, aim in figures.AIMS.items():
        errors = [figures.errors(real, simulated)[name]
                  for _, _, real, simulated in rows]
        within = sum(figures.is_within(name, error) for error in errors)
        worst = max(errors, key=abs)
        lines.append(f"- {name}: {within} of {len(errors)} within "
                     f"{100 * aim:.0f} %; the worst is off by "
                     f"{100 * worst:+.0f} %.")
    return "\n".join(lines)

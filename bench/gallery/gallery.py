# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Runs the rows of the gallery with each load generator."""

import contextlib
import dataclasses
import json
import math
import subprocess
import tempfile

from bench.gallery import disturbances
from bench.gallery import distbench
from bench.gallery import processes
from bench.gallery import report as reports

GENERATOR_CPU, SERVER_CPU = 0, 1


@dataclasses.dataclass
class Cell:
    """What one generator said in one row.

    `problem` says why there is no report. `server` is what the known server
    printed; None with distbench, whose server is an instance of its own.
    """

    row: str
    tool: str
    command: str = ""
    report: reports.Report | None = None
    verdict: str = ""
    problem: str = ""
    server: dict | None = None


def reason_against(row, tool):
    """Returns why the row says nothing about the tool, or an empty string."""
    is_ours = isinstance(tool, distbench.Distbench)
    if row.ours_only and not is_ours:
        return "does not look at the host"
    if row.needs_rate and not tool.is_open:
        return "has no rate"
    if row.needs_libc_clock and not tool.uses_libc_clock:
        return "cannot be shown a wrong clock"
    return ""


def _run_peer(peer, row, stage, known_server, cell):
    behaviour = [f"--{name}={value}"
                 for name, value in dataclasses.asdict(row.server).items()]
    server = stage.start([*stage.server_prefix, known_server,
                          f"--protocol={peer.protocol}", *behaviour])
    address = processes.wait_for(server, r"Listening at (\S+)").group(1)
    rate = row.rate if peer.is_open else None
    command = peer.command(address, row.seconds, rate, stage.folder)
    cell.command = " ".join(command)
    client = stage.start([*stage.generator_prefix, *command],
                         stderr=subprocess.PIPE)
    stage.generator_pid, stage.server_pid = client.pid, server.pid
    row.disturbance.during(stage)
    out, error = processes.finish(client, row.seconds)
    server.terminate()
    cell.server = json.loads(processes.finish(server, 0)[0])
    return peer.parse(out, error, stage.folder)


def run(row, tool, known_server):
    """Returns the Cell of a row and a tool. Takes as long as the row."""
    cell = Cell(row.name, tool.name, problem=reason_against(row, tool))
    if cell.problem:
        return cell
    try:
        with (tempfile.TemporaryDirectory() as folder,
              processes.Stage(folder, GENERATOR_CPU, SERVER_CPU) as stage):
            row.disturbance.prepare(stage)
            if isinstance(tool, distbench.Distbench):
                cell.report = distbench.run(tool, row, stage)
            else:
                cell.report = _run_peer(tool, row, stage, known_server, cell)
    except disturbances.Unavailable as error:
        cell.problem = str(error)
        return cell
    except (ValueError, KeyError, OSError, subprocess.TimeoutExpired) as error:
        cell.problem = f"no figures: {error}"
        return cell
    asked = row.rate if tool.is_open else None
    cell.verdict = reports.verdict(row.known, cell.report, asked)
    return cell


# ---- Tables -----------------------------------------------------------------


def _cell_text(row, cell):
    if cell.report is None:
        # Long messages go to stderr and into the JSON file.
        return cell.problem.splitlines()[0][:60]
    mark = f"**{cell.verdict}**" if cell.verdict == reports.FOOLED else (
        cell.verdict)
    return f"{reports.text(row.known, cell.report)}: {mark}"


def markdown(rows, tools, cells):
    """Returns a table with a line for each tool and a column for each row."""
    by_place = {(cell.row, cell.tool): cell for cell in cells}
    lines = ["| | " + " | ".join(row.name for row in rows) + " |",
             "|---" * (len(rows) + 1) + "|",
             "| truth | " + " | ".join(row.known.text for row in rows) + " |"]
    for tool in tools:
        texts = [_cell_text(row, by_place[row.name, tool.name]) for row in rows]
        lines.append(f"| {tool.name} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def as_json(cells):
    """Returns all that was seen, for programs; infinite figures are null."""
    values = [dataclasses.asdict(cell) for cell in cells]
    for value in values:
        with contextlib.suppress(TypeError):
            if math.isinf(value["report"]["p99"]):
                value["report"]["p99"] = None
    return json.dumps(values, indent=2)

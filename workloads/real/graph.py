# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Draws the services of a config and the RPCs between them, as SVG."""

import re

BOX_WIDTH, BOX_HEIGHT = 150, 24
COLUMN, ROW = 210, 34
MARGIN = 16

HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" \
width="{width}" height="{height}" role="img" aria-labelledby="title">
  <title id="title">{title}</title>
  <style>
    text {{ font-family: Helvetica, Arial, "DejaVu Sans", sans-serif; \
font-size: 12px; fill: #24292f; text-anchor: middle; }}
    rect {{ fill: #dbeafe; stroke: #1d4ed8; stroke-width: 1.2; }}
    .ground {{ fill: #ffffff; stroke: none; }}
    .called {{ fill: #dcfce7; stroke: #15803d; }}
    path {{ fill: none; stroke: #57606a; stroke-width: 1; }}
  </style>
  <rect class="ground" width="{width}" height="{height}" rx="8"/>
"""


def draw(title, config):
    """Returns the SVG of a config that config_text.Test has made."""
    instances = _services(config)
    calls = _calls(config)
    places = _places(list(instances), calls)
    called = {server for _, server in calls}
    width = MARGIN + max(x for x, _ in places.values()) + BOX_WIDTH + 2 * MARGIN
    height = MARGIN + max(y for _, y in places.values()) + BOX_HEIGHT
    lines = [HEAD.format(width=width, height=height, title=title)]
    lines += [_line(places[client], places[server]) for client, server in calls]
    for service, (x, y) in places.items():
        count = instances[service]
        label = service if count == 1 else f"{service} ×{count}"
        role = ' class="called"' if service in called else ""
        lines.append(
            f'  <rect{role} x="{x}" y="{y}" width="{BOX_WIDTH}"'
            f' height="{BOX_HEIGHT}" rx="5"/>\n'
            f'  <text x="{x + BOX_WIDTH // 2}" y="{y + 16}">{label}</text>\n'
        )
    return "".join(lines) + "</svg>\n"


def _services(config):
    """The number of instances of each service, in the config's order."""
    instances = {}
    for name, numbers in re.findall(r'services \{ name: "(\w+)"([^}]*)\}', config):
        instances[name] = 1
        for number in re.findall(r"(?:count|size): (\d+)", numbers):
            instances[name] *= int(number)
    return instances


def _calls(config):
    """Pairs of a client and a server, each once."""
    calls = {}
    for rpc in re.findall(r"rpc_descriptions \{(.*?)\n  \}", config, re.DOTALL):
        server = re.search(r'server: "(\w+)"', rpc)[1]
        for client in re.findall(r'client: "(\w+)"', rpc):
            calls[client, server] = None
    return list(calls)


def _places(services, calls):
    """Puts each service right of its first caller, in columns."""
    columns = {}
    for service in services:
        if not any(server == service and client != service for client, server in calls):
            columns[service] = 0
    columns = columns or {services[0]: 0}
    waiting = list(columns)
    while waiting:
        client = waiting.pop(0)
        for caller, server in calls:
            if caller == client and server not in columns:
                columns[server] = columns[client] + 1
                waiting.append(server)
    rows = {}
    places = {}
    for service in sorted(services, key=columns.get):
        column = columns[service]
        row = rows.get(column, 0)
        rows[column] = row + 1
        places[service] = (MARGIN + column * COLUMN, MARGIN + row * ROW)
    return places


def _line(client, server):
    """From the right of the client to the left of the server, or a loop."""
    x, y = client[0] + BOX_WIDTH, client[1] + BOX_HEIGHT // 2
    if client == server:
        return f'  <path d="M{x} {y - 6}c24 0 24 12 0 12"/>\n'
    to_x, to_y = server[0], server[1] + BOX_HEIGHT // 2
    if to_x <= client[0]:
        to_x += BOX_WIDTH
    return f'  <path d="M{x} {y}C{x + 30} {y} {to_x - 30} {to_y} {to_x} {to_y}"/>\n'

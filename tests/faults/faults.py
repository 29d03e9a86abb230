"""Each fault: what is done to a cluster, and what must come of it."""

import contextlib
import dataclasses
import os
import random
import re
import resource
import signal
import socket
import subprocess
import time

from tests import certificates
from tests.faults import cluster as clusters
from tests.faults import namespaces
from tests.faults import proxy as proxies

SHIFTED_CLOCK = os.environ.get(
    "DISTBENCH_SHIFTED_CLOCK", os.path.abspath("tests/faults/libshifted_clock.so")
)

# A test that goes on until something ends it.
LONG_SECONDS = 300

# After each fault.
USABLE_WITHIN_SECONDS = 10

CLOCK_SHIFT_SECONDS = 3
BOGUS_CONNECTIONS = 10_000
MALFORMED_MESSAGES = 1000
MAX_GROWTH_BYTES = 50 << 20


@dataclasses.dataclass
class Seen:
    """What came of a fault."""

    # Until the client had ended; None: the test went on.
    noticed_seconds: float | None
    # What it printed of it.
    user_saw: str
    # From the end of the fault until a test had succeeded on all nodes.
    recovered_seconds: float


@dataclasses.dataclass
class Fault:
    name: str
    title: str
    happen: object  # called with a Cluster; returns a Seen
    set_up: object  # called with a Cluster that has not started; a context


FAULTS = []


@contextlib.contextmanager
def _nothing(_cluster):
    yield


def _fault(title, set_up=_nothing):
    def register(function):
        FAULTS.append(Fault(function.__name__, title, function, set_up))
        return function

    return register


# ---- What they have in common ---------------------------------------------------


def _check(condition, what, outcome):
    if not condition:
        raise AssertionError(f"{what}: {outcome}")


def _last_words(outcome):
    """The line that says why the run failed."""
    match = re.search(r"what it measured is incomplete: (.*)", outcome.out)
    if match:
        return match.group(1)
    lines = [line for line in outcome.err.splitlines() if "distbench: " in line]
    return lines[-1].split("distbench: ", 1)[1] if lines else ""


def _without_folder(cluster, words):
    """Without the path of the test's own folder."""
    return words.replace(cluster.folder + "/", "")


ALL_INSTANCES = ("client/0", "server/0", "server/1")


def _check_kept(outfile, instances, outcome, has_failed):
    """The result file has what these measured, and says whether it failed."""
    with open(outfile, encoding="utf-8") as file:
        text = file.read()
    _check(('failure: "' in text) == has_failed, f"failed: {not has_failed}", outcome)
    for instance in instances:
        is_there = re.search(rf'instance_logs {{\s+key: "{instance}"', text)
        _check(is_there, f"the result has nothing of {instance}", outcome)


def _end_a_test(
    cluster, do, undo, saw, kept=("client/0", "server/0"), gone=(), noticed=None
):
    """A fault that ends the test that runs, with an error that says why."""
    run = cluster.start_run(clusters.traffic("disturbed", LONG_SECONDS))
    cluster.wait_for_traffic()
    start = time.monotonic()
    do()
    if noticed is not None:
        noticed()
        noticed_seconds = time.monotonic() - start
        outcome = run.finish()
    else:
        outcome = run.finish()
        noticed_seconds = time.monotonic() - start
    words = _last_words(outcome)
    _check(outcome.status == 3, "the run did not fail", outcome)
    _check(re.search(saw, words), f'"{words}" is not "{saw}"', outcome)
    if kept:
        _check_kept(run.outfile, kept, outcome, has_failed=True)
    cluster.check_nothing_crashed(*gone)
    undo()
    return Seen(noticed_seconds, words, cluster.seconds_until_usable())


def _survive(cluster, do, undo, seconds=4, saw="nothing; the test went on"):
    """A fault during which a test goes on, to its end."""
    run = cluster.start_run(clusters.traffic("undisturbed", seconds))
    cluster.wait_for_traffic()
    do()
    outcome = run.finish()
    _check(outcome.status == 0, "the run failed", outcome)
    _check_kept(run.outfile, ALL_INSTANCES, outcome, has_failed=False)
    cluster.check_nothing_crashed()
    undo()
    return Seen(None, saw, cluster.seconds_until_usable())


LOST = r"^node2 \(host node2\) was lost during the traffic: "
SILENT = LOST + r"it said nothing for "


# ---- Nodes ----------------------------------------------------------------------


@_fault("node killed (SIGKILL), then started again")
def node_killed(cluster):
    victim = cluster.victim()
    return _end_a_test(
        cluster,
        do=lambda: victim.send(signal.SIGKILL),
        undo=lambda: cluster.start_node(clusters.VICTIM),
        saw=LOST,
        gone=[victim],
    )


@_fault("node stopped (SIGSTOP), then continued")
def node_stopped(cluster):
    return _end_a_test(
        cluster,
        do=lambda: cluster.victim().send(signal.SIGSTOP),
        undo=lambda: cluster.victim().send(signal.SIGCONT),
        saw=SILENT,
    )


@_fault("node told to end (SIGTERM), then started again")
def node_told_to_end(cluster):
    victim = cluster.victim()

    def check_end_and_start():
        outcome = victim.wait()
        _check(outcome.status == 0, "the node did not end well", outcome)
        cluster.start_node(clusters.VICTIM)

    return _end_a_test(
        cluster,
        do=lambda: victim.send(signal.SIGTERM),
        undo=check_end_and_start,
        saw=r"^node2 \(host node2\) ended the traffic: the node was told to end",
        kept=ALL_INSTANCES,
        gone=[victim],
    )


@_fault("node's host gone (no packet any more), then back, its node started again")
def host_gone(cluster):
    victim = cluster.victim()
    host = cluster.hosts["node2"]

    def go():
        host.cut_link()
        victim.send(signal.SIGKILL)

    def come_back():
        host.heal_link()
        cluster.start_node(clusters.VICTIM)

    return _end_a_test(cluster, go, come_back, saw=SILENT, gone=[victim])


# ---- Links ----------------------------------------------------------------------


@_fault("node's link cut (packets lost), then healed")
def link_cut(cluster):
    host = cluster.hosts["node2"]
    return _end_a_test(cluster, host.cut_link, host.heal_link, saw=SILENT)


@_fault("node's link down (no carrier), then up")
def link_down(cluster):
    host = cluster.hosts["node2"]
    return _end_a_test(
        cluster,
        do=lambda: host.set_link(False),
        undo=lambda: host.set_link(True),
        saw=SILENT,
    )


@_fault("node's link cut for 1.5 s")
def link_cut_for_a_moment(cluster):
    host = cluster.hosts["node2"]

    def cut_for_a_moment():
        host.cut_link()
        # TCP goes on with a delay that doubles: a cut of half the nodes' timeout
        # may already last too long.
        time.sleep(1.5)
        host.heal_link()

    return _survive(cluster, cut_for_a_moment, undo=lambda: None, seconds=6)


@_fault("node's link slow (1 Mbit/s)")
def link_slow(cluster):
    host = cluster.hosts["node2"]
    return _survive(
        cluster,
        do=lambda: host.throttle(1000),
        undo=lambda: host.throttle(None),
    )


@contextlib.contextmanager
def _behind_a_proxy(cluster):
    """The victim reaches the sequencer through cluster.proxy."""
    target = (cluster.hosts["sequencer"].address, clusters.PORT)
    cluster.proxy = proxies.Proxy(namespaces.ADDRESS, target)
    cluster.node_sequencer[clusters.VICTIM] = cluster.proxy.address
    yield
    cluster.proxy.close()


def _set(thing, **values):
    for name, value in values.items():
        setattr(thing, name, value)


@_fault("node's way to the sequencer slow (200 ms each way)", _behind_a_proxy)
def control_delayed(cluster):
    return _survive(
        cluster,
        do=lambda: _set(cluster.proxy, delay_seconds=0.2),
        undo=lambda: _set(cluster.proxy, delay_seconds=0),
    )


@_fault("node's way to the sequencer narrow (20 kB/s)", _behind_a_proxy)
def control_throttled(cluster):
    return _survive(
        cluster,
        do=lambda: _set(cluster.proxy, bytes_per_second=20_000),
        undo=lambda: _set(cluster.proxy, bytes_per_second=None),
    )


@_fault("node's connection to the sequencer stalled, then going on", _behind_a_proxy)
def control_stalled(cluster):
    return _end_a_test(
        cluster,
        do=lambda: _set(cluster.proxy, is_stalled=True),
        undo=lambda: _set(cluster.proxy, is_stalled=False),
        saw=SILENT,
    )


@_fault("node's connection to the sequencer reset", _behind_a_proxy)
def control_reset(cluster):
    return _end_a_test(
        cluster, do=cluster.proxy.reset, undo=lambda: None, saw=LOST
    )


# ---- Sequencer ------------------------------------------------------------------


@_fault("sequencer killed (SIGKILL), then started again")
def sequencer_killed(cluster):
    sequencer = cluster.sequencer
    return _end_a_test(
        cluster,
        do=lambda: sequencer.send(signal.SIGKILL),
        undo=cluster.start_sequencer,
        saw=r"sequencer",
        kept=(),
        gone=[sequencer],
    )


@_fault("sequencer stopped (SIGSTOP) until its nodes notice, then continued")
def sequencer_stopped(cluster):
    lost = {node: len(node.text("err")) for node in cluster.nodes.values()}

    def nodes_have_noticed():
        for node, before in lost.items():
            node.wait_for(r"has lost .* \(it has said nothing for ", "err", before)
        cluster.sequencer.send(signal.SIGCONT)

    return _end_a_test(
        cluster,
        do=lambda: cluster.sequencer.send(signal.SIGSTOP),
        noticed=nodes_have_noticed,
        undo=lambda: None,
        saw=r"was lost during the traffic",
        kept=(),
    )


# ---- Clients --------------------------------------------------------------------


@_fault("client killed (SIGKILL)")
def client_killed(cluster):
    run = cluster.start_run(clusters.traffic("orphan", seconds=5))
    cluster.wait_for_traffic()
    run.program.send(signal.SIGKILL)
    outcome = run.finish()
    outfile = os.path.join(cluster.folder, "orphan")
    cluster.runs("wait", run.id(), f"--outfile={outfile}", "--allow_invalid")
    _check_kept(outfile, ALL_INSTANCES, outcome, has_failed=False)
    cluster.check_nothing_crashed()
    words = "the run went on; `runs wait` brought its result"
    return Seen(None, words, cluster.seconds_until_usable())


@_fault("client stopped (SIGSTOP) until its test and that of another were over")
def client_stopped(cluster):
    run = cluster.start_run(clusters.traffic("slow", 5, requests_per_second=500))
    cluster.wait_for_traffic()
    run.program.send(signal.SIGSTOP)
    cluster.run_short_test()
    run.program.send(signal.SIGCONT)
    outcome = run.finish()
    _check(outcome.status == 0, "the run failed", outcome)
    _check_kept(run.outfile, ALL_INSTANCES, outcome, has_failed=False)
    cluster.check_nothing_crashed()
    words = "nothing; the other's test ran, and its own result was whole"
    return Seen(None, words, cluster.seconds_until_usable())


# ---- Clocks and disks -----------------------------------------------------------


@contextlib.contextmanager
def _with_another_clock(cluster):
    cluster.node_environment = {
        "LD_PRELOAD": SHIFTED_CLOCK,
        "SHIFT_CLOCK_NS": str(CLOCK_SHIFT_SECONDS * 10**9),
    }
    yield


@_fault(f"node's clock {CLOCK_SHIFT_SECONDS} s ahead", _with_another_clock)
def clock_offset(cluster):
    run = cluster.start_run(clusters.traffic("shifted", seconds=1))
    outcome = run.finish()
    _check(outcome.status == 0, "the run failed", outcome)
    note = re.search(
        r"note \(clock_offset\): (the clock of node2 \(host node2\) is (\d+)\.\d+ ms "
        r"ahead .*)",
        outcome.out,
    )
    _check(note, "nothing is said of the clock", outcome)
    error_ms = abs(int(note.group(2)) - 1000 * CLOCK_SHIFT_SECONDS)
    _check(error_ms < 200, "the clock is not so far off", outcome)
    return Seen(None, note.group(1), cluster.seconds_until_usable())


@contextlib.contextmanager
def _full_disk(cluster):
    """A folder of cluster.full_disk on which there is next to no room."""
    cluster.full_disk = os.path.join(cluster.folder, "full")
    os.makedirs(cluster.full_disk)
    where = ["tmpfs", cluster.full_disk]
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", *where], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", cluster.full_disk], check=True)


@contextlib.contextmanager
def _results_on_a_full_disk(cluster):
    with _full_disk(cluster):
        cluster.sequencer_flags = [f"--results_dir={cluster.full_disk}"]
        yield
        cluster.close()


@_fault("sequencer's disk full", _results_on_a_full_disk)
def sequencer_disk_full(cluster):
    run = cluster.start_run(clusters.traffic("full", 1, requests_per_second=2000))
    outcome = run.finish()
    _check(outcome.status == 0, "the run failed", outcome)
    _check_kept(run.outfile, ALL_INSTANCES, outcome, has_failed=False)
    said = cluster.runs("list", "--format=json")
    reason = re.search(r'"([^"]*No space left on device[^"]*)"', said)
    _check(reason, f"the list does not say so: {said}", outcome)
    words = _without_folder(cluster, f"`runs list`: {reason.group(1)}")
    outfile = os.path.join(cluster.folder, "rescued")
    cluster.runs("get", run.id(), f"--outfile={outfile}", "--allow_invalid")
    _check_kept(outfile, ALL_INSTANCES, outcome, has_failed=False)
    return Seen(None, words, cluster.seconds_until_usable())


@_fault("client's disk full", _full_disk)
def client_disk_full(cluster):
    outfile = os.path.join(cluster.full_disk, "result")
    start = time.monotonic()
    run = cluster.start_run(clusters.traffic("full", 1), outfile=outfile)
    outcome = run.finish()
    noticed = time.monotonic() - start - 1
    left = os.listdir(cluster.full_disk)
    words = _without_folder(cluster, _last_words(outcome))
    _check(outcome.status == 3, "the client did not fail", outcome)
    _check("No space left on device" in words, f'it said "{words}"', outcome)
    _check(not left, f"it left {left}", outcome)
    return Seen(noticed, words, cluster.seconds_until_usable())


# ---- Strangers ------------------------------------------------------------------


def _resident_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _listening_ports(pid):
    """Of the host that a process is on."""
    ports = set()
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{table}", encoding="ascii") as file:
            for line in file.readlines()[1:]:
                fields = line.split()
                if fields[3] == "0A":
                    ports.add(int(fields[1].rsplit(":", 1)[1], 16))
    return ports


HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

GARBAGE = [
    b"",
    b"\0" * 4096,
    bytes(range(256)) * 16,
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xa5" * 600,
    HTTP2_PREFACE,
    HTTP2_PREFACE + b"\xff" * 4096,
    # SETTINGS of an impossible length, and a header block of nonsense.
    HTTP2_PREFACE + b"\0\0\x05\x04\0\0\0\0\0abcde",
    HTTP2_PREFACE + b"\0\0\0\x04\0\0\0\0\0" + b"\0\0\x08\x01\x04\0\0\0\x01\xff" * 50,
]


def _pour(address, port, data):
    """Connects, sends, and leaves, often in the middle of the answer."""
    try:
        with socket.create_connection((address, port), timeout=5) as connection:
            connection.sendall(data)
            connection.settimeout(0.005)
            connection.recv(4096)
    except OSError:
        pass  # Refused, reset or not answered: all of it is allowed.


@_fault("garbage on every port of sequencer and nodes")
def garbage(cluster):
    programs = {
        "sequencer": cluster.sequencer,
        **{f"node{number}": node for number, node in cluster.nodes.items()},
    }

    def pour_everywhere():
        for host, program in programs.items():
            for port in _listening_ports(program.pid):
                for data in GARBAGE:
                    _pour(cluster.hosts[host].address, port, data)

    return _survive(cluster, pour_everywhere, undo=lambda: None, seconds=4)


def _survive_strangers(cluster, do):
    """As _survive(), and without much more memory for the sequencer."""
    pid = cluster.sequencer.pid
    before = _resident_bytes(pid)
    seen = _survive(cluster, do, undo=lambda: None, seconds=6)
    grown = _resident_bytes(pid) - before
    if grown > MAX_GROWTH_BYTES:
        raise AssertionError(f"the sequencer has grown by {grown >> 20} MiB")
    seen.user_saw += f"; the sequencer grew by {grown / (1 << 20):.1f} MiB"
    return seen


def _raise_file_limit():
    """Returns how many connections this process may have."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
    return hard_limit - 100


@_fault(f"{BOGUS_CONNECTIONS} bogus connections to the sequencer at the same time")
def bogus_connections(cluster):
    address = (cluster.hosts["sequencer"].address, clusters.PORT)
    at_once = min(BOGUS_CONNECTIONS, _raise_file_limit())

    def connect(number, stack):
        connection = socket.create_connection(address, timeout=30)
        stack.enter_context(connection)
        with contextlib.suppress(OSError):  # It may be closed already.
            connection.sendall(GARBAGE[number % len(GARBAGE)][:64])

    def connect_all():
        for start in range(0, BOGUS_CONNECTIONS, at_once):
            with contextlib.ExitStack() as stack:
                for number in range(start, min(start + at_once, BOGUS_CONNECTIONS)):
                    connect(number, stack)

    return _survive_strangers(cluster, connect_all)


def _frame(kind, flags, stream, payload):
    """Of HTTP/2."""
    size = len(payload).to_bytes(3, "big")
    return size + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def _grpc_call(method, message):
    """What a client sends that makes a call with these bytes for a message."""
    headers = {
        ":method": "POST",
        ":scheme": "http",
        ":path": f"/distbench.DistBenchTestSequencer/{method}",
        ":authority": "sequencer",
        "content-type": "application/grpc",
        "te": "trailers",
    }
    # Literal fields that are not indexed, without Huffman codes: 0, then name and
    # value with their lengths.
    block = b""
    for name, value in headers.items():
        block += b"\0"
        for text in (name, value):
            block += bytes([len(text)]) + text.encode()
    data = b"\0" + len(message).to_bytes(4, "big") + message
    return (
        HTTP2_PREFACE
        + _frame(4, 0, 0, b"")
        + _frame(1, 4, 1, block)
        + _frame(0, 1, 1, data)
    )


METHODS = [
    *("NodeSession", "RunTests", "RunTestSequence", "GetStatus", "ListRuns"),
    *("GetRun", "CancelRun", "NoSuchMethod"),
]


@_fault(f"{MALFORMED_MESSAGES} malformed messages to the sequencer")
def malformed_messages(cluster):
    address = cluster.hosts["sequencer"].address
    chance = random.Random(1)

    def send_all():
        for number in range(MALFORMED_MESSAGES):
            message = chance.randbytes(chance.randrange(300))
            call = _grpc_call(METHODS[number % len(METHODS)], message)
            _pour(address, clusters.PORT, call)

    return _survive_strangers(cluster, send_all)


@contextlib.contextmanager
def _with_tls(cluster):
    """All have certificates; those of cluster.strangers are wrong."""
    addresses = [f"IP:{host.address}" for host in cluster.hosts.values()]
    flags = [
        certificates.Authority(cluster.folder, name).flags("host", ",".join(addresses))
        for name in ("authority", "stranger")
    ]
    cluster.tls_flags, stranger = flags
    cluster.strangers = {"another authority's certificate": stranger, "none": []}
    yield


@_fault("clients with wrong certificates, and with none", _with_tls)
def wrong_certificates(cluster):
    words = []

    def come():
        for flags in cluster.strangers.values():
            done = cluster.run_client("status", tls_flags=flags)
            _check(done.returncode != 0, "a stranger was welcome", done)
            words.append(done.stderr.split("distbench: ", 1)[1].strip())

    seen = _survive(cluster, come, undo=lambda: None)
    seen.user_saw = _without_folder(cluster, "the strangers: " + "; ".join(words))
    return seen


def run_fault(fault, cluster, times):
    """The fault, so many times in a row on one cluster. Yields a Seen each time."""
    with fault.set_up(cluster):
        try:
            cluster.start()
            for _ in range(times):
                yield fault.happen(cluster)
        finally:
            cluster.close()

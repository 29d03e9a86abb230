# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What a host has that tests might leave on it, and what has come since.

A state is a set of lines for each kind: files, processes, sockets and so on. Only folders
are listed in which programs leave things: packages and the build's cache are to stay.
"""

import glob
import os
import re

# Below these, every file counts; in "/" and homes, what is directly there.
FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/nonexistent")
HOMES = ("/", "/home", "/root", "/root/.config", "/root/.local/share", "/root/.cache")

# What installing packages and building leave by design, and what the system itself does.
EXPECTED_FILES = re.compile(
    r"/root/\.cache(/bazel.*)?$|/root/\.bazelrc$|/run/(udev|systemd|log|dpkg|lock)\b"
    r"|/tmp/bazel|/nonexistent$"
)
EXPECTED_PROCESSES = re.compile(
    r"bazel\(|(/usr)?/lib/systemd/|(/usr)?/sbin/init\b|\(sd-pam\)"
)


def _names(folder):
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder)]
    except OSError:
        return []


def files():
    found = {path for home in HOMES for path in _names(home)}
    for folder in FOLDERS:
        for at, folders, names in os.walk(folder):
            found.update(os.path.join(at, name) for name in folders + names)
    return {path for path in found if not EXPECTED_FILES.match(path)}


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""  # It has ended meanwhile.


def _with_ancestors(process):
    """Returns the ids of a process and of those that have started it, such as a shell."""
    ids = set()
    while process > 0:
        ids.add(process)
        parent = re.search(r"^PPid:\s*(\d+)", _read(f"/proc/{process}/status"), re.M)
        process = int(parent[1]) if parent else 0
    return ids


def processes():
    """Returns the command line of each process, with its id, but for who asks. Threads of
    the kernel have none."""
    ours = _with_ancestors(os.getpid())
    found = set()
    for path in glob.glob("/proc/[0-9]*"):
        process = int(os.path.basename(path))
        command = _read(f"{path}/cmdline").replace("\0", " ").strip()
        if command and process not in ours and not EXPECTED_PROCESSES.match(command):
            found.add(f"{process} {command[:200]}")
    return found


def listening_sockets():
    """Returns the addresses at which TCP listens, and the names of Unix sockets."""
    found = set()
    for table in ("tcp", "tcp6"):
        for line in _read(f"/proc/net/{table}").splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            if state == "0A":
                found.add(f"{table} {local}")
    for line in _read("/proc/net/unix").splitlines()[1:]:
        fields = line.split()
        if len(fields) > 7:
            found.add(f"unix {fields[7]}")
    return found


def groups():
    """Returns the control groups of all hierarchies."""
    return {at for at, _, _ in os.walk("/sys/fs/cgroup")}


def mounts():
    return {line.split()[4] for line in _read("/proc/self/mountinfo").splitlines()}


KINDS = {
    "file": files,
    "process": processes,
    "listening socket": listening_sockets,
    "network interface": lambda: set(os.listdir("/sys/class/net")),
    "network namespace": lambda: set(_names("/run/netns")),
    "control group": groups,
    "mount": mounts,
}


def state():
    return {kind: sorted(listed()) for kind, listed in KINDS.items()}


def left(before, after):
    """Returns a line for each thing that `after` has and `before` has not. Of a folder
    that is new, what is in it is not told."""
    lines = []
    for kind in KINDS:
        new = set(after[kind]) - set(before[kind])
        lines += [
            f"{kind}: {each}"
            for each in sorted(new)
            if os.path.dirname(each) not in new or kind not in ("file", "control group")
        ]
    return lines

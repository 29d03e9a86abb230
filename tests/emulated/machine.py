# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""An emulated machine, made from programs of this host.

qemu emulates the processors, so neither hardware nor privileges are needed, but
times in it have no meaning. The kernel is the distribution's. The rest is an
initial RAM file system with distbench, its shared libraries and busybox. All
controllers of control groups (version 2) are enabled at /sys/fs/cgroup.
"""

import base64
import dataclasses
import glob
import io
import os
import shutil
import stat
import subprocess
import tarfile
import tempfile

QEMU = "qemu-system-x86_64"
BUSYBOX = "/bin/busybox"
BOOT_SECONDS = 1800  # for the whole life of a machine, unless it hangs
MIB = 1 << 20

KERNEL_FOLDER = os.path.expanduser("~/.cache/distbench_kernel")

# Programs that make file systems are not on every user's path.
SYSTEM_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"

# The machine ends without stopping processes or writing back what is in the
# page cache, as if its power were cut: what a script wants to find on a disk
# later, it writes with sync(1).
INIT = """#!/bin/busybox sh
exec </dev/null >/dev/console 2>&1
/bin/busybox --install -s /bin
export PATH=/bin HOME=/
mount -t devtmpfs devtmpfs /dev
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
for controller in $(cat /sys/fs/cgroup/cgroup.controllers); do
  echo "+$controller" >/sys/fs/cgroup/cgroup.subtree_control
done
hostname emulated
ip link set lo up
mkdir /out
sh /guest.sh
stty -F /dev/ttyS1 raw
tar -c -C /out . | base64 >/dev/ttyS1
poweroff -n -f
"""


@dataclasses.dataclass(frozen=True)
class Disk:
    """An NVMe drive: `image` is a file of this host with its content.

    Scripts find the drive by its serial number, which is `name`.
    """

    name: str
    image: str


@dataclasses.dataclass(frozen=True)
class Machine:
    """What is emulated: CPUs and memory, in equal parts on each NUMA node."""

    distbench: str
    kernel: str
    numa_nodes: int = 1
    cpus: int = 2
    memory_mib: int = 1024
    disks: tuple[Disk, ...] = ()
    programs: tuple[str, ...] = ()  # in addition, for scripts to call

    def options(self):
        """Returns the options of qemu that describe the hardware."""
        cpus = self.cpus // self.numa_nodes
        mib = self.memory_mib // self.numa_nodes
        options = [
            "-accel", "tcg,thread=multi", "-cpu", "max",
            "-m", str(mib * self.numa_nodes), "-smp",
            f"{cpus * self.numa_nodes},sockets={self.numa_nodes},"
            f"cores={cpus},threads=1",
        ]  # fmt: skip
        for node in range(self.numa_nodes):
            first = node * cpus
            options += [
                "-object", f"memory-backend-ram,id=m{node},size={mib}M",
                "-numa",
                f"node,nodeid={node},cpus={first}-{first + cpus - 1},"
                f"memdev=m{node}",
            ]  # fmt: skip
            for near in range(node):
                options += ["-numa", f"dist,src={near},dst={node},val=21"]
        for disk in self.disks:
            options += [
                "-drive",
                f"file={disk.image},format=raw,if=none,id={disk.name}",
                "-device",
                f"nvme,drive={disk.name},serial={disk.name}",
            ]  # fmt: skip
        return options


class Missing(Exception):
    """This host lacks something that the machine needs."""


def _require_programs():
    if shutil.which(QEMU) is None:
        raise Missing(f"{QEMU} is missing; apt-get install qemu-system-x86")
    if not os.path.exists(BUSYBOX):
        raise Missing("busybox is missing; apt-get install busybox-static")


def _format(program, package, image, mib, options=()):
    """Makes an empty image, and formats it. Needs no privileges."""
    path = shutil.which(program, path=SYSTEM_PATH)
    if path is None:
        raise Missing(f"{program} is missing; apt-get install {package}")
    with open(image, "wb") as file:
        file.truncate(mib * MIB)
    outcome = subprocess.run(
        [path, *options, image], capture_output=True, text=True, check=False
    )
    if outcome.returncode != 0:
        raise Missing(f"{program} failed: {outcome.stderr}")


def make_data_disk(image, mib):
    """Makes a drive with an empty file system, ext4."""
    _format("mkfs.ext4", "e2fsprogs", image, mib, ["-q", "-F"])
    return Disk("data", image)


def make_swap_disk(image, mib):
    """Makes a drive to swap to."""
    _format("mkswap", "util-linux", image, mib)
    return Disk("swap", image)


def find_kernel(folder=KERNEL_FOLDER):
    """Returns Debian's kernel for virtual machines; downloads it once."""
    if not glob.glob(f"{folder}/boot/vmlinuz-*"):
        os.makedirs(folder, exist_ok=True)
        try:
            depends = subprocess.check_output(
                ["apt-cache", "depends", "linux-image-cloud-amd64"], text=True
            )
            package = depends.split("Depends: ")[1].split()[0]
            subprocess.check_call(
                ["apt-get", "download", package],
                cwd=folder,
                stdout=subprocess.DEVNULL,
            )
            archive = glob.glob(f"{folder}/{package}_*.deb")[0]
            subprocess.check_call(["dpkg-deb", "-x", archive, folder])
        except (OSError, IndexError, subprocess.CalledProcessError) as error:
            raise Missing(
                f"no kernel: {error}; use --kernel to give one"
            ) from error
    return glob.glob(f"{folder}/boot/vmlinuz-*")[0]


class _Archive:
    """A file system in a form that the kernel unpacks: cpio, format "newc"."""

    def __init__(self):
        self._out = io.BytesIO()
        self._count = 0
        self._folders = set()

    def add_folder(self, path):
        if path and path not in self._folders:
            self.add_folder(os.path.dirname(path))
            self._folders.add(path)
            self._add(path, stat.S_IFDIR | 0o755)

    def add_file(self, path, content):
        self.add_folder(os.path.dirname(path))
        self._add(path, stat.S_IFREG | 0o755, content)

    def add_device(self, path, major, minor):
        self.add_folder(os.path.dirname(path))
        self._add(path, stat.S_IFCHR | 0o600, device=(major, minor))

    def finish(self):
        self._add("TRAILER!!!", 0)
        return self._out.getvalue()

    def _add(self, path, mode, content=b"", device=(0, 0)):
        self._count += 1
        name = path.encode() + b"\0"
        # Owner ids, link count, and no modification time.
        status = [self._count, mode, 0, 0, 1, 0]
        fields = [*status, len(content), 0, 0, *device, len(name), 0]
        header = b"".join(b"%08X" % field for field in fields)
        self._out.write(b"070701" + header + name)
        self._pad()
        self._out.write(content)
        self._pad()

    def _pad(self):
        self._out.write(b"\0" * (-self._out.tell() % 4))


def _libraries(program):
    """Returns a program's shared libraries, including the dynamic linker."""
    listed = subprocess.check_output(["ldd", program], text=True)
    for line in listed.splitlines():
        words = line.replace("=>", "").split()
        paths = [word for word in words if word.startswith("/")]
        if paths:
            name = words[0]
            yield name if name.startswith("/") else "/lib/" + name, paths[-1]


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def make_image(programs, files):
    """Returns the file system; `files` has contents by path."""
    archive = _Archive()
    for folder in ("proc", "sys", "tmp", "bin", "lib"):
        archive.add_folder(folder)
    # Before the machine has mounted its own /dev.
    archive.add_device("dev/console", 5, 1)
    archive.add_device("dev/null", 1, 3)
    archive.add_file("init", INIT.encode())
    archive.add_file("bin/busybox", _read(BUSYBOX))
    libraries = {}
    for program in programs:
        name = os.path.basename(program)
        archive.add_file(f"bin/{name}", _read(program))
        libraries.update(_libraries(program))
    for path, source in libraries.items():
        archive.add_file(path.lstrip("/"), _read(source))
    for path, content in files.items():
        archive.add_file(path, content.encode())
    return archive.finish()


def run(machine, files, out, log):
    """Boots, runs the file guest.sh, and puts its output in /out into `out`.

    files: contents by path in the machine.
    log: file for the machine's console.
    """
    _require_programs()
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "initrd")
        with open(image, "wb") as file:
            programs = (machine.distbench, *machine.programs)
            file.write(make_image(programs, files))
        results = os.path.join(folder, "results")
        command = [
            QEMU, *machine.options(),
            "-kernel", machine.kernel, "-initrd", image,
            "-append",
            "console=ttyS0 quiet panic=-1 psi=1 LD_LIBRARY_PATH=/lib",
            "-no-reboot", "-nic", "none", "-display", "none",
            "-monitor", "none",
            "-serial", f"file:{log}", "-serial", f"file:{results}",
        ]  # fmt: skip
        subprocess.run(
            command, check=True, timeout=BOOT_SECONDS, stdin=subprocess.DEVNULL
        )
        os.makedirs(out, exist_ok=True)
        content = base64.b64decode(_read(results))
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            archive.extractall(out)

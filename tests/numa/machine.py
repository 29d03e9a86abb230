"""An emulated machine with two NUMA nodes, made from programs of this host.

qemu emulates the processors, so neither hardware nor privileges are needed, but
times in it have no meaning. The kernel is the distribution's. The rest is an
initial RAM file system with distbench, its shared libraries and busybox.
"""

import base64
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

INIT = """#!/bin/busybox sh
exec </dev/null >/dev/ttyS0 2>&1
/bin/busybox --install -s /bin
export PATH=/bin HOME=/
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /tmp
hostname emulated
ip link set lo up
mkdir /out
sh /guest.sh
stty -F /dev/ttyS1 raw
tar -c -C /out . | base64 >/dev/ttyS1
poweroff -f
"""


class Missing(Exception):
    """This host lacks something that the machine needs."""


def _require_programs():
    if shutil.which(QEMU) is None:
        raise Missing(f"{QEMU} is missing; apt-get install qemu-system-x86")
    if not os.path.exists(BUSYBOX):
        raise Missing("busybox is missing; apt-get install busybox-static")


def find_kernel(folder):
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


def make_image(distbench, files):
    """Returns the file system; `files` has contents by path."""
    archive = _Archive()
    for folder in ("proc", "sys", "tmp", "bin", "lib"):
        archive.add_folder(folder)
    for name, major, minor in (
        ("console", 5, 1),
        ("null", 1, 3),
        ("ttyS0", 4, 64),
        ("ttyS1", 4, 65),
        ("urandom", 1, 9),
        ("random", 1, 8),
    ):
        archive.add_device(f"dev/{name}", major, minor)
    archive.add_file("init", INIT.encode())
    archive.add_file("bin/busybox", _read(BUSYBOX))
    archive.add_file("bin/distbench", _read(distbench))
    for path, source in _libraries(distbench):
        archive.add_file(path.lstrip("/"), _read(source))
    for path, content in files.items():
        archive.add_file(path, content.encode())
    return archive.finish()


def run(distbench, kernel, files, out, log):
    """Boots, runs the file guest.sh, and puts its output in /out into `out`.

    log: file for the machine's console.
    """
    _require_programs()
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "initrd")
        with open(image, "wb") as file:
            file.write(make_image(distbench, files))
        results = os.path.join(folder, "results")
        command = [
            QEMU, "-accel", "tcg,thread=multi", "-cpu", "max", "-m", "2048",
            "-smp", "4,sockets=2,cores=2,threads=1",
            "-object", "memory-backend-ram,id=m0,size=1024M",
            "-object", "memory-backend-ram,id=m1,size=1024M",
            "-numa", "node,nodeid=0,cpus=0-1,memdev=m0",
            "-numa", "node,nodeid=1,cpus=2-3,memdev=m1",
            "-numa", "dist,src=0,dst=1,val=21",
            "-kernel", kernel, "-initrd", image, "-no-reboot", "-nic", "none",
            "-append", "console=ttyS0 quiet panic=-1 LD_LIBRARY_PATH=/lib",
            "-display", "none", "-monitor", "none",
            "-serial", f"file:{log}", "-serial", f"file:{results}",
        ]  # fmt: skip
        subprocess.run(
            command, check=True, timeout=BOOT_SECONDS, stdin=subprocess.DEVNULL
        )
        os.makedirs(out, exist_ok=True)
        content = base64.b64decode(_read(results))
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            archive.extractall(out)

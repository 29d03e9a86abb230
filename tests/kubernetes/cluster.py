# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A real Kubernetes cluster of one host, for as long as a `with` statement.

etcd, API server, controller manager, scheduler, CoreDNS, containerd with
bridged networks, and the kubelet, all of them processes of the caller. The
caller must be root, and the first process of network, mount and process
namespaces of its own, which `run` makes: then nothing that happens here reaches
the host's network, and the kernel ends all containers with the caller. Only the
control groups of Pods are left to remove_pod_groups(), which is called outside
of the namespaces.
"""

import json
import os
import shlex
import subprocess
import time

# Of every wait. Long, because the machine may be busy; nothing takes that long
# unless it hangs.
DEADLINE_SECONDS = 120

HOST = "host1"
HOST_ADDRESS = "10.244.0.1"  # the bridge's, and thus the cluster's DNS server
POD_NETWORK = "10.244.0.0/24"
API_PORT = 6443
TOKEN = "administrator"

PAUSE_IMAGE = "localhost/pause:1"

# Names a file, to which what users would type is appended, with its output.
TRANSCRIPT = "DISTBENCH_TRANSCRIPT"


def wait_until(condition, what, seconds=DEADLINE_SECONDS):
    """Returns the first true value of condition(), which is called often."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds} s: {what}")
        time.sleep(0.2)


def note(text):
    """Adds to the transcript, if there is one."""
    if TRANSCRIPT in os.environ:
        with open(os.environ[TRANSCRIPT], "a", encoding="utf-8") as file:
            file.write(text)


def note_command(arguments, done):
    """Adds a command to the transcript, without what only this cluster needs."""
    words = [os.path.basename(arguments[0]), *arguments[1:]]
    if "--kubeconfig" in words:
        at = words.index("--kubeconfig")
        del words[at : at + 2]
    note(f"$ {shlex.join(words)}\n{done.stdout}{done.stderr}")
    if done.returncode != 0:
        note(f"(status {done.returncode})\n")


def run(arguments, check=True, is_noted=False, **options):
    """Runs a program to its end, and returns its CompletedProcess with text."""
    options.setdefault(
        "stdin", None if "input" in options else subprocess.DEVNULL
    )
    if "input" in options:
        del options["stdin"]
    done = subprocess.run(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=options.pop("timeout", 600),
        **options,
    )
    if is_noted:
        note_command(arguments, done)
    if check and done.returncode != 0:
        raise RuntimeError(
            f"{' '.join(arguments)}: status {done.returncode}\n"
            f"{done.stdout}{done.stderr}"
        )
    return done


class Cluster:
    def __init__(self, tools, folder):
        """tools: what build_tools made; folder: a short path, for sockets."""
        self._tools = tools
        self._folder = folder
        self._processes = []
        self.kubeconfig = os.path.join(folder, "kubeconfig")

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        # Backwards: the kubelet must not start Pods again that have ended.
        while self._processes:
            process = self._processes.pop()
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    # ---- What tests use -----------------------------------------------------

    def kubectl(self, *arguments, **options):
        return run(
            [self.tool("kubectl"), "--kubeconfig", self.kubeconfig, *arguments],
            **options,
        )

    def get(self, *arguments):
        """An object or a list of objects, as JSON."""
        return json.loads(self.kubectl("get", *arguments, "-o", "json").stdout)

    def helm(self, *arguments, **options):
        return run(
            [self.tool("helm"), "--kubeconfig", self.kubeconfig, *arguments],
            is_noted=True,
            **options,
        )

    def load_image(self, archive):
        run([*self._ctr(), "images", "import", archive])

    def tool(self, name):
        return os.path.join(self._tools, name)

    # ---- Starting -----------------------------------------------------------

    def _start(self):
        if os.getpid() != 1:
            raise RuntimeError("not in a process namespace of its own")
        self._hide_host_folders()
        self._make_network()
        self._write("tokens.csv", f'{TOKEN},admin,1,"system:masters"\n')
        self._write("kubeconfig", KUBECONFIG)
        key = self._path("service_account.key")
        run(["openssl", "genrsa", "-out", key, "2048"])
        self._start_control_plane(key)
        self._start_dns()
        self._start_containerd()
        self._start_kubelet()
        wait_until(self._is_ready, "the node is ready")

    # Where containerd, the CNI plug-ins and the kubelet keep what they could
    # find, and mistake for their own, the next time.
    def _hide_host_folders(self):
        for folder in ("/run", "/var/lib/cni", "/var/log"):
            os.makedirs(folder, exist_ok=True)
            run(["mount", "-t", "tmpfs", "tmpfs", folder])

    def _make_network(self):
        run(["ip", "link", "set", "lo", "up"])
        run(["ip", "link", "add", "cni0", "type", "bridge"])
        run(["ip", "addr", "add", f"{HOST_ADDRESS}/24", "dev", "cni0"])
        run(["ip", "link", "set", "cni0", "up"])

    def _start_control_plane(self, key):
        self._start_program(
            "etcd",
            "etcd",
            "--data-dir",
            self._path("etcd"),
        )
        self._start_program(
            "kube-apiserver",
            self.tool("kube-apiserver"),
            "--etcd-servers=http://127.0.0.1:2379",
            "--service-account-issuer=https://cluster.local",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            f"--cert-dir={self._path('certificates')}",
            "--bind-address=127.0.0.1",
            f"--secure-port={API_PORT}",
            f"--advertise-address={HOST_ADDRESS}",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--authorization-mode=RBAC",
            f"--token-auth-file={self._path('tokens.csv')}",
            "--kubelet-preferred-address-types=InternalIP",
        )
        wait_until(self._serves, "the API server serves")
        for name in ("kube-controller-manager", "kube-scheduler"):
            self._start_program(
                name,
                self.tool(name),
                f"--kubeconfig={self.kubeconfig}",
                "--leader-elect=false",
            )

    def _start_dns(self):
        self._write("Corefile", COREFILE.format(kubeconfig=self.kubeconfig))
        self._start_program(
            "coredns", self.tool("coredns"), "-conf", self._path("Corefile")
        )

    def _start_containerd(self):
        os.makedirs(self._path("cni"))
        self._write("cni/10-bridge.conflist", json.dumps(NETWORK))
        self._write(
            "containerd.toml",
            CONTAINERD.format(
                folder=self._folder,
                pause=PAUSE_IMAGE,
                snapshotter="overlayfs" if has_overlay() else "native",
            ),
        )
        self._start_program(
            "containerd", "containerd", "-c", self._path("containerd.toml")
        )
        wait_until(
            lambda: run([*self._ctr(), "version"], check=False).returncode == 0,
            "containerd serves",
        )
        self.load_image(os.path.join(self._tools, "pause.tar"))

    def _start_kubelet(self):
        self._write("kubelet.yaml", KUBELET.format(folder=self._folder))
        self._start_program(
            "kubelet",
            self.tool("kubelet"),
            f"--config={self._path('kubelet.yaml')}",
            f"--kubeconfig={self.kubeconfig}",
            f"--hostname-override={HOST}",
            f"--node-ip={HOST_ADDRESS}",
            f"--root-dir={self._path('kubelet')}",
        )

    def _start_program(self, name, *arguments):
        with open(self._path(name + ".log"), "wb") as log:
            self._processes.append(
                subprocess.Popen(
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=self._folder,
                )
            )

    # ---- Looking ------------------------------------------------------------

    def _serves(self):
        self._check_programs()
        return (
            self.kubectl("get", "--raw", "/readyz", check=False).returncode == 0
        )

    def _is_ready(self):
        self._check_programs()
        node = self.kubectl(
            "get",
            "node",
            HOST,
            "-o",
            "jsonpath={.status.conditions[?(@.type=='Ready')].status}",
            check=False,
        )
        return node.stdout == "True"

    def _check_programs(self):
        for process in self._processes:
            if process.poll() is None:
                continue
            name = os.path.basename(process.args[0])
            with open(self._path(name + ".log"), errors="replace") as log:
                end = "".join(log.readlines()[-20:])
            raise RuntimeError(f"{name} ended: {process.returncode}\n{end}")

    def _ctr(self):
        return ["ctr", "-a", self._path("containerd.sock"), "-n", "k8s.io"]

    def _path(self, name):
        return os.path.join(self._folder, name)

    def _write(self, name, text):
        with open(self._path(name), "w", encoding="utf-8") as file:
            file.write(text)


def has_overlay():
    with open("/proc/filesystems", encoding="ascii") as file:
        return "\toverlay\n" in file.read()


def remove_pod_groups():
    """Removes the control groups that a kubelet made, once they are empty."""
    root = "/sys/fs/cgroup"
    for hierarchy in [root] + [
        os.path.join(root, name) for name in os.listdir(root)
    ]:
        pods = os.path.join(hierarchy, "kubepods")
        for folder, _, _ in os.walk(pods, topdown=False):
            wait_until(
                lambda folder=folder: _remove_group(folder),
                f"{folder} is empty",
                seconds=20,
            )


def _remove_group(folder):
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        pass
    except OSError:
        return False  # its processes are still ending
    return True


def make_pause_image(tools):
    """The image that holds a Pod's namespaces: something that only waits."""
    archive = os.path.join(tools, "pause.tar")
    if os.path.exists(archive):
        return
    container = run(["buildah", "from", "scratch"]).stdout.strip()
    run(["buildah", "copy", "-q", container, "/bin/busybox", "/bin/busybox"])
    run(
        ["buildah", "config", "--entrypoint"]
        + ['["/bin/busybox", "sleep", "1000000"]', container]
    )
    run(["buildah", "commit", "-q", "--rm", container, PAUSE_IMAGE])
    run(
        [
            "buildah",
            "push",
            "-q",
            PAUSE_IMAGE,
            f"docker-archive:{archive}:{PAUSE_IMAGE}",
        ]
    )


KUBECONFIG = f"""apiVersion: v1
kind: Config
clusters:
- name: cluster
  cluster:
    server: https://127.0.0.1:{API_PORT}
    insecure-skip-tls-verify: true
contexts:
- name: cluster
  context: {{cluster: cluster, user: admin}}
current-context: cluster
users:
- name: admin
  user: {{token: {TOKEN}}}
"""

COREFILE = f""".:53 {{{{
  bind {HOST_ADDRESS}
  errors
  kubernetes cluster.local {{{{
    kubeconfig {{kubeconfig}} cluster
  }}}}
}}}}
"""

NETWORK = {
    "cniVersion": "0.4.0",
    "name": "bridge",
    "plugins": [
        {
            "type": "bridge",
            "bridge": "cni0",
            "isGateway": True,
            "ipMasq": False,
            "ipam": {
                "type": "host-local",
                "subnet": POD_NETWORK,
                "routes": [{"dst": "0.0.0.0/0"}],
            },
        },
        {"type": "loopback"},
    ],
}

CONTAINERD = """version = 2
root = "{folder}/containerd"
state = "{folder}/state"
[grpc]
  address = "{folder}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "{snapshotter}"
"""

KUBELET = """apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {{anonymous: {{enabled: true}}, webhook: {{enabled: false}}}}
authorization: {{mode: AlwaysAllow}}
cgroupDriver: cgroupfs
failSwapOn: false
containerRuntimeEndpoint: unix://{folder}/containerd.sock
volumePluginDir: {folder}/volume_plugins
enforceNodeAllocatable: []
resolvConf: ""
evictionHard: {{memory.available: 10Mi, nodefs.available: 1%, imagefs.available: 1%}}
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
clusterDNS: [{dns}]
clusterDomain: cluster.local
""".replace("{dns}", HOST_ADDRESS)

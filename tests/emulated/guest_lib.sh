# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Functions for the scripts that run in the emulated machine. They leave their
# findings in /out, for programs of the host to judge.

readonly ADDRESS=127.0.0.1:10000
readonly START_SECONDS=120
readonly ROOT_GROUP=/sys/fs/cgroup

# start NAME ARGUMENT...: starts distbench in the background; $! is its process.
start() {
  local name=$1
  shift
  distbench "$@" >"/out/$name.log" 2>&1 &
}

# until_true SECONDS COMMAND...: whether the command succeeds in time.
until_true() {
  local i=0
  local attempts=$((10 * $1))
  shift
  until "$@"; do
    i=$((i + 1))
    [ $i -lt $attempts ] || return 1
    usleep 100000
  done
}

# wait_for NAME TEXT: waits until the log of a program contains the text.
wait_for() {
  until_true $START_SECONDS grep -q "$2" "/out/$1.log"
}

# drive_called NAME: the block device of a drive of the machine ("nvme0n1").
drive_called() {
  local serial
  for serial in /sys/block/nvme*/device/serial; do
    if [ "$(tr -d ' ' <"$serial")" = "$1" ]; then
      serial=${serial%/device/serial}
      echo "${serial##*/}"
    fi
  done
}

# number_of DEVICE: its major and minor number ("259:0").
number_of() {
  cat "/sys/block/$1/dev"
}

mount_data() {
  mkdir -p /data
  mount -t ext4 "/dev/$(drive_called data)" /data
}

enable_swap() {
  swapon "/dev/$(drive_called swap)"
}

# become_in_group GROUP COMMAND...: the shell becomes the command, in a control
# group, given by its path. In the background (&), $! is the command's process.
become_in_group() {
  local group=$1
  shift
  # Expanded by the new shell, whose number $$ is.
  # shellcheck disable=SC2016
  exec sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}

# in_group GROUP COMMAND...: runs the command, and waits for it.
in_group() {
  (become_in_group "$@")
}

# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Finds out what the kernel's control groups can do, without distbench. Lines of
# /out/facts are "NAME VALUE".

. /guest_lib.sh

readonly GROUP=$ROOT_GROUP/probe
readonly CONTROLS="cpu.weight cpu.max cpuset.cpus cpuset.mems memory.min
  memory.low memory.high memory.max memory.swap.max memory.zswap.max io.weight
  io.max io.latency io.prio.class pids.max cpu.pressure memory.pressure
  io.pressure"

fact() {
  echo "$*" >>/out/facts
}

# set_and_read FILE VALUE: writes a control, and notes what it says then.
set_and_read() {
  if echo "$2" >"$1" 2>>/out/refusals; then
    fact "set:${1##*/} $(cat "$1")"
  else
    fact "set:${1##*/} refused"
  fi
}

probe_files() {
  fact "controllers $(cat $ROOT_GROUP/cgroup.controllers)"
  local file
  for file in $CONTROLS; do
    [ -e "$GROUP/$file" ] && fact "has:$file yes" || fact "has:$file no"
  done
  for file in io.cost.qos io.cost.model; do
    [ -e "$ROOT_GROUP/$file" ] && fact "has:$file yes" || fact "has:$file no"
  done
  for file in cpu memory io; do
    fact "pressure:$file $(head -n 1 /proc/pressure/$file)"
  done
}

probe_values() {
  set_and_read $GROUP/cpu.weight 200
  set_and_read $GROUP/cpu.max '50000 100000'
  set_and_read $GROUP/cpuset.cpus 0
  set_and_read $GROUP/cpuset.mems 0
  set_and_read $GROUP/memory.min 1048576
  set_and_read $GROUP/memory.low 2097152
  set_and_read $GROUP/memory.high 134217728
  set_and_read $GROUP/memory.max 268435456
  set_and_read $GROUP/memory.swap.max 67108864
  set_and_read $GROUP/io.weight 'default 200'
  set_and_read $GROUP/io.max "$number rbps=1048576 wbps=max riops=max wiops=max"
  set_and_read $ROOT_GROUP/io.cost.model "$number ctrl=user model=linear \
rbps=10485760 rseqiops=1000 rrandiops=1000 wbps=10485760 wseqiops=1000 \
wrandiops=1000"
  set_and_read $ROOT_GROUP/io.cost.qos "$number enable=1 ctrl=user rpct=95.00 \
rlat=50000 wpct=95.00 wlat=50000 min=100.00 max=100.00"
}

# usage GROUP: CPU time that it has used, in microseconds.
usage() {
  sed -n 's/^usage_usec //p' "$1/cpu.stat"
}

# Two loops on one CPU, of which one weighs twice as much.
probe_cpu_weight() {
  local name
  local burners=
  for name in light heavy; do
    mkdir $ROOT_GROUP/$name
    echo 0 >$ROOT_GROUP/$name/cpuset.cpus
    become_in_group $ROOT_GROUP/$name sh -c 'while :; do :; done' &
    burners="$burners $!"
  done
  echo 100 >$ROOT_GROUP/light/cpu.weight
  echo 200 >$ROOT_GROUP/heavy/cpu.weight
  local light=$(usage $ROOT_GROUP/light)
  local heavy=$(usage $ROOT_GROUP/heavy)
  sleep 6
  fact "cpu_weight:light $(($(usage $ROOT_GROUP/light) - light))"
  fact "cpu_weight:heavy $(($(usage $ROOT_GROUP/heavy) - heavy))"
  # Words are processes.
  # shellcheck disable=SC2086
  kill $burners
}

# A loop that may use a quarter of a CPU.
probe_cpu_max() {
  mkdir $ROOT_GROUP/capped
  echo '25000 100000' >$ROOT_GROUP/capped/cpu.max
  become_in_group $ROOT_GROUP/capped sh -c 'while :; do :; done' &
  sleep 6
  fact "cpu_max:used $(usage $ROOT_GROUP/capped)"
  kill $!
}

pages_swapped_out() {
  sed -n 's/^pswpout //p' /proc/vmstat
}

kills_in() {
  sed -n 's/^oom_kill //p' "$1/memory.events"
}

# A program that touches 96 MiB where 64 MiB are allowed.
probe_memory() {
  mkdir $ROOT_GROUP/hog
  echo 67108864 >$ROOT_GROUP/hog/memory.max
  local before=$(pages_swapped_out)
  in_group $ROOT_GROUP/hog dd if=/dev/zero of=/dev/null bs=96M count=1 \
    2>>/out/dd.log
  fact "swap:pages_out $(($(pages_swapped_out) - before))"
  fact "oom:kills_with_swap $(kills_in $ROOT_GROUP/hog)"
  echo 0 >$ROOT_GROUP/hog/memory.swap.max
  in_group $ROOT_GROUP/hog dd if=/dev/zero of=/dev/null bs=96M count=1 \
    2>>/out/dd.log
  fact "oom:kills_without_swap $(kills_in $ROOT_GROUP/hog)"
}

# bytes_of GROUP KEY: what io.stat says of the data drive.
bytes_of() {
  sed -n "s/^$number .*$2=\([0-9]*\).*/\1/p" "$1/io.stat"
}

# 8 MiB at 2 MiB/s.
probe_io_max() {
  mkdir $ROOT_GROUP/limited
  echo "$number rbps=2097152" >$ROOT_GROUP/limited/io.max
  local start=$(date +%s)
  in_group $ROOT_GROUP/limited dd if=/dev/$drive of=/dev/null bs=64k count=128 \
    iflag=direct 2>>/out/dd.log
  fact "io_max:seconds $(($(date +%s) - start))"
}

# Two readers of one drive, of which one weighs four times as much, when io.cost
# allows the drive less than it can do.
probe_io_weight() {
  local name
  local readers=
  for name in light heavy; do
    become_in_group $ROOT_GROUP/$name dd if=/dev/$drive of=/dev/null bs=4k \
      iflag=direct 2>>/out/dd.log &
    readers="$readers $!"
  done
  echo 'default 100' >$ROOT_GROUP/light/io.weight
  echo 'default 400' >$ROOT_GROUP/heavy/io.weight
  sleep 3
  local light=$(bytes_of $ROOT_GROUP/light rbytes)
  local heavy=$(bytes_of $ROOT_GROUP/heavy rbytes)
  sleep 8
  fact "io_weight:light $(($(bytes_of $ROOT_GROUP/light rbytes) - light))"
  fact "io_weight:heavy $(($(bytes_of $ROOT_GROUP/heavy rbytes) - heavy))"
  # Words are processes.
  # shellcheck disable=SC2086
  kill $readers
}

mkdir $GROUP
drive=$(drive_called data)
number=$(number_of "$drive")
fact "kernel $(uname -r)"
fact "drive $drive $number"
fact "scheduler $(cat "/sys/block/$drive/queue/scheduler")"
mount_data && fact "mounted $(grep -c ' /data ext4 ' /proc/mounts)"
enable_swap && fact "swap_kib $(sed -n 's/^SwapTotal: *\([0-9]*\).*/\1/p' \
  /proc/meminfo)"
probe_files
probe_values
echo "guest: CPU"
probe_cpu_weight
probe_cpu_max
echo "guest: memory"
probe_memory
echo "guest: drives"
probe_io_max
probe_io_weight
if [ -e /bin/kernel_test ]; then
  echo "guest: cases of the library"
  kernel_test >/out/kernel_test.log 2>&1
  fact "kernel_test $?"
fi

# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# A session of jobs, as one command, that is killed in the middle and started
# again.

. /guest_lib.sh

readonly RESULT=/var/tmp/result.pb.gz
readonly JOB_SECONDS=900
readonly END_SECONDS=60

# session NAME: starts the session; $! is its process. It starts its own
# sequencer and node managers, in the root group.
session() {
  # Jobs are separate words.
  # shellcheck disable=SC2046
  distbench bench -r $RESULT run $(cat /jobs) >"/out/$1.txt" 2>&1 &
}

bench() {
  distbench bench -r $RESULT "$@"
}

has_ended() {
  ! pidof distbench >/dev/null
}

# Jobs keep their files there.
mkdir -p /var/tmp
drive=$(drive_called data)
mount -t ext4 "/dev/$drive" /var/tmp
enable_swap
number=$(number_of "$drive")
echo "$number enable=0" >$ROOT_GROUP/io.cost.qos
echo 0 >"/sys/block/$drive/queue/wbt_lat_usec"

echo "guest: until the second job"
session first
running=$!
until_true $JOB_SECONDS grep -q '\[hashd-params result\]' /out/first.txt
# In the middle of a cell of the second job.
sleep 30
kill -KILL $running
wait $running
until_true $END_SECONDS has_ended && echo "all ended" >/out/killed.txt
find $ROOT_GROUP -type d -name 'distbench.*' >>/out/killed.txt
bench list >/out/list_after_kill.txt 2>&1

echo "guest: from there to the end"
session second
wait $!
echo "exit status $?" >>/out/second.txt
until_true $END_SECONDS has_ended
find $ROOT_GROUP -type d -name 'distbench.*' >/out/groups_left.txt
grep "^$number " $ROOT_GROUP/io.cost.qos >/out/io.cost.qos
for report in list format summary; do
  bench $report >/out/$report.txt 2>&1
done
cp $RESULT /out/result.pb.gz

# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# After the machine was switched off in the middle of a test with controls: what
# the first node manager does with the journal of the other boot.

. /guest_lib.sh
. /controls_settings.sh
. /controls_lib.sh

prepare_host
find $STATE_FOLDER -name '*.journal' | wc -l >/out/reboot.journals
# Another value than before that test, and than in it.
echo "$REBOOT_WEIGHT" >$NEIGHBOUR/cpu.weight
echo "$number enable=0" >$ROOT_GROUP/io.cost.qos
state | grep -v '\.journal$' >/out/state.before
start_cluster
until_true $RESTORE_SECONDS is_as_before
state >/out/reboot.after
run held
until_true $RESTORE_SECONDS is_as_before
state >/out/held_after_reboot.after
stop_cluster

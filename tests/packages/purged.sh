#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# In the system of installed.sh: removes the packages and purges them.
set -euo pipefail
# shellcheck source=tests/packages/checks.sh
source "$(dirname "$0")/checks.sh"
export DEBIAN_FRONTEND=noninteractive

readonly PACKAGES=(distbench python3-distbench)

# Files that bear our name, besides the packages themselves.
our_files() {
  find / -xdev \( -name '*distbench*' -o -name 'test_builder*' \) \
    -not -path '/proc/*' -not -path '/sys/*' -not -path '/tmp/*' \
    -not -path '/root/*' -not -path '/var/cache/*'
}

# Our files except those of a kind.
others_than() { grep -Ev "$1" <(our_files); }

echo 'NODE_FLAGS="rack=r1"' >>/etc/default/distbench-node
check "the packages can be removed" quietly apt-get remove -y "${PACKAGES[@]}"
check "only settings are left" fails others_than \
  '^/etc/default/|^/var/lib/dpkg/|^/etc/systemd/|^/var/lib/systemd/'
check "changed settings are left" \
  grep -q 'rack=r1' /etc/default/distbench-node
# As if the sequencer had been used.
install -d -o _distbench /var/lib/distbench
touch /var/lib/distbench/20260131-235959-000.run
check "the packages can be purged" quietly apt-get purge -y "${PACKAGES[@]}"
our_files | sed 's/^/    left: /'
check "only results are left" fails others_than '^/var/lib/distbench'
check "results are left" test -e /var/lib/distbench/20260131-235959-000.run

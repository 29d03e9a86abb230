# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# shellcheck shell=bash
# Building for another architecture: its libraries beside the tools of this one, as
# Debian's multiarch has them, and a folder in which the cross compiler and what
# belongs to it have their usual names. Bazel and pkg-config's callers then build
# for that architecture without being told, with the folder first in PATH. Source
# this file after lib.sh.

# gnu_name ARCH: what compilers call Debian's architecture.
gnu_name() {
  case $1 in
    arm64) echo aarch64-linux-gnu ;;
    *) die "--for=$1: only arm64 is known" ;;
  esac
}

# cross_tools_folder ARCH
cross_tools_folder() { echo "/opt/cross-$1"; }

# for_architecture ARCH PACKAGE...: the packages by the names that apt has for those
# of the architecture. What is the same for all has no other name.
for_architecture() {
  local architecture=$1 package
  shift
  for package in "$@"; do
    if [[ $(apt-cache show --no-all-versions "$package" |
      sed -n 's/^Architecture: //p') == all ]]; then
      printf '%s\n' "$package"
    else
      printf '%s:%s\n' "$package" "$architecture"
    fi
  done
}

# require_no_libraries PACKAGE...: of some packages only one architecture's can be
# installed, and apt would remove the ones that are there.
require_no_libraries() {
  local package
  for package in "$@"; do
    if dpkg-query -W -f '${db:Status-Status} ${Architecture} ${Multi-Arch}\n' \
      "$package" 2>/dev/null |
      grep -qx "installed $(dpkg --print-architecture) no"; then
      die "$package of this architecture is installed and would be removed; use a system of its own, as tests/arm64/run does"
    fi
  done
}

# make_cross_tools ARCH
make_cross_tools() {
  local name folder tool
  name=$(gnu_name "$1")
  folder=$(cross_tools_folder "$1")
  as_root rm -rf "$folder"
  as_root mkdir -p "$folder"
  for tool in gcc g++ cpp gcov; do
    as_root ln -s "$(command -v "$name-$tool")" "$folder/$tool"
  done
  for tool in /usr/"$name"/bin/*; do
    as_root ln -s "$tool" "$folder/${tool##*/}"
  done
  as_root tee "$folder/pkg-config" >/dev/null <<END
#!/bin/sh
PKG_CONFIG_LIBDIR=/usr/lib/$name/pkgconfig:/usr/share/pkgconfig exec $(command -v pkg-config) "\$@"
END
  as_root chmod 755 "$folder/pkg-config"
}

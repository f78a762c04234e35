#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# capture-host.sh DIR: copies what hpmem topo reads of this host into DIR, so that
# `hpmem topo --root DIR` shows the same anywhere. DIR must be new or empty.
#
# Taken: counts of pages and memory, CPU lists, distances, the kernel's release, THP modes, the
# CPU's answers to CPUID. Of the mounts only hugetlbfs is taken; of processes and users nothing.
# HPMEM names the command to ask for CPUID when it is not in the PATH.
set -eu

die() {
	echo "capture-host.sh: $*" >&2
	exit "${status:-3}"
}

# A file that this kernel lacks is left out: a capture shows what the host shows.
take() {
	for path; do
		[ -r "$path" ] || continue
		mkdir -p "$dir$(dirname "$path")"
		cat "$path" >"$dir$path" 2>/dev/null || rm -f "$dir$path"
	done
}

if [ $# -ne 1 ] || [ -z "$1" ]; then
	status=2 die "usage: capture-host.sh DIR"
fi
hpmem=${HPMEM:-hpmem}
command -v "$hpmem" >/dev/null || die "there is no '$hpmem': install it, or name it in HPMEM"
mkdir -p "$1" || die "cannot make '$1'"
dir=$(cd "$1" && pwd)
[ -z "$(ls -A "$dir")" ] || status=2 die "'$1' is not empty"

take /proc/meminfo /proc/sys/kernel/osrelease
mkdir -p "$dir/proc" "$dir/sys" "$dir/hpm"
grep ' hugetlbfs ' /proc/mounts >"$dir/proc/mounts" || true
take /sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/mm/transparent_hugepage/shmem_enabled
for pools in /sys/kernel/mm/hugepages /sys/devices/system/node/node[0-9]*/hugepages; do
	for name in nr_hugepages free_hugepages resv_hugepages surplus_hugepages; do
		take "$pools"/hugepages-*kB/"$name"
	done
done
for node in /sys/devices/system/node/node[0-9]*; do
	take "$node/cpulist" "$node/meminfo" "$node/distance"
done
getconf PAGESIZE >"$dir/hpm/page_size"
# no x86, no CPUID: hpmem says so, and the capture goes without
"$hpmem" cpuid >"$dir/hpm/cpuid.txt" || rm -f "$dir/hpm/cpuid.txt"

echo "wrote $(find "$dir" -type f | wc -l) files, $(find "$dir" -type f -exec cat {} + | wc -c) bytes, to $1:"
(cd "$dir" && find . -type f | sort)

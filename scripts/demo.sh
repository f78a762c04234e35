#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What configuration growth costs a forwarder, and what packing its tables gives back: the same
# forwarder three times, before growth (8,000 rules, 200,000 sessions), after it (64,000 and
# 1,000,000) with its tables on base pages, and after it with its tables packed on hugepages.
#
#   scripts/demo.sh [--json FILE]
#
#   --json FILE  keeps the three summaries as one JSON array
#
# As root it installs packages and reserves hugepages, and gives the hugepages back. As anybody else,
# or without hugepages, it runs what can be run and says what could not be shown. Under 5 minutes;
# building the tables takes up to 6 GB of memory for some seconds.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
. scripts/lib.sh

PACKED_PAGES=400 # 2 MiB pages that hold 64,000 rules and 1,000,000 sessions
EAL_PAGES=128    # and those of three EALs with their packets

json=
while [ $# -gt 0 ]; do
	case $1 in
	--json)
		json=${2:-}
		[ -n "$json" ] || { say "--json needs a file"; exit 2; }
		shift
		;;
	-h | --help)
		sed -n '4,/^set/s/^# \{0,1\}//p' scripts/demo.sh
		exit 0
		;;
	*)
		say "unknown option '$1'; see scripts/demo.sh --help"
		exit 2
		;;
	esac
	shift
done

build() {
	local how=
	[ -f build/build.ninja ] && how=--reconfigure
	mkdir -p build
	if ! { meson setup $how build && ninja -C build demo/hpfwd; } </dev/null >build/demo.log 2>&1; then
		tail -n 20 build/demo.log >&2
		say "the build failed; the whole log is build/demo.log"
		return 1
	fi
	is_root && [ -n "${SUDO_UID:-}" ] && chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" build
	return 0
}

packages_install build dpdk || exit 3
say "building"
build || exit 3

at_exit_give_back
pool_reserve 2048 $((PACKED_PAGES + EAL_PAGES))
free=$(pool_free 2048)
packed=hpm:2M
notes=()
eal=(--no-shconf --no-pci --no-telemetry --log-level error -m 64)
# From one mount, so that the packets of all three lie on pages of one size.
if [ "$free" -ge $((PACKED_PAGES + EAL_PAGES)) ] && huge_mount 2048; then
	eal+=(--huge-dir "$HUGE_DIR" --huge-unlink)
else
	eal+=(--no-huge)
	notes+=(--note "packets (mbuf, rings, eal) lie on base pages in all three")
fi
if [ "$free" -lt "$PACKED_PAGES" ]; then
	packed=hpm:4K
	notes+=(--note "hugepages could not be shown: $free of $PACKED_PAGES pages of 2 MiB are free; as root: echo $PACKED_PAGES > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
fi

rc=0
python3 scripts/turns.py ${json:+--json "$json"} ${notes[@]+"${notes[@]}"} \
	--packed "$packed" -- build/demo/hpfwd "${eal[@]}" || rc=$?
give_back || { say "could not give back all hugepages and mounts"; rc=1; }
exit $rc

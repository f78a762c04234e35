#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Installs what is missing, builds three times and runs every test. As root it reserves hugepages
# for the time of the tests and gives them back; as anybody else it says what it could not do and
# runs the rest.
#
#   scripts/test.sh [--quick] [--no-pool-check]
#
#   --quick          build/ only, without the sanitizers and the emulated machines
#   --no-pool-check  other programs take hugepages meanwhile: do not compare the pools
#
# The last line reads `N passed, N failed, N skipped`; the exit status is 0 when none failed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
. scripts/lib.sh

quick=
pool_check=yes
for arg in "$@"; do
	case $arg in
	--quick) quick=yes ;;
	--no-pool-check) pool_check= ;;
	-h | --help)
		sed -n '4,/^set/s/^# \{0,1\}//p' scripts/test.sh
		exit 0
		;;
	*)
		say "unknown option '$arg'; see scripts/test.sh --help"
		exit 2
		;;
	esac
done

# A sanitizer's report ends the test it is in. What belongs to other libraries is named, with the
# reason, in tests/*.supp.
supp() {
	[ -f "tests/$1.supp" ] && echo ":suppressions=$PWD/tests/$1.supp"
}
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:halt_on_error=1:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1$(supp ubsan)}
export LSAN_OPTIONS=${LSAN_OPTIONS:-print_suppressions=0$(supp lsan)}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1$(supp tsan)}

builds=()   # directories, in order
problems=() # --problem SENTENCE for the summary

# Shadow memory of gcc 12's sanitizers collides with the widest address randomisation.
fixed_addresses=
setarch -R true 2>/dev/null && fixed_addresses="setarch -R"

configure() {
	local dir=$1 how=
	shift
	[ -f "$dir/build.ninja" ] && how=--reconfigure
	meson setup $how "$dir" "$@" </dev/null
}

# build_and_test DIR TIMEOUT_FACTOR MESON_OPTION...
build_and_test() {
	local dir=$1 factor=$2
	shift 2
	builds+=("$dir")
	rm -f "$dir/meson-logs/testlog.json"
	printf '\n== %s\n' "$dir"
	mkdir -p "$dir"
	if ! { configure "$dir" "$@" && ninja -C "$dir" </dev/null; } >"$dir/test.log" 2>&1; then
		tail -n 40 "$dir/test.log"
		say "$dir: does not build, the whole log is $dir/test.log"
		return 1
	fi
	$fixed_addresses meson test -C "$dir" --no-rebuild --print-errorlogs -t "$factor" \
		${quick:+--no-suite guest} </dev/null
}

# A page that stays away is a page that somebody leaked.
compare_pools() {
	local now
	[ -n "$pool_check" ] || return 0
	now=$(pool_table)
	[ "$now" = "$1" ] && return 0
	say "hugepage pools before:" "$1"
	say "hugepage pools after:" "$now"
	problems+=(--problem "hugepage pools are not as full $2 as before")
}

# What root built the user who called sudo is to be able to rebuild.
hand_over() {
	is_root && [ -n "${SUDO_UID:-}" ] && chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "${builds[@]}"
}

packages_install build dpdk tests || say "going on without them"
if [ -z "$quick" ]; then
	if ! { packages_install guest && guest_kernel build/guest; }; then
		say "going on without emulated guests"
	fi
fi
at_exit_give_back
untouched=$(pool_table)
pool_reserve 1048576 2 # first: only unfragmented memory has any
pool_reserve 2048 1024
huge_mount 2048
full=$(pool_table)

build_and_test build 1 -Dwerror=true
if [ -z "$quick" ]; then
	build_and_test build-asan 3 -Db_sanitize=address,undefined -Db_lundef=false
	build_and_test build-tsan 5 -Db_sanitize=thread -Db_lundef=false -Ddpdk=disabled
fi

compare_pools "$full" "after the tests"
give_back || problems+=(--problem "could not give back all hugepages and mounts")
compare_pools "$untouched" "at the end"
hand_over
echo
python3 scripts/test-summary.py ${problems[@]+"${problems[@]}"} "${builds[@]}"

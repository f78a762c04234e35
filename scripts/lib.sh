# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# What scripts/test.sh and scripts/demo.sh share: packages, hugepage pools, mounts. Sourced, never
# run; bash with set -u in mind. Nothing is done to the machine that give_back cannot undo, and
# nothing that was there before is lowered, unmounted or removed.
#
# Functions that change the machine keep what they did in variables of this shell: call them
# directly, never inside $( ), or give_back will not know.
#
#   say TEXT                      one line to stderr
#   is_root                       true for the superuser
#   at_exit_give_back             arms give_back for every way out but kill -9
#   give_back                     pools, mounts and scratch directories as they were before
#
#   packages_of GROUP...          names from packages.txt, one a line
#   packages_missing GROUP...     those of them that are not installed, one a line
#   packages_install GROUP...     installs what is missing if it can; 1 when something is missing still
#   guest_kernel DIR              DIR/boot/vmlinuz-* for emulated guests, from the package; 1 and a
#                                 line that says why when there is none
#
#   pool_sizes                    page sizes of this kernel in KiB, largest first
#   pool_free KIB                 free pages of one size, all nodes together; 0 without such a size
#   pool_table                    "node0 2048 total 1536 free 1536", a line per node and size
#   pool_reserve KIB WANTED       raises the pools until WANTED pages are free, as far as memory
#                                 goes; 1 and a line that says why when there are fewer
#   pools_restore                 gives back what pool_reserve added; 1 when the kernel kept some
#
#   huge_mount KIB                HUGE_DIR = a writable hugetlbfs mount of that page size, mounted
#                                 for us if there is none; 1 and a line that says why when it fails
#   mounts_restore                unmounts what huge_mount mounted

LIB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# A test of these functions points these at a tree of plain files.
POOL_ROOT=${POOL_ROOT:-}
# Never more than a quarter of what is available now goes into pools, whoever asks how often.
POOL_BUDGET_KIB=${POOL_BUDGET_KIB:-}

POOL_FILES=() # nr_hugepages files that were raised
POOL_ADDED=() # by how many pages each
MOUNTED=()    # directories that huge_mount made and mounted
ARMED=        # at_exit_give_back was called
HUGE_DIR=

say() {
	printf '%s\n' "$*" >&2
}

is_root() {
	[ "$(id -u)" -eq 0 ]
}

give_back() {
	local rc=0
	hold_signals # a second Ctrl-C must not cut it short
	mounts_restore || rc=1
	pools_restore || rc=1
	return $rc
}

at_exit_give_back() {
	trap give_back EXIT
	ARMED=yes
	arm_signals
}

arm_signals() {
	[ -n "$ARMED" ] || return 0
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# Between taking something and writing down that it was taken.
hold_signals() {
	[ -z "$ARMED" ] || trap '' HUP INT TERM
}

# ---- packages

packages_of() {
	local group
	for group in "$@"; do
		awk -v group="$group" '$1 == group { print $2 }' "$LIB_DIR/packages.txt"
	done
}

packages_missing() {
	local package
	for package in $(packages_of "$@"); do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
			grep -q 'install ok installed' || echo "$package"
	done
}

apt_install() {
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		-o DPkg::Lock::Timeout=120 "$@" </dev/null >&2
}

# The lists are fetched only when the packages cannot be had without: on a fresh image there are none.
packages_install() {
	local missing
	if ! command -v dpkg-query >/dev/null; then
		say "not Debian: see scripts/packages.txt for what is needed"
		return 1
	fi
	mapfile -t missing < <(packages_missing "$@")
	[ ${#missing[@]} -eq 0 ] && return 0
	if ! is_root; then
		say "missing packages; as root: apt-get install ${missing[*]}"
		return 1
	fi
	say "installing ${missing[*]}"
	apt_install "${missing[@]}" 2>/dev/null && return 0
	apt-get update -qq </dev/null >&2
	apt_install "${missing[@]}" && return 0
	mapfile -t missing < <(packages_missing "$@")
	say "could not install ${missing[*]}"
	return 1
}

# The package that the metapackage stands for. Downloading needs no root, only package lists.
guest_kernel_download() {
	local package
	package=$(apt-cache depends "$(packages_of guest-kernel)" 2>/dev/null |
		awk '$1 == "Depends:" { print $2; exit }')
	[ -n "$package" ] && (cd "$1" && apt-get download -qq "$package" </dev/null >/dev/null 2>&1)
}

# A subshell, so that its own trap removes what an interrupted download leaves.
guest_kernel() (
	[ -z "$(find "$1/boot" -name 'vmlinuz-*' 2>/dev/null)" ] || return 0
	mkdir -p "$1" || return 1
	new=$(mktemp -d "$1/new.XXXXXX") || return 1
	trap 'rm -rf "$new"' EXIT
	trap 'exit 143' HUP INT TERM
	if ! guest_kernel_download "$new"; then
		is_root && apt-get update -qq </dev/null >&2
		guest_kernel_download "$new" || {
			say "could not download a kernel for emulated guests"
			return 1
		}
	fi
	dpkg-deb --fsys-tarfile "$new"/*.deb | tar -xf - -C "$new" ./boot && mv "$new/boot" "$1/boot"
)

# ---- hugepage pools

pool_sizes() {
	local dir
	for dir in "$POOL_ROOT"/sys/kernel/mm/hugepages/hugepages-*kB; do
		[ -d "$dir" ] && basename "$dir" | tr -dc '0-9\n'
	done | sort -rn
}

# The directories of one page size, one per node with such a pool; the global one where the kernel
# knows no nodes.
pool_dirs() {
	local dir found=
	for dir in "$POOL_ROOT"/sys/devices/system/node/node[0-9]*/hugepages/hugepages-"$1"kB; do
		[ -d "$dir" ] && found=1 && echo "$dir"
	done
	dir=$POOL_ROOT/sys/kernel/mm/hugepages/hugepages-$1kB
	[ -z "$found" ] && [ -d "$dir" ] && echo "$dir"
	return 0
}

pool_free() {
	local dir n sum=0
	for dir in $(pool_dirs "$1"); do
		read -r n <"$dir/free_hugepages" && sum=$((sum + n))
	done
	echo "$sum"
}

pool_table() {
	local size dir node total free
	for size in $(pool_sizes); do
		for dir in $(pool_dirs "$size"); do
			node=${dir%/hugepages/*}
			read -r total <"$dir/nr_hugepages"
			read -r free <"$dir/free_hugepages"
			echo "${node##*/} $size total $total free $free"
		done
	done
}

pool_budget() {
	[ -n "$POOL_BUDGET_KIB" ] && return
	POOL_BUDGET_KIB=$(awk '$1 == "MemAvailable:" { print int($2 / 4) }' "$POOL_ROOT/proc/meminfo")
	POOL_BUDGET_KIB=${POOL_BUDGET_KIB:-0}
}

# pool_raise DIR KIB PAGES: adds up to PAGES pages; POOL_GOT says how many the kernel gave. Writing
# too large a number succeeds and gives less, so it is read back.
pool_raise() {
	local file=$1/nr_hugepages before after
	POOL_GOT=0
	hold_signals
	read -r before <"$file"
	echo $((before + $3)) 2>/dev/null >"$file"
	read -r after <"$file"
	if [ "$after" -gt "$before" ]; then
		POOL_GOT=$((after - before))
		POOL_BUDGET_KIB=$((POOL_BUDGET_KIB - POOL_GOT * $2))
		POOL_FILES+=("$file")
		POOL_ADDED+=("$POOL_GOT")
	fi
	arm_signals
}

# Shares the missing pages out over the nodes; what a node cannot give is asked of the next, and
# of the first ones again.
pool_share_out() {
	local size=$1 lacking=$2 dirs left dir
	mapfile -t dirs < <(pool_dirs "$size")
	dirs+=("${dirs[@]}")
	left=$((${#dirs[@]} / 2))
	for dir in "${dirs[@]}"; do
		[ "$lacking" -gt 0 ] || return 0
		pool_raise "$dir" "$size" $(((lacking + left - 1) / left))
		lacking=$((lacking - POOL_GOT))
		left=$((left > 1 ? left - 1 : 1))
	done
}

pool_reserve() {
	local size=$1 wanted=$2 free missing fits why=
	free=$(pool_free "$size")
	[ "$free" -ge "$wanted" ] && return 0
	if [ -z "$(pool_dirs "$size")" ]; then
		say "this kernel has no pages of $size KiB"
		return 1
	fi
	if [ -z "$POOL_ROOT" ] && ! is_root; then
		say "$free of $wanted pages of $size KiB are free, and only root can reserve more"
		return 1
	fi
	pool_budget
	missing=$((wanted - free))
	fits=$((POOL_BUDGET_KIB > 0 ? POOL_BUDGET_KIB / size : 0))
	if [ "$missing" -gt "$fits" ]; then
		missing=$fits
		why="a quarter of the available memory is the most we take"
	fi
	pool_share_out "$size" "$missing"
	free=$(pool_free "$size")
	[ "$free" -ge "$wanted" ] && return 0
	say "$free of $wanted pages of $size KiB are free: ${why:-the kernel gave no more (fragmented?)}"
	return 1
}

# Subtracts what we added instead of writing the old number: somebody else may have changed the
# pool since.
pools_restore() {
	local i now left rc=0
	for ((i = ${#POOL_FILES[@]} - 1; i >= 0; i--)); do
		read -r now <"${POOL_FILES[i]}"
		left=$((now > POOL_ADDED[i] ? now - POOL_ADDED[i] : 0))
		echo "$left" >"${POOL_FILES[i]}" || rc=1
		read -r now <"${POOL_FILES[i]}"
		if [ "$now" -ne "$left" ]; then
			say "${POOL_FILES[i]} is $now, should be $left: pages still in use?"
			rc=1
		fi
	done
	POOL_FILES=()
	POOL_ADDED=()
	return $rc
}

# ---- hugetlbfs mounts

# The first writable hugetlbfs mount of a page size in KiB.
huge_mount_find() {
	local dir type options size _
	while read -r _ dir type options _; do
		[ "$type" = hugetlbfs ] || continue
		size=${options##*pagesize=}
		size=${size%%,*}
		case $size in
		*K) size=${size%K} ;;
		*M) size=$((${size%M} * 1024)) ;;
		*G) size=$((${size%G} * 1048576)) ;;
		*) continue ;;
		esac
		[ "$size" -eq "$1" ] && [ -w "$dir" ] && echo "$dir" && return 0
	done </proc/self/mounts
	return 1
}

huge_mount() {
	local dir
	HUGE_DIR=$(huge_mount_find "$1") && return 0
	HUGE_DIR=
	if ! is_root; then
		say "no writable hugetlbfs mount of $1 KiB pages, and only root can mount one"
		return 1
	fi
	dir=$(mktemp -d "${TMPDIR:-/tmp}/hpm-huge.XXXXXX") || return 1
	hold_signals
	if ! mount -t hugetlbfs -o "pagesize=${1}K,mode=0770" none "$dir"; then
		arm_signals
		rmdir "$dir"
		say "could not mount hugetlbfs for $1 KiB pages"
		return 1
	fi
	MOUNTED+=("$dir")
	arm_signals
	# shellcheck disable=SC2034 # for the caller
	HUGE_DIR=$dir
}

mounts_restore() {
	local dir rc=0
	for dir in ${MOUNTED[@]+"${MOUNTED[@]}"}; do
		if umount "$dir"; then
			rmdir "$dir"
		else
			rc=1
		fi
	done
	MOUNTED=()
	return $rc
}

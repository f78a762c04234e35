#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Boots one emulated machine with NUMA nodes, runs a command in it as root, prints what the command
# printed and exits with its status. Emulated in software (TCG): needs no rights and no KVM.
#
#   guest.sh KERNEL_DIR [OPTION]... -- SHELL_COMMAND
#
#   --memory LIST     MiB per node; node 0 has 1024 of them below 4 GiB; 0: a node without memory
#   --cpuless LIST    nodes without a CPU; every other has one
#   --dimm NODE:MIB   memory of a node that can be taken offline
#   --pages-2m SPEC   2 MiB pages at boot, e.g. 0:64,1:64
#   --pages-1g SPEC   1 GiB pages at boot
#   --file FILE       a program for the guest's /t, with its libraries; repeatable
#   --timeout SEC     120
#
# Exit: the command's status; 124 the time was up, 125 the guest ended without a status; in both
# cases the end of the kernel's log is shown. 126: a wrong call, or something is missing here.
set -u

say() {
	printf 'guest: %s\n' "$*" >&2
}

kernel=$(find "${1:?KERNEL_DIR}" -path '*/boot/vmlinuz-*' 2>/dev/null | sort -V | tail -n 1)
shift
memory=1536 cpuless='' dimm='' pages_2m='' pages_1g='' limit=120 files=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	case $1 in
	--memory) memory=$2 ;;
	--cpuless) cpuless=,$2, ;;
	--dimm) dimm=$2 ;;
	--pages-2m) pages_2m=$2 ;;
	--pages-1g) pages_1g=$2 ;;
	--file) files+=("$2") ;;
	--timeout) limit=$2 ;;
	*) say "unknown option '$1'" && exit 126 ;;
	esac
	shift 2
done
[ $# -eq 2 ] || { say "wants one command after --" && exit 126; }
command=$2
for tool in qemu-system-x86_64 busybox cpio; do
	command -v $tool >/dev/null || { say "no $tool here" && exit 126; }
done
[ -r "$kernel" ] || { say "no kernel here" && exit 126; }

work=$(mktemp -d "${TMPDIR:-/tmp}/hpm-guest.XXXXXX") || exit 126
qemu=
# timeout(1) leads a process group of its own, which Ctrl-C does not reach.
# shellcheck disable=SC2317 # called by the trap
clean() {
	trap '' HUP INT TERM # a second signal must not cut it short
	[ -z "$qemu" ] || { kill "$qemu" 2>/dev/null && wait "$qemu" 2>/dev/null; }
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Everything is in the initramfs: the cloud kernel has its disk drivers as modules.
initramfs() {
	local root=$work/root file
	mkdir -p "$root"/{bin,proc,sys,dev,tmp,run,etc,t,var,lib64,usr/lib}
	ln -s usr/lib "$root/lib"
	ln -s /run "$root/var/run"
	cp "$(command -v busybox)" "$root/bin/busybox"
	for file in ${files[@]+"${files[@]}"}; do
		cp "$file" "$root/t/"
		ldd "$file" 2>/dev/null | grep -o '/[^ ]*'
	done | sort -u >"$work/libraries"
	while read -r file; do
		mkdir -p "$root/$(dirname "$file")"
		cp -L "$file" "$root/$file"
	done <"$work/libraries"
	printf '%s\n' "$command" >"$root/command"
	cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/t:/bin HOME=/
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /run
mount -t cgroup2 cgroup /sys/fs/cgroup
chmod 1777 /tmp
stty -F /dev/ttyS1 raw -echo
exec >/dev/ttyS1 2>&1 </dev/null
cd /t
sh /command
echo "@@status $?"
sleep 0.2
poweroff -f
INIT
	chmod 755 "$root/init"
	(cd "$root" && find . | cpio -o -H newc --quiet -R 0:0) >"$work/initrd"
}

# machine: the nodes, as QEMU's arguments.
machine() {
	local sizes node other cpus=0 total=0
	IFS=, read -ra sizes <<<"$memory"
	args=()
	for node in "${!sizes[@]}"; do
		local numa=node,nodeid=$node
		if [ "${sizes[node]}" -gt 0 ]; then
			args+=(-object "memory-backend-ram,id=m$node,size=${sizes[node]}M")
			numa+=,memdev=m$node
		fi
		[[ $cpuless == *,$node,* ]] || { numa+=,cpus=$cpus && cpus=$((cpus + 1)); }
		args+=(-numa "$numa")
		total=$((total + sizes[node]))
	done
	for node in "${!sizes[@]}"; do
		for other in "${!sizes[@]}"; do
			[ "$node" = "$other" ] || args+=(-numa "dist,src=$node,dst=$other,val=20")
		done
	done
	args+=(-smp "$cpus,sockets=$cpus,cores=1,threads=1")
	if [ -n "$dimm" ]; then
		args+=(-m "${total}M,slots=2,maxmem=$((total + 4096))M"
			-object "memory-backend-ram,id=plug,size=${dimm#*:}M"
			-device "pc-dimm,memdev=plug,node=${dimm%:*}")
	else
		args+=(-m "${total}M")
	fi
}

boot_line() {
	printf 'console=ttyS0 panic=-1 nokaslr mitigations=off random.trust_cpu=on'
	printf ' cryptomgr.notests numa_balancing=disable'
	[ -z "$dimm" ] || printf ' memhp_default_state=online_movable'
	[ -z "$pages_1g" ] || printf ' hugepagesz=1G hugepages=%s' "$pages_1g"
	[ -z "$pages_2m" ] || printf ' hugepagesz=2M hugepages=%s' "$pages_2m"
}

initramfs || { say "cannot make the initramfs" && exit 126; }
machine
# erms=off: TCG runs "rep stosb" byte by byte, and clearing a 1 GiB page would take 16 s.
timeout -k 5 "$limit" qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot \
	-machine q35,accel=tcg,max-ram-below-4g=1024M -cpu max,la57=off,erms=off "${args[@]}" \
	-kernel "$kernel" -initrd "$work/initrd" -append "$(boot_line)" \
	-serial "file:$work/console" -serial "file:$work/output" </dev/null >&2 &
qemu=$!
wait "$qemu"
ended=$?
qemu=

grep -av '^@@status ' "$work/output"
status=$(sed -n 's/^@@status \([0-9]\{1,3\}\)$/\1/p' "$work/output" | tail -n 1)
[ -n "$status" ] && exit "$status"
say "no status from the guest (qemu ended with $ended); the end of its log:"
tail -n 25 "$work/console" >&2
[ "$ended" -eq 124 ] && exit 124
exit 125

# SPDX-License-Identifier: BSD-3-Clause
"""What arenas do on machines with several NUMA nodes, each emulated by guest.sh. A machine boots once
for all its rows. A row that reports no status has failed, whatever the reason; without QEMU or a
kernel the whole is a skip.

matrix.py KERNEL_DIR GUEST_TEST [ASAN_GUEST_TEST]      run all
matrix.py --self-test KERNEL_DIR                       guests without a status are failures"""

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

GUEST = Path(__file__).with_name('guest.sh')
TOOLS = ('qemu-system-x86_64', 'busybox', 'cpio')
SKIPPED = 77

EPERM, ENOMEM, EINVAL = 1, 12, 22
POOL_LINE = 'try: echo {} >/sys/devices/system/node/node{}/hugepages/hugepages-2048kB/nr_hugepages'


def refused(node, pages, errno, *texts, shift=21):
    quoted = ' '.join(f"'{text}'" for text in texts)
    return f'guest_test refused {node} {shift} {pages} {errno} {quoted}'


def in_cgroup(settings, command):
    """A command in a cgroup with these files written: {file: value}."""
    writes = '; '.join(f'echo {value} >$group/{file}' for file, value in settings.items())
    return (f'group=/sys/fs/cgroup/row; echo +hugetlb +cpuset >/sys/fs/cgroup/cgroup.subtree_control; '
            f'mkdir $group && {{ {writes}; }} && '
            f'sh -c "echo \\$\\$ >$group/cgroup.procs; exec {command}"; '
            f'status=$?; rmdir $group && exit $status')


# Machine: (options of guest.sh, [(row, command), ...]). 'pools move' in a row's name stands for
# what offlining does; all others leave every pool of every node as it was.
MACHINES = {
    'two nodes': (['--memory', '1536,512', '--pages-2m', '0:64,1:64'], [
        ('an arena on node 1 lands there', 'guest_test lands 1 21 8'),
        ('an arena on node 0 lands there', 'guest_test lands 0 21 8'),
        ('each CPU is served by its node', 'guest_test local 21'),
        ('an exhausted node takes nothing from the other', 'guest_test exhausted 1 21'),
        ('more than one node has, though both together do',
         refused(1, 65, ENOMEM, 'node 1 has 64 free pages of 2 MiB, wanted 65', POOL_LINE.format(65, 1))),
        ('more than both nodes have', refused(1, 200, ENOMEM, 'node 1', 'wanted 200')),
        ('a node that does not exist', refused(5, 1, EINVAL, 'no node 5')),
        ('a cgroup limit on use',
         in_cgroup({'hugetlb.2MB.max': '8M'}, refused(1, 8, ENOMEM, 'node 1', 'hugetlb'))),
        ('a cgroup limit on reservations',
         in_cgroup({'hugetlb.2MB.rsvd.max': '8M'}, refused(1, 8, ENOMEM, 'node 1', 'hugetlb'))),
        ('within a cgroup limit', in_cgroup({'hugetlb.2MB.max': '16M'}, 'guest_test lands 1 21 8')),
        ('a cpuset without the node',
         in_cgroup({'cpuset.mems': '0'}, refused(1, 8, EPERM, 'node 1', 'cpuset.mems'))),
        ('a cpuset with the node', in_cgroup({'cpuset.mems': '1'}, 'guest_test lands 1 21 8')),
        ('an ordinary user', 'guest_test -u 1000 lands 1 21 8'),
        ('an ordinary user on an exhausted node', 'guest_test -u 1000 exhausted 1 21'),
        ('under AddressSanitizer', 'guest_test_asan lands 1 21 8'),
        ('an exhausted node under AddressSanitizer', 'guest_test_asan exhausted 1 21'),
    ]),
    'a node without pages': (['--memory', '1536,512', '--pages-2m', '0:64'], [
        ('names the node and the line', refused(
            1, 8, ENOMEM, 'node 1 has 0 free pages of 2 MiB, wanted 8', POOL_LINE.format(8, 1))),
        ('the line is the cure', 'cd /sys/devices/system/node/node1/hugepages/hugepages-2048kB; '
         'echo 8 >nr_hugepages; guest_test lands 1 21 8; status=$?; echo 0 >nr_hugepages; exit $status'),
        ('the other node still gives', 'guest_test lands 0 21 8'),
    ]),
    'four nodes, one without a CPU': (
        ['--memory', '1536,512,512,512', '--cpuless', '3', '--pages-2m', '0:16,1:16,2:16,3:16'], [
            *((f'an arena on node {node} lands there', f'guest_test lands {node} 21 8')
              for node in range(4)),
            ('each CPU is served by its node', 'guest_test local 21'),
            ('node 2 exhausted', 'guest_test exhausted 2 21'),
            ('node 3 exhausted', 'guest_test exhausted 3 21'),
        ]),
    'a node without memory': (['--memory', '1536,512,0', '--pages-2m', '0:16,1:16'], [
        ('is refused', refused(2, 8, EPERM, 'node 2', 'has no memory')),
        ('the others give', 'guest_test lands 1 21 8'),
    ]),
    'a node that goes offline': (
        ['--memory', '1536,0', '--dimm', '1:512', '--pages-2m', '0:64'], [
            ('moved pages are told (pools move)',
             'echo 16 >/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages; '
             'guest_test moved 1 21 8'),
        ]),
    # A node that has n pages of 1 GiB needs n aligned GiB and some slack above for the kernel's own:
    # from 4 GiB on, node 0 has [4, 5.125) GiB, node 1 [5.125, 7.125).
    '1 GiB pages': (['--memory', '2176,2048', '--pages-1g', '0:1,1:1', '--pages-2m', '0:8,1:8'], [
        ('on node 0', 'guest_test lands 0 30 1'),
        ('on node 1', 'guest_test lands 1 30 1'),
        ('two on node 1, though both nodes together have them',
         refused(1, 2, ENOMEM, 'node 1 has 1 free pages of 1 GiB, wanted 2', shift=30)),
    ]),
}


def guest_script(rows):
    """Each row in a shell of its own, pools compared around it, its status on a line."""
    lines = ['pools() { grep . /sys/devices/system/node/node*/hugepages/*/*_hugepages; }']
    for number, (name, command) in enumerate(rows):
        lines.append(f'echo "@@row {number}"; pools >/tmp/before; ( {command} ); status=$?')
        if 'pools move' not in name:
            lines.append('pools >/tmp/after; cmp -s /tmp/before /tmp/after || '
                         '{ echo "pools are not as before"; diff /tmp/before /tmp/after; status=1; }')
        lines.append(f'echo "@@ended {number} $status"')
    return '\n'.join([*lines, 'exit 0'])


def boot(kernel_dir, options, script):
    """(status, output) of one guest. Its clean-up is waited for whatever ends us."""
    command = [str(GUEST), kernel_dir, *options, '--', script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace') as guest:
        try:
            output, _ = guest.communicate()
        except BaseException:
            guest.terminate()
            guest.wait()
            raise
    return guest.returncode, output


def row_results(rows, output):
    """[(row, status or None, what it printed)]; None: the guest reported nothing."""
    results = []
    for number, (name, _) in enumerate(rows):
        said = re.search(rf'^@@row {number}\n(.*?)(?=^@@row |\Z)', output, re.M | re.S)
        ended = re.search(rf'^@@ended {number} (\d+)$', output, re.M)
        said = re.sub(r'^@@.*\n?', '', said[1], flags=re.M).strip() if said else ''
        results.append((name, int(ended[1]) if ended else None, said))
    return results


def run(kernel_dir, programs):
    files = [part for program in programs for part in ('--file', program)]
    have_asan = any('asan' in Path(program).name for program in programs)
    failed = 0
    for machine, (options, rows) in MACHINES.items():
        rows = [row for row in rows if have_asan or 'guest_test_asan' not in row[1]]
        start = time.monotonic()
        status, output = boot(kernel_dir, options + files, guest_script(rows))
        print(f'{machine}: {time.monotonic() - start:.1f} s')
        if status != 0:
            print(f'  FAILED the guest itself: status {status}\n{output}')
            failed += 1
        for name, ended, said in row_results(rows, output):
            print(f'  {"ok    " if ended == 0 else "FAILED"} {name}', flush=True)
            if said:
                print('           ' + said.replace('\n', '\n           '))
            if ended != 0:
                print(f'           status {"none" if ended is None else ended}')
                failed += 1
    print(f'{failed} failed')
    return 1 if failed else 0


def self_test(kernel_dir):
    """What a guest that dies, hangs, lies or is cut short comes to."""
    rows = [('good', 'true'), ('bad', 'exit 3'), ('dead', 'poweroff -f; sleep 9'), ('late', 'true')]
    status, output = boot(kernel_dir, [], guest_script(rows))
    assert status == 125 and 'no status from the guest' in output, (status, output)
    assert [row[1] for row in row_results(rows, output)] == [0, 3, None, None], output
    assert boot(kernel_dir, [], 'exit 7')[0] == 7
    assert boot(kernel_dir, ['--timeout', '8'], 'sleep 60')[0] == 124
    assert boot(kernel_dir, [], 'echo 0 >/proc/sys/kernel/panic_on_oops; echo c >/proc/sysrq-trigger'
                )[0] == 125
    taking = [('keeps', 'cd /sys/kernel/mm/hugepages/hugepages-2048kB; echo 9 >nr_hugepages')]
    assert row_results(taking, boot(kernel_dir, [], guest_script(taking))[1])[0][1] == 1
    return 0


def main():
    arguments = sys.argv[1:]
    testing = arguments[0] == '--self-test'
    kernel_dir, *programs = arguments[testing:]
    lacking = [tool for tool in TOOLS if shutil.which(tool) is None]
    if not list(Path(kernel_dir).glob('boot/vmlinuz-*')):
        lacking.append(f'a kernel in {kernel_dir}')
    if lacking:
        print(f'skipped: lacking {", ".join(lacking)}; scripts/test.sh installs them as root',
              file=sys.stderr)
        return SKIPPED
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    return self_test(kernel_dir) if testing else run(kernel_dir, programs)


raise SystemExit(main())

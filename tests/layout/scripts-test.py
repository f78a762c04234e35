# SPDX-License-Identifier: BSD-3-Clause
"""scripts/lib.sh raises and gives back hugepage pools of the whole machine: what it would do is tried
here on a tree of plain files. scripts/test-summary.py has the last word on a test run: that it
cannot overlook a failure is tried on logs written here.

scripts-test.py ROOT"""

import json
import subprocess
import sys
from pathlib import Path

import tree

ROOT = Path(sys.argv[1])
POOL = 'sys/devices/system/node/node{}/hugepages/hugepages-2048kB/{}_hugepages'


def host(nodes, available_kib=1 << 30):
    """A machine with pools of 2 MiB pages: nodes = [(total, free), ...]."""
    content = {'proc/meminfo': f'MemTotal: 1 kB\nMemAvailable: {available_kib} kB\n',
               'sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages': '0\n'}
    for node, (total, free) in enumerate(nodes):
        content[POOL.format(node, 'nr')] = f'{total}\n'
        content[POOL.format(node, 'free')] = f'{free}\n'
    return tree.Bad(content)


def shell(fake, script):
    """Runs a script after lib.sh; returns (status, stdout, stderr)."""
    done = subprocess.run(['bash', '-uc', f'. {ROOT}/scripts/lib.sh\n{script}'],
                          capture_output=True, text=True, check=False,
                          env={'PATH': '/usr/bin:/bin', 'POOL_ROOT': fake})
    return done.returncode, done.stdout, done.stderr


def totals(fake, nodes):
    return [int((Path(fake) / POOL.format(node, 'nr')).read_text()) for node in range(nodes)]


def free_pages_are_counted_over_all_nodes():
    with host([(5, 3), (4, 4)]) as fake:
        assert shell(fake, 'pool_free 2048; pool_free 1048576')[1] == '7\n0\n'
        assert shell(fake, 'pool_sizes')[1] == '2048\n'
        assert shell(fake, 'pool_table')[1] == (
            'node0 2048 total 5 free 3\nnode1 2048 total 4 free 4\n')


def enough_free_pages_change_nothing():
    with host([(5, 3), (4, 4)]) as fake:
        assert shell(fake, 'pool_reserve 2048 7; echo $?; pools_restore')[1] == '0\n'
        assert totals(fake, 2) == [5, 4]


def what_is_missing_is_added_and_given_back():
    with host([(5, 3), (4, 4)]) as fake:
        shell(fake, f'pool_reserve 2048 10; cat {fake}/sys/devices/system/node/node?/hugepages/'
              f'*/nr_hugepages >{fake}/seen; give_back')
        # plain files never show the new pages as free, so it asks both nodes for the three once
        assert (Path(fake) / 'seen').read_text() == '7\n5\n'
        assert totals(fake, 2) == [5, 4]


def pages_that_somebody_adds_meanwhile_stay():
    with host([(5, 3), (4, 4)]) as fake:
        file = f'{fake}/{POOL.format(0, "nr")}'
        shell(fake, f'pool_reserve 2048 10; echo 17 >{file}; give_back')
        assert totals(fake, 2) == [15, 4]


def every_way_out_gives_back():
    for way, status in (('exit 3', 3), ('kill -TERM $$; sleep 9', 143), ('kill -INT $$; :', 130)):
        with host([(5, 3)]) as fake:
            assert shell(fake, f'at_exit_give_back; pool_reserve 2048 10\n{way}')[0] == status
            assert totals(fake, 1) == [5]


def never_more_than_a_quarter_of_the_available_memory():
    with host([(0, 0)], available_kib=80 * 1024) as fake:
        status, _, says = shell(fake, 'pool_reserve 2048 100')
        assert status == 1 and 'quarter of the available memory' in says, says
        assert totals(fake, 1) == [10]
    with host([(0, 0)], available_kib=80 * 1024) as fake:  # all calls together
        shell(fake, 'pool_reserve 2048 6; pool_reserve 2048 100; pool_reserve 2048 100')
        assert totals(fake, 1) == [10]


def a_size_the_kernel_lacks_is_said():
    with host([(1, 1)]) as fake:
        status, _, says = shell(fake, 'pool_reserve 16384 1')
        assert status == 1 and 'no pages of 16384 KiB' in says, says


def every_listed_package_has_a_group():
    with host([]) as fake:
        listed = [line for line in (ROOT / 'scripts/packages.txt').read_text().splitlines()
                  if line and not line.startswith('#')]
        names = shell(fake, 'packages_of build dpdk tests guest guest-kernel')[1].split()
        assert names and len(names) == len(listed), (names, listed)


def summary(records, *options):
    content = {'b/meson-logs/testlog.json': ''.join(json.dumps(r) + '\n' for r in records)}
    with tree.Bad(content) as where:
        done = subprocess.run([sys.executable, ROOT / 'scripts/test-summary.py', *options, 'b'],
                              cwd=where, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def record(name, result, **more):
    return {'name': f'libhpmem:unit / {name}', 'result': result, 'stdout': ''} | more


def the_last_line_counts():
    status, lines = summary([record('a', 'OK'), record(
        'b', 'SKIP', stderr='noise\nskipped: no 1 GiB pages\n')])
    assert status == 0 and lines[-1] == '1 passed, 0 failed, 1 skipped', lines
    assert '  skipped b: no 1 GiB pages' in lines, lines


def no_failure_is_overlooked():
    for result in ('FAIL', 'TIMEOUT', 'ERROR', 'INTERRUPT', 'UNEXPECTEDPASS'):
        status, lines = summary([record('a', 'OK'), record('b', result, returncode=1)])
        assert status == 1 and lines[-1] == '1 passed, 1 failed, 0 skipped', lines
    assert summary([]) == (1, ['b: no test ran, see above', '0 passed, 1 failed, 0 skipped'])
    status, lines = summary([record('a', 'OK')], '--problem', 'pools leak')
    assert status == 1 and lines[-2:] == ['failed: pools leak', '1 passed, 1 failed, 0 skipped']


for test in (free_pages_are_counted_over_all_nodes, enough_free_pages_change_nothing,
             what_is_missing_is_added_and_given_back, pages_that_somebody_adds_meanwhile_stay,
             every_way_out_gives_back, never_more_than_a_quarter_of_the_available_memory,
             a_size_the_kernel_lacks_is_said, every_listed_package_has_a_group,
             the_last_line_counts, no_failure_is_overlooked):
    print(test.__name__, flush=True)
    test()

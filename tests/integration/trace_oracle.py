#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Page counts of a window against an exact trace of every load and store.

    trace_oracle.py WORKLOAD PAGE_SHIFT

Runs the workload twice: alone, counting by window, and under valgrind's lackey, which prints each
memory access. The distinct pages in the trace between the workload's markers must be those that the
window counted, tag by tag. Status 77: valgrind or pages are missing."""

import shutil
import subprocess
import sys
import tempfile

SKIP = 77


def run(command):
    """The words of each line that a program printed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(SKIP if done.returncode == SKIP else
                 f'{" ".join(command)}: exit status {done.returncode}')
    return [line.split() for line in done.stdout.splitlines()]


def data_accesses(log):
    """(address, bytes, is it a store) of each access of lackey's trace; 'M' is load and store."""
    for line in log:
        if line[:2] in (' L', ' S', ' M'):
            address, size = line[3:].split(',')
            yield int(address, 16), int(size), line[1] != 'L'


def between(accesses, first, last):
    """The accesses behind a store to one address and before a store to another."""
    for address, _, store in accesses:
        if store and address == first:
            break
    for address, size, store in accesses:
        if store and address == last:
            return
        yield address, size
    sys.exit('the trace ends before the work does')


def traced(workload, shift):
    """{tag: distinct pages} and their union, by the trace."""
    with tempfile.NamedTemporaryFile('r', encoding='ascii', errors='replace') as log:
        said = run(['valgrind', '--tool=lackey', '--trace-mem=yes', f'--log-file={log.name}',
                    workload, shift, 'trace'])
        first, last = next([int(word, 16) for word in words[1:]]
                           for words in said if words[0] == 'markers')
        ranges = [(words[1], int(words[2], 16), int(words[3]))
                  for words in said if words[0] == 'range']
        touched = {tag: set() for tag, _, _ in ranges}
        for address, size in between(data_accesses(log), first, last):
            for tag, start, length in ranges:
                if start <= address < start + length:
                    touched[tag].update({address >> int(shift), address + size - 1 >> int(shift)})
    pages = {tag: len(found) for tag, found in touched.items()}
    pages['total'] = len(set().union(*touched.values()))
    return pages


def counted(workload, shift):
    """The same by the window."""
    return {words[1]: int(words[2]) for words in run([workload, shift, 'count'])
            if words[0] == 'touched'}


def main():
    workload, shift = sys.argv[1:]
    if shutil.which('valgrind') is None:
        print('skipped: valgrind is not installed', file=sys.stderr)
        return SKIP
    by_window, by_trace = counted(workload, shift), traced(workload, shift)
    print(f'window {by_window}\ntrace  {by_trace}')
    if len(by_trace) != 5 or min(by_trace.values()) == 0:
        sys.exit('the workload touched nothing: the oracle would agree with anything')
    return 0 if by_window == by_trace else 1


if __name__ == '__main__':
    sys.exit(main())

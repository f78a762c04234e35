# SPDX-License-Identifier: BSD-3-Clause
"""What the test runs of some build directories come to: per build the numbers, each failure, each
skip with its reason, and as the last line `N passed, N failed, N skipped`. Exit 1 on any failure.

test-summary.py [--problem SENTENCE]... BUILD_DIR...

A build without a test log did not get as far as its tests and counts as one failure, as does each
problem found outside the tests."""

import argparse
import json
from pathlib import Path

FAILED = {'FAIL', 'TIMEOUT', 'ERROR', 'INTERRUPT', 'UNEXPECTEDPASS'}
SKIPPED = {'SKIP'}


def results(build):
    """The test records of a build; None if it has not run any."""
    log = Path(build) / 'meson-logs/testlog.json'
    if not log.is_file():
        return None
    return [json.loads(line) for line in log.read_text(encoding='utf-8').splitlines() if line]


def short_name(record):
    return record['name'].split(' / ')[-1].removeprefix('libhpmem:')


def reason(record):
    """Why a test was skipped: the last line it wrote, which tests put on stderr."""
    text = (record.get('stderr') or '').strip() or (record.get('stdout') or '').strip()
    return text.splitlines()[-1].removeprefix('skipped: ') if text else 'gave no reason'


def count(build):
    """Prints one build; returns (passed, failed, skipped)."""
    records = results(build)
    if not records:
        print(f'{build}: no test ran, see above')
        return 0, 1, 0
    failed = [record for record in records if record['result'] in FAILED]
    skipped = [record for record in records if record['result'] in SKIPPED]
    passed = len(records) - len(failed) - len(skipped)
    print(f'{build}: {passed} passed, {len(failed)} failed, {len(skipped)} skipped')
    for record in failed:
        print(f'  failed  {short_name(record)}: {record["result"].lower()}, '
              f'status {record.get("returncode")}')
    for record in skipped:
        print(f'  skipped {short_name(record)}: {reason(record)}')
    return passed, len(failed), len(skipped)


def main():
    options = argparse.ArgumentParser()
    options.add_argument('--problem', action='append', default=[])
    options.add_argument('builds', nargs='+')
    options = options.parse_args()
    totals = [count(build) for build in options.builds]
    for problem in options.problem:
        print(f'failed: {problem}')
    passed, failed, skipped = (sum(column) for column in zip(*totals))
    failed += len(options.problem)
    print(f'{passed} passed, {failed} failed, {skipped} skipped', flush=True)
    return 1 if failed else 0


raise SystemExit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""hpfwd on the samples and on generated rules: the trie of gen:acl:8000 is as large as that of a
ClassBench set of 7,714 rules from seed acl1, which was measured as 13.2 MB."""

import json
import subprocess
import sys
from pathlib import Path

EAL = ['--no-huge', '--no-shconf', '--no-pci', '--no-telemetry', '-m', '512']
RUN = ['--sessions', '1000', '--mem', 'dpdk', '--generate', 'uniform', '--packets', '2000', '--json']
RULE_BYTES = 96  # rte_acl's copy of a rule of five fields
WANT = 13.2e6


def run(hpfwd, inputs):
    ran = subprocess.run([hpfwd, *EAL, '--', *inputs, *RUN], capture_output=True, text=True,
                         check=False)
    if ran.returncode != 0:
        sys.exit(f'{inputs}: status {ran.returncode}: {ran.stderr[-500:]}')
    return json.loads(ran.stdout)


def main(hpfwd, samples):
    result = run(hpfwd, ['--rules', 'gen:acl:8000'])
    acl = next(t['bytes'] for t in result['tables'] if t['tag'] == 'acl')
    trie = acl - 8000 * RULE_BYTES
    if not 0.75 * WANT <= trie <= 1.25 * WANT:
        sys.exit(f'the trie of gen:acl:8000 takes {trie} bytes, not about {WANT:.0f}')
    samples = Path(samples)
    result = run(hpfwd, ['--rules', str(samples / 'acl-200.rules'),
                         '--routes', str(samples / 'small.routes')])
    if (result['rules'], result['routes']) != (200, 64):
        sys.exit(f"the samples hold {result['rules']} rules and {result['routes']} routes")


main(*sys.argv[1:])

# SPDX-License-Identifier: BSD-3-Clause
"""What the layout checks share: the files of the tree, C text without comments, and the two ways a
check is run. A check is a function root -> list of sentences, one for each problem; its self-test
feeds it a small bad tree and wants exactly the problems planted there."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Rooms of libhpmem/ in the order data flows; a room knows only itself and those before it.
ROOMS = ['base', 'topo', 'region', 'arena', 'alloc', 'acl', 'layout', 'account']

SKIP_STATUS = 77


def files(root):
    """Paths below root, relative, that are or could be committed; without git, everything
    but builds."""
    try:
        found = subprocess.run(
            ['git', '-C', root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
            capture_output=True, check=False)
    except FileNotFoundError:
        found = None
    if found and found.returncode == 0:
        names = [os.fsdecode(name) for name in found.stdout.split(b'\0') if name]
    else:
        names = []
        for top, dirs, leaves in os.walk(root):
            dirs[:] = [d for d in dirs if not d.startswith(('build', '.git'))]
            names += [os.path.relpath(os.path.join(top, leaf), root) for leaf in leaves
                      if leaf != '.git']  # a file in a linked work tree
    return sorted(Path(name) for name in set(names) if (Path(root) / name).is_file())


def c_files(root):
    return [path for path in files(root) if path.suffix in ('.c', '.h', '.def')]


def read(root, path):
    return (Path(root) / path).read_text(encoding='utf-8', errors='replace')


TOKEN = re.compile(r'''
    //(?:[^\n\\]|\\.|\\\n)* | /\*.*?(?:\*/|\Z)
  | "(?:[^"\\\n]|\\.|\\\n)*" | '(?:[^'\\\n]|\\.|\\\n)*'
''', re.S | re.X)


def _blank(match, keep_strings):
    text = match.group()
    if text[0] in '"\'':
        return text if keep_strings else text[0] + re.sub(r'[^\n]', ' ', text[1:-1]) + text[-1]
    return re.sub(r'[^\n]', ' ', text)


def without_comments(text):
    """C text with comments blanked out; every line keeps its number."""
    return TOKEN.sub(lambda match: _blank(match, True), text)


def without_words(text):
    """C text with comments, strings and character constants blanked out."""
    return TOKEN.sub(lambda match: _blank(match, False), text)


class Bad:
    """A scratch tree for self-tests: {path: text} written out, removed at the end."""

    def __init__(self, content):
        self.content = content

    def __enter__(self):
        self.dir = tempfile.TemporaryDirectory()
        for name, text in self.content.items():
            path = Path(self.dir.name) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.dir.name

    def __exit__(self, *_):
        self.dir.cleanup()


def expect(problems, wanted):
    """Each wanted fragment is in exactly one problem, and there is no other problem."""
    left = list(problems)
    for fragment in wanted:
        hits = [problem for problem in left if fragment in problem]
        assert len(hits) == 1, f'wanted one problem with {fragment!r}, got {problems}'
        left.remove(hits[0])
    assert not left, f'problems nobody planted: {left}'


def skip(why):
    print(f'skipped: {why}', file=sys.stderr)
    sys.exit(SKIP_STATUS)


def main(check, self_test):
    """check.py --self-test, or check.py ROOT [what this check needs]."""
    if sys.argv[1:] == ['--self-test']:
        self_test()
        return
    problems = check(*sys.argv[1:])
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)

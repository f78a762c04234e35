# SPDX-License-Identifier: BSD-3-Clause
"""Each public header alone, included twice, and its INIT macros used, as C11 or as C++11, without
the GNU extensions and without a warning.

check-headers.py ROOT c|c++ COMPILER [ARGUMENT...]"""

import re
import shutil
import subprocess
from pathlib import Path

import tree

STRICT = ['-Wall', '-Wextra', '-pedantic', '-Wshadow', '-Wundef', '-Werror', '-fsyntax-only']
LANGUAGE = {
    'c': ['-x', 'c', '-std=c11', '-Wc++-compat', '-Wstrict-prototypes'],
    'c++': ['-x', 'c++', '-std=c++11'],
}


def program(root, header):
    """A translation unit of that header alone; HPM_X_OPTS_INIT has to initialise struct hpm_x_opts."""
    text = tree.without_comments(tree.read(root, header))
    lines = [f'#include <hpm/{header.name}>'] * 2
    for macro in re.findall(r'^#define (HPM_\w+)_INIT\b', text, re.M):
        if re.search(rf'struct {macro.lower()}\s*{{', text):
            lines.append(f'extern struct {macro.lower()} probe_{macro.lower()};')
            lines.append(f'struct {macro.lower()} probe_{macro.lower()} = {macro}_INIT;')
    return '\n'.join(lines + ['int main(void);', 'int main(void)', '{', '\treturn 0;', '}', ''])


def check(root, language, *compiler):
    headers = [path for path in tree.files(root)
               if path.parts[:2] == ('include', 'hpm') and path.suffix == '.h']
    if not headers:
        return ['no header in include/hpm']
    if not shutil.which(compiler[0]):
        tree.skip(f'no {language} compiler')
    problems = []
    for header in headers:
        built = subprocess.run(
            [*compiler, *LANGUAGE[language], *STRICT, '-I', str(Path(root) / 'include'), '-'],
            input=program(root, header), capture_output=True, text=True, check=False)
        if built.returncode != 0:
            problems.append(f'{header} alone as {language}:\n{built.stderr}')
    return problems


def self_test():
    good = {
        'include/hpm/good.h':
            '#ifndef GOOD_H\n#define GOOD_H\n#include <stddef.h>\n'
            'struct hpm_good_opts {\n\tsize_t size;\n};\n'
            '#define HPM_GOOD_OPTS_INIT { sizeof(struct hpm_good_opts) }\n#endif\n',
    }
    with tree.Bad(good) as root:
        tree.expect(check(root, 'c', 'cc'), [])
    bad = good | {
        'include/hpm/leans.h': 'size_t hpm_leans(void);\n',
        'include/hpm/twice.h': 'struct hpm_twice {\n\tint a;\n};\n',
        'include/hpm/gnu.h': 'static inline int hpm_gnu(void)\n{\n\treturn ({ 1; });\n}\n',
        'include/hpm/init.h':
            '#ifndef INIT_H\n#define INIT_H\nstruct hpm_init_opts {\n\tint a, b;\n};\n'
            '#define HPM_INIT_OPTS_INIT { missing }\n#endif\n',
        'include/hpm/cxx.h': '#ifndef CXX_H\n#define CXX_H\nint hpm_cxx(int new);\n#endif\n',
    }
    with tree.Bad(bad) as root:
        tree.expect(check(root, 'c', 'cc'), [
            'include/hpm/leans.h', 'include/hpm/twice.h', 'include/hpm/gnu.h',
            'include/hpm/init.h', 'include/hpm/cxx.h'])  # the last one by -Wc++-compat


tree.main(check, self_test)

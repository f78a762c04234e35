# SPDX-License-Identifier: BSD-3-Clause
"""No C file over 600 lines, no function over 80 (from its first line to its closing brace).

Functions are found by counting braces over text without comments, strings and preprocessor lines.
A file whose braces do not add up is a problem too: a parser that lost its way would pass anything."""

import re

import tree

FILE_LINES = 600
FUNCTION_LINES = 80

DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', re.M | re.S)
NOT_A_FUNCTION = re.compile(r'(^|\s)(struct|union|enum)\s*\w*$|=\s*$|\bextern\s*""\s*$')
NAME = re.compile(r'(\w+)\s*\(')


def directives(text):
    """(line, lines) of each preprocessor directive."""
    for found in DIRECTIVE.finditer(text):
        yield text.count('\n', 0, found.start()) + 1, found.group().count('\n') + 1


def only_code(text):
    text = tree.without_words(text)
    return DIRECTIVE.sub(lambda found: re.sub(r'[^\n]', ' ', found.group()), text)


def is_function(head):
    head = head.strip()
    return ')' in head and not NOT_A_FUNCTION.search(head)


def functions(code):
    """(name, first line, lines) of each function; raises ValueError when braces do not add up."""
    depth, head_start, start = 0, 0, None
    for found in re.finditer(r'[{};]', code):
        mark, at = found.group(), found.start()
        if mark == '{':
            head = code[head_start:at]
            if depth == 0 and re.search(r'\bextern\s*"\s*"\s*$', head):
                head_start = at + 1  # its closing brace is met at depth 0
                continue
            if depth == 0 and is_function(head):
                first = head_start + len(head) - len(head.lstrip())
                start = (NAME.search(head).group(1), first)
            depth += 1
        elif mark == '}' and depth > 0:
            depth -= 1
            if depth == 0 and start:
                yield start[0], code.count('\n', 0, start[1]) + 1, code.count(
                    '\n', start[1], at) + 1
                start = None
        if depth == 0:
            head_start = at + 1
    if depth != 0:
        raise ValueError


def check_text(path, text):
    problems = []
    lines = text.count('\n')
    if lines > FILE_LINES:
        problems.append(f'{path}: {lines} lines, at most {FILE_LINES}')
    for line, length in directives(tree.without_words(text)):
        if length > FUNCTION_LINES:
            problems.append(f'{path}:{line}: a macro of {length} lines, at most {FUNCTION_LINES}')
    try:
        for name, line, length in functions(only_code(text)):
            if length > FUNCTION_LINES:
                problems.append(
                    f'{path}:{line}: {name}() has {length} lines, at most {FUNCTION_LINES}')
    except ValueError:
        problems.append(f'{path}: braces do not add up, functions cannot be measured')
    return problems


def check(root):
    problems = []
    for path in tree.c_files(root):
        problems += check_text(path, tree.read(root, path))
    return problems


def function_of(lines, name='f', body='\tg("}{", \'{\'); /* } */'):
    return f'static int {name}(void)\n{{\n' + (body + '\n') * (lines - 3) + '}\n'


def self_test():
    measured = list(functions(only_code(
        '#ifdef X\nextern "C" {\n#endif\nstruct s {\n\tint (*f)(void);\n};\n'
        'static const int t[] = {\n\t1,\n};\n' + function_of(9, 'nine') +
        '#define LOOP(x) \\\n\tdo { \\\n\t\tx; \\\n\t} while (0)\n'
        'struct s *\nlong_one(int a,\n\tint b)\n{\n\tif (a) {\n\t\tb++;\n\t}\n}\n'
        'struct point at(void) { return (struct point){0}; }\n'
        '#ifdef X\n}\n#endif\n')))
    assert [(name, lines) for name, _, lines in measured] == [
        ('nine', 9), ('long_one', 8), ('at', 1)], measured
    assert measured[0][1] == 10, measured
    good = {'libhpmem/a.c': function_of(80) + '\n' * 520}
    with tree.Bad(good) as root:
        tree.expect(check(root), [])
    bad = {
        'libhpmem/file.c': '\n' * 601,
        'cli/function.c': function_of(80, 'fine') + function_of(81, 'much'),
        'demo/macro.h': '#define M \\\n' + '\tx; \\\n' * 80 + '\n',
        'tests/lost.c': 'int f(void)\n{\n\tif (1) {\n}\n',
    }
    with tree.Bad(bad) as root:
        tree.expect(check(root), [
            'libhpmem/file.c: 601 lines', 'cli/function.c:81: much() has 81 lines',
            'a macro of 82 lines', 'tests/lost.c: braces do not add up'])


tree.main(check, self_test)

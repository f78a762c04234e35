# SPDX-License-Identifier: BSD-3-Clause
"""Rule and route files: what is wrong in one is told with file and line, before anything starts, and
what editors and people do to a good one (CRLF, comments, blanks) changes nothing."""

import frames
import fwd

GOOD = '@10.1.0.0/16\t10.2.0.0/16\t0 : 65535\t2000 : 2000\t0x11/0xFF\t0x0000/0x0000\n'
ROUTE = '10.2.0.0/16 1\n'
COMMENT = '# what follows is line 3\n\n'  # two lines


def rule(src='10.1.0.0/16', dst='10.2.0.0/16', sport='0 : 65535', dport='0 : 65535',
         proto='0x11/0xFF'):
    return f'@{src}\t{dst}\t{sport}\t{dport}\t{proto}\n'


class BadFiles(fwd.Scratch):
    def refused(self, option, content, line, what):
        path = self.file('input.txt', content)
        args = ['--sessions', '10', '--mem', 'hpm:4K', option, path]
        if option != '--rules':
            args += ['--rules', 'gen:acl:5']
        said = self.refusal(args)
        self.assertIn(f"'{path}' line {line}: ", said)
        self.assertIn(what, said)

    def test_a_bad_rule_is_named_by_file_and_line(self):
        for bad, what in [
                (rule(src='10.1.0.0/33'), 'source prefix length 33 exceeds 32'),
                (rule(dst='10.2.0.256/32'), 'destination has octet 256'),
                (rule(src='10.1.0.0/8'), 'source has bits set beyond its prefix length 8'),
                (rule(dst='10.2.0/24'), 'destination is not an IPv4 prefix'),
                (rule(dst='10.2.0.0'), 'destination has no prefix length'),
                (rule(src='::1/128'), 'source is not an IPv4 prefix'),
                (rule(sport='200 : 100'), 'source port range 200 : 100 is inverted'),
                (rule(dport='0 : 65536'), 'destination port 65536 exceeds 65535'),
                (rule(dport='70000 : 80000'), 'destination port 70000 exceeds 65535'),
                (rule(sport='0 : 4294967296'), 'source ports are not a range'),
                (rule(sport='-1 : 5'), 'source ports are not a range'),
                (rule(dport='80'), 'destination ports are not a range'),
                (rule(proto='0x100/0xFF'), 'protocol value 0x100 exceeds 0xff'),
                (rule(proto='tcp'), 'protocol is not a value and a mask'),
                (rule(proto='0x11/0xFF 0x10000/0xFFFF'), 'flags field value 0x10000'),
                (rule(proto='0x11/0xFF 0x0/0x0 more'), 'something after its last field'),
                (rule()[1:], "does not start with '@'"),
                ('@\n', 'source is not an IPv4 prefix')]:
            with self.subTest(bad):
                self.refused('--rules', COMMENT + bad + GOOD, 3, what)

    def test_a_bad_route_is_named_by_file_and_line(self):
        for bad, what in [('10.0.0.0/33 1\n', 'prefix length 33 exceeds 32'),
                          ('10.0.0.1/8 1\n', 'bits set beyond its prefix length 8'),
                          ('10.0.0.0/8\n', 'no port number'),
                          ('10.0.0.0/8 65536\n', '65536'),
                          ('10.0.0.0/8 eth0\n', 'no port number'),
                          ('10.0.0.0/8 1 2\n', 'something after its last field'),
                          ('10.2.0.0/16 2\n', 'repeats the prefix of line 4'),
                          ('default 1\n', 'not an IPv4 prefix')]:
            with self.subTest(bad):
                repeats = 'repeats' in what
                content = COMMENT + ('# one\n' + ROUTE + bad if repeats else bad + ROUTE)
                self.refused('--routes', content, 5 if repeats else 3, what)

    def test_an_over_long_line_is_refused(self):
        for option, good in [('--rules', GOOD), ('--routes', ROUTE)]:
            with self.subTest(option):
                self.refused(option, COMMENT + good.strip() + ' ' * 5000 + '\n', 3, 'longer than')
                self.refused(option, '#' * (1 << 20) + '\n', 1, 'longer than')
                self.refused(option, good * 2000 + 'x' * 5000, 2001, 'longer than')

    def test_a_file_that_holds_nothing_is_refused_with_its_last_line(self):
        for option, what in [('--rules', 'without a rule'), ('--routes', 'without a route')]:
            with self.subTest(option):
                self.refused(option, '', 0, what)
                self.refused(option, '\n\r\n# nothing\n \t \n', 4, what)

    def test_bytes_that_are_no_text_are_refused(self):
        for option in ['--rules', '--routes']:
            with self.subTest(option):
                self.refused(option, COMMENT.encode() + b'@10.1.0.0/16\0', 3, 'NUL')
                self.refused(option, bytes(range(128, 256)), 1, '')

    def test_a_missing_file_or_a_directory_is_named_with_the_reason(self):
        rules = self.file('rules.txt', GOOD)
        for option in ['--rules', '--routes', '--pcap-in']:
            for path, why in [(self.dir / 'nowhere.txt', 'No such file'),
                              (self.dir, 'Is a directory'),
                              (rules / 'below', 'Not a directory')]:
                with self.subTest(option=option, why=why):
                    args = [option, path]
                    if option != '--rules':
                        args = ['--rules', rules] + args
                    said = self.refusal(args + ['--sessions', '10', '--mem', 'hpm:4K'])
                    self.assertIn(f"'{path}': {why}", said)


class GoodFiles(fwd.Scratch):
    """One packet matches the rule and has a route, one misses the rule, one the route."""

    def setUp(self):
        super().setUp()
        self.capture = self.file('in.pcap', frames.capture([
            frames.frame(frames.ipv4(frames.udp())),
            frames.frame(frames.ipv4(frames.udp(dport=2001))),
            frames.frame(frames.ipv4(frames.udp(), dst='10.2.128.1'))]))

    def forwards_as_ever(self, rules, routes):
        summary, _ = self.answer(['--rules', self.file('rules.txt', rules),
                                  '--routes', self.file('routes.txt', routes), '--sessions', '10',
                                  '--mem', 'hpm:4K', '--pcap-in', self.capture])
        self.assertEqual(summary['packets']['in'], 3)
        self.assertEqual(summary['packets']['forwarded'], 1)
        self.assertEqual(summary['packets']['dropped'], {'no_acl_match': 1, 'no_route': 1})
        self.assertEqual((summary['rules'], summary['routes']), (1, 1))

    def test_rules_and_routes_as_published(self):
        self.forwards_as_ever(GOOD, '10.2.0.0/17 1\n')

    def test_a_line_of_1023_bytes_is_not_too_long(self):
        self.forwards_as_ever(f'{GOOD.strip():<1023}\n', f'{"10.2.0.0/17 1":<1023}\n')

    def test_crlf_comments_blanks_and_a_last_line_without_its_end(self):
        self.forwards_as_ever('# rules\r\n\r\n \t\r\n  ' + GOOD.replace('\n', '\t \r\n') + '# end',
                              '# routes\r\n\t10.2.0.0/17 \t 1\t\r\n#end\r\n')
        self.forwards_as_ever(GOOD.strip(), '10.2.0.0/17 1')


if __name__ == '__main__':
    fwd.main()

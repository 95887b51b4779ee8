#!/usr/bin/env python3
"""Hostile inputs: every one gets a clear error or a result, in bounded memory, stack and processor time.

usage: test/hostile/run.py FOLDER-OF-PROGRAMS [NAME…]     The last line counts tests.

The programs run with MEMORY_BYTES of address space, a stack of STACK_BYTES and CPU_SECONDS, so they must not be built with
sanitizers, which need more of all three.
"""
import os
import re
import resource
import subprocess
import sys
import tempfile

MEMORY_BYTES = 6 << 30
STACK_BYTES = 256 << 10
SHAPE_STACK_BYTES = 1 << 20  # for shapes in shapes: walks over them recurse, 8192 levels at most
CPU_SECONDS = 60
DEEP = 100_000

OK = None  # what a case expects: success, or an error that matches a regular expression


def entry(body, params='x = f32[] parameter(0)'):
    return f'HloModule m\n\nENTRY main {{\n  {params}\n{body}\n}}\n'


def root_of(shape, rest):
    return entry(f'  ROOT r = {shape} {rest}')


def chain(count):
    """A value that `count` instructions hand on: deeper than any stack."""
    lines = [f'  v{k} = f32[] negate(v{k - 1})' for k in range(1, count)]
    return entry('\n'.join(['  v0 = f32[] negate(x)', *lines, f'  ROOT r = f32[] negate(v{count - 1})']))


def wide(count):
    """One value with `count` users, and a tuple of them all."""
    lines = [f'  v{k} = f32[] negate(x)' for k in range(count)]
    shapes, names = ', '.join(['f32[]'] * count), ', '.join(f'v{k}' for k in range(count))
    return entry('\n'.join([*lines, f'  ROOT r = ({shapes}) tuple({names})']))


def call_chain(count):
    comps = ['k0 {\n  p = f32[] parameter(0)\n  ROOT r = f32[] negate(p)\n}\n']
    comps += [f'k{k} {{\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply=k{k - 1}\n}}\n'
              for k in range(1, count)]
    body = f'ENTRY main {{\n  x = f32[] parameter(0)\n  ROOT r = f32[] call(x), to_apply=k{count - 1}\n}}\n'
    return 'HloModule m\n\n' + '\n'.join(comps) + body


def tuple_chain(count):
    """Tuples in tuples: the shape grows with every step, so it cannot be deep in the text."""
    lines = ['  t0 = tuple(x)'] + [f'  t{k} = tuple(t{k - 1})' for k in range(1, count)]
    return entry('\n'.join([*lines, '  ROOT r = f32[] negate(x)']))


def control_chain(count):
    lines = ['  v0 = f32[] negate(x)']
    lines += [f'  v{k} = f32[] negate(x), control-predecessors={{v{k - 1}}}' for k in range(1, count)]
    return entry('\n'.join([*lines, '  ROOT r = f32[] negate(x)']))


SMALL = root_of('f32[]', 'negate(x)')
DIGITS = '9' * 1_000_000
CYCLE = 'cycle|calls itself|not defined|not exist'

# name, text (or bytes), flags, what it expects
TEXTS = [
    ('empty file', '', [], 'empty|expects|HloModule|no module'),
    ('nested tuple shapes', root_of('(' * DEEP + 'f32[]' + ')' * DEEP, 'negate(x)'), [], 'recursion depth'),
    ('open parentheses', root_of('(' * DEEP, 'negate(x)'), [], 'recursion depth'),
    ('nested literal braces', root_of('f32[1]', 'constant(' + '{' * DEEP + '1' + '}' * DEEP + ')'), [], 'nested|rank|{'),
    ('nested tuple literal', root_of('((f32[]))', 'constant(' + '(' * DEEP + '1' + ')' * DEEP + ')'), [], 'expects|sees'),
    ('nested sharding', entry(f'  ROOT r = f32[] negate(x), sharding={"{" * DEEP}replicated{"}" * DEEP}'), [],
     'recursion depth|sharding'),
    ('nested origin', entry(f'  ROOT r = f32[] negate(x), origin={{{"(" * DEEP}'), [], 'recursion depth|origin|expects'),
    ('nested json', entry(f'  ROOT r = f32[] negate(x), backend_config={"{" * DEEP}{"}" * DEEP}'), [], OK),
    ('open json', entry(f'  ROOT r = f32[] negate(x), backend_config={"{" * DEEP}'), [], '.'),
    ('calls in calls', call_chain(20_000), [], OK),
    ('calls in calls, inlined', call_chain(2_000), ['--passes=call-inliner,dce'], OK),
    ('dimension past 64 bits', root_of('f32[99999999999999999999]', 'negate(x)'), [], '.'),
    ('element count past 64 bits', root_of('f32[4294967296,4294967296,16]', 'negate(x)'), [], 'does not fit 63 bits'),
    ('byte size past 64 bits', root_of('c128[4611686018427387904]', 'negate(x)'), [], 'does not fit 63 bits'),
    ('negative dimension', root_of('f32[-2]', 'negate(x)'), [], '.'),
    ('constant too large for memory', root_of('f32[1099511627776]', 'constant({...})'), [], OK),
    ('a million digits in a dimension', root_of(f'f32[{DIGITS}]', 'negate(x)'), [], '.'),
    ('a million digits in an integer', root_of('s32[]', f'constant({DIGITS})'), [], '.'),
    ('a million digits in a float', root_of('f64[]', f'constant(0.{DIGITS})'), [], OK),
    ('a million digits in an exponent', root_of('f64[]', f'constant(1e{DIGITS})'), [], '.'),
    ('a million digits in a parameter', entry('  ROOT r = f32[] negate(x)', f'x = f32[] parameter({DIGITS})'), [], '.'),
    ('a parameter far out', entry('  ROOT r = f32[] negate(x)', 'x = f32[] parameter(9223372036854775807)'), [], '.'),
    ('an index far out', entry('  ROOT r = f32[] get-tuple-element(x), index=9223372036854775807'), [], '.'),
    ('devices far out', entry('  ROOT r = f32[] negate(x), sharding={devices=[4294967296,4294967296]<=[18446744073709551616]}'),
     [], '.'),
    ('groups far out', entry('  ROOT r = f32[] all-reduce(x), replica_groups=[4294967296,4294967296]<=[4294967296,4294967296], '
                             'to_apply=main'), [], '.'),
    ('iota devices past memory', entry('  ROOT r = f32[] negate(x), sharding={devices=[1099511627776]<=[1099511627776]}'), [],
     OK),
    ('NUL bytes', SMALL.replace('negate', 'neg\0ate'), [], '.'),
    ('only NUL bytes', '\0' * 1_000_000, [], '.'),
    ('a NUL in a string', entry('  ROOT r = f32[] negate(x), metadata={op_name="a\0b"}'), [], OK),
    ('invalid UTF-8', SMALL.encode().replace(b'negate', b'neg\xff\xfeate'), [], '.'),
    ('invalid UTF-8 in a string', entry('  ROOT r = f32[] negate(x), metadata={op_name="Q"}').encode()
     .replace(b'Q', b'\xff\xc3\x28\xf0\x9f'), [], OK),
    ('CRLF line ends', SMALL.replace('\n', '\r\n'), [], OK),
    ('CR line ends', SMALL.replace('\n', '\r'), [], OK),
    ('byte order mark', '\ufeff' + SMALL, [], '.'),
    ('UTF-16', SMALL.encode('utf-16'), [], '.'),
    ('a line of 64 MiB', SMALL.replace('\n', ' ') + ' ' * (64 << 20), [], OK),
    ('a name of 64 MiB', SMALL.replace('ROOT r', 'ROOT ' + 'r' * (64 << 20)), [], OK),
    ('a bad line of 64 MiB', entry('  ROOT r = f32[] negat(' + 'x' * (64 << 20)), [], '.'),
    ('a comment of 64 MiB', '/*' + '*' * (64 << 20) + '*/' + SMALL, [], OK),
    ('an open comment', SMALL + '/*' + '*' * 1_000_000, [], '.'),
    ('an open string', entry('  ROOT r = f32[] negate(x), metadata={op_name="' + 'a' * 1_000_000), [], '.'),
    ('a name twice', entry('  y = f32[] negate(x)\n  y = f32[] negate(x)\n  ROOT r = f32[] negate(y)'), [], 'already|defined|exist'),
    ('a computation twice', 'a {\n ROOT x = f32[] parameter(0)\n}\na {\n ROOT x = f32[] parameter(0)\n}\n' + SMALL, [],
     '.'),
    ('a name before its line', entry('  ROOT r = f32[] negate(y)\n  y = f32[] negate(x)'), [], CYCLE),
    ('a computation before its text', SMALL.replace('negate(x)', 'call(x), to_apply=late') +
     'late {\n  ROOT p = f32[] parameter(0)\n}\n', [], OK),
    ('an instruction of itself', entry('  ROOT r = f32[] negate(r)'), [], CYCLE),
    ('instructions in a circle', entry('  a = f32[] negate(b)\n  b = f32[] negate(a)\n  ROOT r = f32[] negate(a)'), [], CYCLE),
    ('a computation of itself', SMALL.replace('negate(x)', 'call(x), to_apply=main'), [], CYCLE),
    ('a control edge to itself', entry('  ROOT r = f32[] negate(x), control-predecessors={r}'), ['--verify'], CYCLE),
    ('a million instructions', wide(1_000_000), [], OK),
    ('a chain of a million', chain(1_000_000), [], OK),
    ('a chain of a million, verified', chain(1_000_000), ['--verify'], OK),
    ('tuples in tuples', tuple_chain(DEEP), [], 'levels'),
    ('a chain of control edges', control_chain(DEEP), ['--passes=dce'], OK),
    ('control edges, verified', control_chain(DEEP), ['--verify'], OK),
]

# Styles of printing and all passes see a chain too deep for the stack, a value with many users, and shapes in shapes.
STYLES = ['default', 'short', 'canonical', 'fingerprint', 'module-fingerprint', 'dump']


def limit(stack_bytes=STACK_BYTES):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_STACK, (stack_bytes, stack_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))


def complaint(process, expected):
    """What is wrong with the end of a run; None: nothing."""
    message = process.stderr.decode(errors='replace')
    if process.returncode < 0:
        return f'ended by signal {-process.returncode}'
    if expected is OK:
        return None if process.returncode == 0 else f'failed: {message[:300]}'
    if process.returncode == 0:
        return 'succeeded, though it is wrong'
    if not re.search(expected, message):
        return f'failed with another message: {message[:300]!r}'
    return None if len(message) < 5_000 else f'a message of {len(message)} bytes'


class Tests:
    def __init__(self, programs, names):
        self.program = os.path.join(programs, 'hlo-opt')
        self.names = names
        self.passed = self.failed = self.skipped = 0
        self.folder = tempfile.TemporaryDirectory()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        path = self.path(name)
        with open(path, 'wb') as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def count(self, name, problem):
        if problem:
            print(f'failed: {name}: {problem}')
            self.failed += 1
        else:
            self.passed += 1

    def wants(self, name):
        return not self.names or any(wanted in name for wanted in self.names)

    def run(self, name, path, flags, expected, stdout=subprocess.DEVNULL, stack_bytes=STACK_BYTES):
        if not self.wants(name):
            return
        command = [self.program, '--format=hlo', *flags, path]
        process = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE,
                                 preexec_fn=lambda: limit(stack_bytes))
        self.count(name, complaint(process, expected))

    def run_texts(self):
        for name, text, flags, expected in TEXTS:
            if self.wants(name):
                self.run(name, self.write('text.hlo', text), flags, expected)

    def run_passes(self):
        listing = subprocess.run([self.program, '--platform=cpu', '--list-passes'], capture_output=True, text=True).stdout
        flags = [f'--passes={name}' for name in sorted(set(re.findall(r'[\w.-]+', listing)))]
        flags += [f'--print-style={style}' for style in STYLES]
        for shape, text, stack_bytes in (('a chain', chain(DEEP), STACK_BYTES), ('many users', wide(DEEP // 10), STACK_BYTES),
                                         ('tuples', tuple_chain(8_000), SHAPE_STACK_BYTES)):
            path = self.write('deep.hlo', text)
            for flag in flags:
                self.run(f'{shape} with {flag}', path, [flag], OK, stack_bytes=stack_bytes)

    def run_files(self):
        small = self.write('small.hlo', SMALL)
        self.run('a folder as file', self.folder.name, [], 'directory|folder')
        self.run('no such file', self.path('none.hlo'), [], 'No such file')
        self.run('a full device', small, [], 'space', stdout=open('/dev/full', 'wb'))
        self.run('a full device by name', small, ['-o', '/dev/full'], 'space')
        self.run('a folder that is not there', small, ['-o', self.path('none/out.hlo')], 'No such file')
        self.run_unwritable(small)

    def run_unwritable(self, small):
        """Root may write everywhere; a folder in /proc takes no files from anybody."""
        self.run('a folder that takes no files', small, ['-o', '/proc/self/out.hlo'], '.')
        if os.geteuid() == 0:
            self.skipped += 1
            return
        hidden = self.write('hidden.hlo', SMALL)
        os.chmod(hidden, 0)
        self.run('an unreadable file', hidden, [], 'Permission')

    def run_kept(self):
        """What stood in the output file is still there after a failure, and nothing is left beside it."""
        if not self.wants('a failure keeps the old output'):
            return
        kept = self.write('kept.txt', 'old')
        before = sorted(os.listdir(self.folder.name))
        for text in (SMALL.replace('negate', 'negat'), SMALL):
            resource_limit = 10 if text == SMALL else resource.RLIM_INFINITY  # a full disk, by file size

            def small_files():
                limit()
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource_limit, resource_limit))
            path = self.write('small.hlo', text)
            subprocess.run([self.program, '-o', kept, path], capture_output=True, preexec_fn=small_files, restore_signals=False)
            with open(kept, encoding='utf-8') as file:
                self.count('a failure keeps the old output', None if file.read() == 'old' else 'the old text is lost')
        left = set(os.listdir(self.folder.name)) - set(before) - {'small.hlo'}
        self.count('a failure leaves no files', f'left: {left}' if left else None)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tests = Tests(sys.argv[1], sys.argv[2:])
    tests.run_texts()
    tests.run_passes()
    tests.run_files()
    tests.run_kept()
    print(f'{tests.passed} passed, {tests.failed} failed, {tests.skipped} skipped')
    sys.exit(tests.failed != 0)


main()

#!/usr/bin/env python3
"""Miscompiles are caught: in a build of its own, passes are made wrong on purpose, and the tools have to say which.

usage: test/plant/run.py [--pass=PASS] [--kind=KIND] [-v] [CMAKE-OPTION…]     The last line counts tests.

For every pass and every kind of miscompile (the table in test/plant/plant.c) that has a place in the pass's module:

    hlo-opt --check-numerics    must fail, naming the pass
    hlo-bisect --numerics       must name the pass and the very rewrite: number, rule and instruction

A cell of the table printed is the planted rewrite's number; `-`: nothing there that the kind could spoil. Every pass must
have MIN_KINDS kinds and every kind MIN_PASSES passes, so that an empty table is no success. Without a plant, the same
commands must find nothing.
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, 'build/plant')
MODULES = os.path.join(ROOT, 'test/plant/modules')
MIN_KINDS = 4
MIN_PASSES = 4

# pass, or pass/rewrite: (module, the pipeline it runs in). In the module TYPE is what stands after the last dash.
PASSES = {
    'algsimp': ('algsimp', 'flatten-call-graph,dce,{},cse,dce'),
    'bf16-mixed-precision-removal': ('mixed-precision', 'dce,{},cse,dce'),
    'call-inliner': ('call-inliner', 'tuple-simplifier,{},algsimp,dce'),
    'copy-insertion': ('copy-insertion', 'cse,flatten-call-graph,{}'),
    'copy-insertion/remove-copy': ('copy-insertion', 'cse,flatten-call-graph,{}'),
    'cse': ('cse', 'tuple-simplifier,{},dce,algsimp'),
    'dce': ('dce', 'tuple-simplifier,{},cse,algsimp'),
    'defuser': ('defuser', 'dce,{},cse,dce'),
    'flatten-call-graph': ('flatten-call-graph', 'dce,{},call-inliner,algsimp'),
    'simplify-fp-conversions': ('simplify-fp-conversions', 'dce,cse,{},dce'),
    'tuple-simplifier': ('tuple-simplifier', 'dce,cse,{},call-inliner,dce'),
    'zero_sized_hlo_elimination': ('zero_sized_hlo_elimination', 'dce,{},algsimp,dce'),
    **{f'float-normalization-{t}': ('float-normalization', 'dce,{},cse,dce')
       for t in ('bf16', 'f8e5m2', 'f8e4m3', 'f8e4m3fn', 'f8e4m3b11fnuz', 'f8e3m4', 'f8e5m2fnuz', 'f8e4m3fnuz')},
}


# Copies that are needed are made whatever the limit, so that hlo-bisect can only name the pass.
ALWAYS = {'copy-loop-state', 'copy-branch-result', 'copy-donated-argument', 'copy-special-case'}
NOT_OPTIONAL = '^note: the pass does it even when it is told to make no rewrite$'


def build(options):
    """Only what is needed; files that are the same as in other builds come from ccache where it is used."""
    commands = (['cmake', '--preset', 'release', '-B', FOLDER, '-DHLO_PLANT=ON', *options],
                ['cmake', '--build', FOLDER, '--target', 'hlo-opt', 'hlo-bisect'])
    for command in commands:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f'{done.stdout[-4000:]}{done.stderr[-4000:]}failed: {" ".join(command)}')


def read_kinds():
    source = open(os.path.join(ROOT, 'test/plant/plant.c'), encoding='utf-8').read()
    return re.findall(r'^    \{"([a-z-]+)", \w+\},', source, re.M)


def run(tool, plant, *arguments):
    environment = {**os.environ, 'HLO_PLANT': plant}
    return subprocess.run([os.path.join(FOLDER, 'bin', tool), *arguments], env=environment, capture_output=True, text=True,
                          timeout=120, check=False)


class Cell:
    """One pass with one kind; kind '': no plant."""

    def __init__(self, name, kind, path):
        self.name, self.kind, self.path = name, kind, path
        self.name_of_pass = name.split('/')[0]
        self.passes = '--passes=' + PASSES[name][1].format(self.name_of_pass)
        self.planted = None  # number, rule, instruction
        self.problems = []

    def check(self):
        try:
            self.check_right() if not self.kind else self.check_wrong()
        except subprocess.TimeoutExpired as error:
            self.problems.append(f'hangs: {error.cmd}')
        return self

    def expect(self, tool, done, code, *patterns):
        text = done.stdout + done.stderr
        missing = [p for p in patterns if not re.search(p, text, re.M)]
        if done.returncode == code and not missing:
            return
        command = f'HLO_PLANT={self.choice()} build/plant/bin/{tool} … {self.passes} {self.path}'
        self.problems.append(f'{command}\n  exit status {done.returncode}, not found: {missing}\n{text}')

    def choice(self):
        if not self.planted:
            return f'{self.name}:{self.kind}'
        return f'{self.name_of_pass}/{self.planted[1]}:{self.kind}:{self.planted[0]}'

    def check_right(self):
        self.expect('hlo-opt', run('hlo-opt', '', self.passes, '--check-numerics', self.path), 0)
        self.expect('hlo-bisect', run('hlo-bisect', '', self.passes, '--numerics', self.path), 1, '^not found: ')

    def check_wrong(self):
        done = run('hlo-opt', self.choice(), self.passes, '--check-numerics', self.path)
        found = re.search(r'^planted \S+:(\d+) (\S+) %(\S+)$', done.stderr, re.M)
        if not found:
            self.expect('hlo-opt', done, 0)
            return
        self.planted = found.groups()
        number, rule, _ = self.planted
        self.expect('hlo-opt', done, 1, f"^INTERNAL: pass '{re.escape(self.name_of_pass)}' changed what the module computes$")
        self.expect('hlo-bisect', run('hlo-bisect', self.choice(), self.passes, '--numerics', self.path), 0,
                    f'^pass: {re.escape(self.name_of_pass)} in pipeline ',
                    NOT_OPTIONAL if rule in ALWAYS else
                    f'^rewrite {number} of \\d+: {re.escape(self.name_of_pass)}: {re.escape(rule)}  %')

    def text(self):
        if self.problems:
            return 'MISSED'
        return self.planted[0] if self.planted else '-'


def write_module(name, folder):
    text = open(os.path.join(MODULES, PASSES[name][0] + '.hlo'), encoding='utf-8').read()
    path = os.path.join(folder, name.replace('/', '-') + '.hlo')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text.replace('TYPE', name.rsplit('-', 1)[-1]))
    return path


def print_table(names, kinds, cells):
    width = max(map(len, names))
    print(' ' * width, *kinds)
    for name in names:
        row = [cells[name, kind].text().center(len(kind)) for kind in kinds]
        print(name.ljust(width), *row, sep=' ')


def main():
    arguments = sys.argv[1:]
    chosen = {a.split('=')[0]: a.split('=')[1] for a in arguments if re.match(r'--(pass|kind)=', a)}
    build([a for a in arguments if a.startswith('-D')])
    names = [n for n in PASSES if chosen.get('--pass', n) == n]
    kinds = [k for k in read_kinds() if chosen.get('--kind', k) == k]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        paths = {name: write_module(name, folder) for name in names}
        every = [Cell(name, kind, paths[name]) for name in names for kind in ['', *kinds]]
        done = list(pool.map(Cell.check, every))
    cells = {(c.name, c.kind): c for c in done}
    print_table(names, kinds, cells)
    for cell in done:
        for problem in cell.problems:
            print(problem)
    lacking = []
    if not chosen:
        lacking += [f'{n} has fewer than {MIN_KINDS} kinds' for n in names
                    if sum(bool(cells[n, k].planted) for k in kinds) < MIN_KINDS]
        lacking += [f'{k} is planted in fewer than {MIN_PASSES} passes' for k in kinds
                    if sum(bool(cells[n, k].planted) for n in names) < MIN_PASSES]
    for line in lacking:
        print(line)
    tested = [c for c in done if c.planted or not c.kind or c.problems]
    failed = sum(bool(c.problems) for c in tested) + len(lacking)
    print(f'{len(tested) - sum(bool(c.problems) for c in tested)} passed, {failed} failed, 0 skipped')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())

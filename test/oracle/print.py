#!/usr/bin/env python3
"""Printing: every preset, and single options, beside what the reference printed of the same modules.

Bytes must be the same. The modules of corpus/hlo were read from their text, those of corpus/jax from protos; where a proto
is not recorded, its text is read, which keeps another order of computations, and the number of partitions and propagation
of shardings besides. These are then left out, and so are the numbers of stack frames, which the reference gives anew
when it reads a proto. Small texts must pass the verifier, too.

usage: print.py [FOLDER OF PROGRAMS]"""
import collections
import concurrent.futures
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import common

# The reference's names of styles and of options that were flipped (options.txt), as flags.
STYLES = {'default': 'default', 'short_parsable': 'short', 'canonical': 'canonical', 'fingerprint': 'fingerprint'}
OPTIONS = {
    'canonicalize_instruction_names': 'print-canonical-names',
    'compact_operands': 'print-compact-operands',
    'print_ids': 'print-ids',
    'print_operand_shape': 'print-operand-shapes',
}


def flags_of(name):
    """The flags that make a file such as `canonical` or `default.print_ids=false`."""
    if name == 'reread':
        return ['--print-style=default', '--renumber-frames']
    style, _, option = name.partition('.')
    flags = [f'--print-style={STYLES[style]}']
    if option:
        key, value = option.split('=')
        flags.append(f'--{OPTIONS[key]}={value}')
    return flags


def without_order(text):
    """The header and the sorted computations, without what reading from a proto changes."""
    text = re.sub(r'\n\nFileNames\n.*?\n\nStackFrames\n(\d+ \{.*\}\n)*\n*', '\n\n', text, flags=re.S)
    text = re.sub(r' ?stack_frame_id=\d+', '', text).replace(', metadata={}', '')
    text = re.sub(r', (num_partitions=\d+|allow_spmd_sharding_propagation_to_\w+=\{[a-z,]*\})', '', text)
    return sorted(re.split(r'\n\n+', text.strip()))


class Comparison:
    def __init__(self):
        self.tests = common.Tests()
        self.hlo_opt = os.path.join(common.programs(), 'hlo-opt')
        self.kinds = collections.defaultdict(collections.Counter)
        self.pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
        self.runs = []

    def later(self, flags, path, judge):
        """Runs hlo-opt when a core is free; `judge` gets its output when all is reported, in this order."""
        command = [self.hlo_opt, *flags, path]
        self.runs.append((self.pool.submit(subprocess.run, command, capture_output=True), judge))

    def compare(self, kind, name, source, wanted, exact):
        self.later(flags_of(name), source, lambda run: self.judge(run, kind, name, source, wanted, exact))

    def judge(self, run, kind, name, source, wanted, exact):
        with open(wanted, 'rb') as f:
            want = f.read().rstrip(b'\n')
        got = run.stdout.rstrip(b'\n')
        same = got == want
        self.kinds[kind, name]['same bytes' if same else 'otherwise'] += 1
        if not same and not exact:
            same = without_order(got.decode()) == without_order(want.decode())
            self.kinds[kind, name]['same but for order and frames'] += same
        why = run.stderr.decode()[:200] or f'hlo-opt {" ".join(flags_of(name))} {source}'
        self.tests.check(f'print {kind} {os.path.relpath(wanted, common.SHARED)}', same, why)

    def verify(self, path):
        name = f'verify {os.path.relpath(path, common.SHARED)}'
        self.later(['--verify'], path,
                   lambda run: self.tests.check(name, run.returncode == 0, run.stderr.decode()[:200]))

    def report(self):
        for run, judge in self.runs:
            judge(run.result())
        for (kind, name), counts in sorted(self.kinds.items()):
            print(f'{kind:4} {name:42} {", ".join(f"{n} {what}" for what, n in counts.items())}')
        self.tests.finish()


def files_of(folder):
    return sorted(name[:-4] for name in os.listdir(folder) if name.endswith('.hlo'))


def compare_hlo(comparison, records):
    for program in sorted(os.listdir(records)):
        source, folder = (os.path.join(records, program, name) for name in ('input.hlo', 'print'))
        if not os.path.isdir(folder):
            continue
        comparison.verify(source)
        for name in files_of(folder):
            comparison.compare('hlo', name, source, os.path.join(folder, name + '.hlo'), exact=True)


def compare_jax(comparison, records):
    for program in sorted(os.listdir(records)):
        for which in ('module', 'after'):
            folder = os.path.join(records, program, 'print', which)
            if not os.path.isdir(folder):
                continue
            for name in files_of(folder):
                text = os.path.join(records, program, which + '.hlo')
                source = text if name == 'reread' or not os.path.exists(text + '.pb') else text + '.pb'
                exact = name == 'reread' or (source != text and (which, name) != ('after', 'default'))
                comparison.compare('jax', name, source, os.path.join(folder, name + '.hlo'), exact)


def main():
    comparison = Comparison()
    hlo, jax = common.shared('corpus', 'hlo'), common.shared('corpus', 'jax')
    if not hlo or not jax:
        comparison.tests.skip('print', f'no records in {common.SHARED}')
        comparison.tests.finish()
    compare_hlo(comparison, hlo)
    compare_jax(comparison, jax)
    comparison.report()


if __name__ == '__main__':
    main()

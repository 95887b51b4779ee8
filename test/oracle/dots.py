#!/usr/bin/env python3
"""Graphs: our text for Graphviz beside the reference's, line by line, for the modules that it drew.

usage: dots.py [FOLDER OF PROGRAMS] [--show]

The numbers of boxes are addresses in the reference: both sides are numbered by first appearance. Rules for hovering
have no order there and are compared sorted; comments, the title and the address of a font are left out. Compiled
programs (jax) are read from protocol buffers, which keep the order of instructions in memory; where there is only text,
lines are compared without numbers and order."""
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import common

LEAST_PERCENT = 98.0  # of graphs that are the same


def drawn_modules(corpus):
    """Pairs of a module's text and the reference's picture."""
    for dot in sorted(glob.glob(os.path.join(corpus, 'jax', '*', 'print', '*', 'module.dot'))):
        stage = os.path.basename(os.path.dirname(dot))
        text = os.path.join(os.path.dirname(dot), '..', '..', stage + '.hlo')
        yield text + '.pb' if os.path.exists(text + '.pb') else text, dot
    for dot in sorted(glob.glob(os.path.join(corpus, 'hlo', '*', 'print', 'module.dot'))):
        yield os.path.join(os.path.dirname(dot), '..', 'input.hlo'), dot


def normal_form(text, ordered):
    """(lines with numbers by first appearance or sorted, rules sorted)"""
    numbers = {}

    def rename(match):
        if not ordered:
            return match.group(1)
        return f'{match.group(1)}#{numbers.setdefault(match.group(2), len(numbers))}'

    lines, rules = [], []
    for line in text.split('\n'):
        if ':hover' in line:
            rules.append(line.strip() if ordered else re.sub(r'(node|edge|clust)\d+', r'\1', line.strip()))
        elif line and not re.match(r'//|label = <<b>|  @import', line):
            lines.append(re.sub(r'(^|cluster_|-> |ltail="cluster_)(\d+)(?=[ "]|$)', rename, line))
    return lines if ordered else sorted(lines), sorted(rules)


def draw(hlo_opt, path):
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([hlo_opt, '--passes=dce', '--xla_disable_all_hlo_passes', '--xla_dump_hlo_as_dot',
                              f'--xla_dump_to={folder}', '-o', '/dev/null', path], capture_output=True, text=True)
        dots = glob.glob(os.path.join(folder, '*before_optimization.dot'))
        return open(dots[0]).read() if dots else run.stderr


def first_difference(ours, theirs):
    for a, b in zip(ours, theirs):
        if a != b:
            return f'\n  ours   {a[:300]}\n  theirs {b[:300]}'
    return f'{len(ours)} lines, theirs {len(theirs)}'


def main():
    tests = common.Tests()
    corpus = common.shared('corpus')
    show = '--show' in sys.argv
    if show:
        sys.argv.remove('--show')
    pairs = list(drawn_modules(corpus)) if corpus else []
    if not pairs:
        tests.skip('dots', f'no records in {common.SHARED}')
        tests.finish()
    hlo_opt = os.path.join(common.programs(), 'hlo-opt')
    same = same_rules = 0
    for text, dot in pairs:
        ordered = '/jax/' not in dot or text.endswith('.pb')
        ours, our_rules = normal_form(draw(hlo_opt, text), ordered)
        theirs, their_rules = normal_form(open(dot).read(), ordered)
        same += ours == theirs
        same_rules += our_rules == their_rules
        if show and ours != theirs:
            print(f'{os.path.relpath(dot, corpus)}: {first_difference(ours, theirs)}')
        if show and ours == theirs and our_rules != their_rules:
            print(f'{os.path.relpath(dot, corpus)}: rules differ')
    for name, count in (('lines', same), ('rules', same_rules)):
        percent = 100 * count / len(pairs)
        print(f'{name}: {count} of {len(pairs)} graphs are the same ({percent:.1f} %)')
        tests.check(f'dots {name}', percent >= LEAST_PERCENT, f'{percent:.2f} %, expected {LEAST_PERCENT} % at least')
    tests.finish()


if __name__ == '__main__':
    main()

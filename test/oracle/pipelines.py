#!/usr/bin/env python3
"""The CPU pipeline as --print-pipeline shows it beside the passes that the reference ran, a test per recorded program.

usage: pipelines.py [FOLDER OF PROGRAMS]

A record has a line for every pass that ran: `step mark pipeline | after | before`. Of every pipeline the first run is
compared, and the order in which pipelines start."""
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import common

# The records are of a version that did not have this pass, and did not number that one.
NEWER = {'async-collective-custom-call-rewriter'}
NUMBERED = re.compile(r'^(apply-xla-transforms)-\d+$')
# What the number of partitions decides is no part of a pipeline that is printed without a module.
PARTITIONS = {'spmd-partitioner', 'spmd-cleanup', 'sharding-removal'}


def recorded(path):
    """Pipeline names in order of their first start, and the passes of each."""
    order, passes, ended = [], {}, set()
    for line in open(path):
        match = re.match(r'^\d+\s+\S+\s+(\S+) \| (\S+) \| (\S+)', line)
        if not match or match[3] == '-':
            continue  # a moment inside a pass
        pipeline, _, before = match.groups()
        if pipeline not in passes:
            order.append(pipeline)
            passes[pipeline] = []
        if before == 'pipeline-end':
            ended.add(pipeline)
        elif pipeline not in ended:
            passes[pipeline].append(before)
    return order, passes


def printed(text):
    """The same from our text."""
    order, passes, stack = [], {}, []
    for token in re.findall(r'[^,()]+\(?|\)', re.sub(r'\{[^}]*\}|\?', '', text)):
        name = token.strip()
        if name == ')':
            stack.pop()
        elif re.match(r'^fix(\[\d+\])?\($', name):
            stack.append(None)
        elif name:
            plain = NUMBERED.sub(r'\1', name.rstrip('(').replace(' ', '_'))
            holder = next((s for s in reversed(stack) if s), None)
            if holder and plain not in NEWER:
                passes[holder].append(plain)
            if name.endswith('('):
                order.append(plain)
                passes[plain] = []
                stack.append(plain)
    return order, passes


def difference(theirs, ours):
    (their_order, their_passes), (our_order, our_passes) = theirs, ours
    names = [n for n in their_order if n not in PARTITIONS]
    if names != [n for n in our_order if n not in PARTITIONS]:
        return f'pipelines {names}, ours {our_order}'
    for name in names + (['sharding-removal'] if 'sharding-removal' in their_order else []):
        if their_passes[name] != our_passes[name]:
            return f'{name}: {their_passes[name]}, ours {our_passes[name]}'
    return ''


def main():
    tests = common.Tests()
    records = common.shared('corpus', 'jax', '_pipelines')
    if not records:
        tests.skip('pipelines', f'no records in {common.SHARED}')
        tests.finish()
    command = [os.path.join(common.programs(), 'hlo-opt'), '--platform=cpu', '--print-pipeline']
    ours = printed(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for path in sorted(glob.glob(os.path.join(records, '*.txt'))):
        why = difference(recorded(path), ours)
        tests.check(f'pipeline of {os.path.basename(path)[:-4]}', not why, why)
    tests.finish()


if __name__ == '__main__':
    main()

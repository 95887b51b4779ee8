#!/usr/bin/env python3
"""Protocol buffers beside those that the reference wrote and reads.

  dumps      a dumped `.hlo.pb` gives the text that was dumped beside it
  texts      text -> pb -> text and text -> pbtxt -> text change nothing
  reference  what we write, the reference reads as the same module          (only with --reference)
  fields     our text form of a proto has the fields of the reference's     (only with --reference)

A header's replica_count, num_partitions, alias_passthrough_params and allow_spmd_sharding_propagation_…, and channels
of number 0, are in no protocol buffer and left out of comparisons.

usage: protos.py [FOLDER OF PROGRAMS] [--step N] [--reference PROGRAM] [--every N]

Looks at every Nth file (5; 1 takes a minute), the reference at every Nth of these (1)."""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import common

LIMIT_S = 120
PBTXT_EVERY = 10  # the text form of every tenth text
# Fields that one side has and the other does not know yet: the driver is of February, the protobuf chapter of August.
NEWER = {'sparsity_config', 'is_stable', 'num_carries'}
# Numbers from a counter of the process, which nobody reads.
COUNTED = 'recovery_module.id'
LOST = re.compile(r', (replica_count|num_partitions|alias_passthrough_params)=\w+'
                  r'|, allow_spmd_sharding_propagation_to_\w+=\{[a-z,]*\}')
# What the format cannot say: text that is no UTF-8, deep nesting, literals of six bits, slices of another rank than
# their arrays.
UNSAYABLE = re.compile('UTF-8|nested|cannot hold a literal|do not go with the shapes')
# The compiler that dumped this program ran with subnormal numbers off, its printer as well: `0` for 9.99995e-41.
FLUSHED = 'large_constant_tables'


def run(*command):
    """The output as text, or None and the start of what was said instead."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return None, 'took too long'
    if done.returncode:
        return None, done.stderr.decode(errors='replace')[:300]
    return done.stdout.decode(errors='surrogateescape'), done.stderr.decode(errors='replace')[:300]


def comparable(text):
    head, _, rest = text.rstrip('\n').partition('\n')
    return LOST.sub('', head) + '\n' + rest.replace(', channel_id=0', '')


def first_difference(a, b):
    for x, y in zip(a.split('\n'), b.split('\n')):
        if x != y:
            return f'{x[:150]!r} against {y[:150]!r}'
    return 'one is longer'


def print_flags(path):
    """How the text beside a dumped proto was printed."""
    flags = ['--xla_dump_compact_gte=false']
    record = os.path.join(os.path.dirname(path), 'flags.txt')
    if os.path.exists(record) and 'xla_dump_large_constants' in open(record).read():
        flags.append('--xla_dump_large_constants')
    return flags


def check_dump(hlo_opt, pb):
    text_path = pb[:-3] if os.path.exists(pb[:-3]) else pb[:-7] + '.txt'
    got, said = run(hlo_opt, *print_flags(pb), pb)
    if got is None or said:
        return said
    want = comparable(open(text_path, errors='surrogateescape').read())
    got = comparable(got)
    if FLUSHED in pb:
        got = got.replace('9.99995e-41', '0')
    return '' if want == got else first_difference(got, want)


def round_trip(hlo_opt, path, form, folder):
    """None: the text cannot be read, or cannot be a proto by the rules; else what changed."""
    flags = ['--keep-negative-zero', '--xla_dump_large_constants']
    before, _ = run(hlo_opt, *flags, path)
    if before is None:
        return None
    between = os.path.join(folder, os.path.basename(path) + '.' + form)
    written, said = run(hlo_opt, '--keep-negative-zero', f'--emit={form}', f'--o={between}', path)
    if written is None:
        return None if UNSAYABLE.search(said) else said
    after, said = run(hlo_opt, *flags, between)
    os.remove(between)
    if after is None or said:
        return None if UNSAYABLE.search(said) else said
    before, after = comparable(before), comparable(after)
    return '' if before == after else first_difference(after, before)


def reference_reads(reference, hlo_opt, pb, folder):
    ours = os.path.join(folder, pb.replace('/', '_'))
    written, said = run(hlo_opt, '--emit=pb', f'--o={ours}', pb)
    if written is None:
        return said
    want, said = run(reference, 'print', pb)
    if want is None:
        return None
    got, said = run(reference, 'print', ours)
    os.remove(ours)
    if got is None:
        return said
    return '' if want == got else first_difference(got, want)


def fields(text):
    """(path, value) of every field of a proto in text form, with how often it stands there."""
    count, path = collections.Counter(), []
    for line in text.split('\n'):
        line = line.strip()
        if line == '}':
            path.pop()
        elif line.endswith(' {'):
            path.append(line[:-2])
            count['.'.join(path), '{'] += 1
        elif line:
            name, _, value = line.partition(': ')
            count['.'.join(path + [name]), value] += 1
    return count


def modern(count):
    """The driver writes iota groups inside collective_device_list, as writers did before August."""
    old = 'collective_device_list.iota_replica_group_list'
    for (path, value), times in list(count.items()):
        if old in path:
            count[path.replace(old, 'iota_collective_device_list'), value] += times
            if path.endswith(old):
                count[path[:-len('.iota_replica_group_list')], '{'] -= times
            del count[path, value]
    return +count


def compare_fields(reference, hlo_opt, text):
    want, _ = run(reference, 'proto', text)
    if want is None:
        return None
    got, said = run(hlo_opt, '--emit-proto', text)
    if got is None:
        return said
    want, got = modern(fields(want)), fields(got)
    differing = [key for key in (want - got) + (got - want)
                 if not NEWER & set(key[0].split('.')) and not key[0].endswith(COUNTED)]
    return '; '.join(f'{path}: {value[:60]}' for path, value in differing[:4])


def find(root, suffix):
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names
                  if name.endswith(suffix))


def judge(tests, pool, noun, verdicts):
    """Counts a list of (name, future); verdict None: not comparable."""
    for name, verdict in verdicts:
        why = verdict.result()
        if why is not None:
            tests.check(f'{noun} {name}', not why, why)


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument('programs', nargs='?', default=os.path.join(common.ROOT, 'build', 'release', 'bin'))
    parser.add_argument('--step', type=int, default=5)
    parser.add_argument('--reference')
    parser.add_argument('--every', type=int, default=1)
    options = parser.parse_args()
    tests = common.Tests()
    corpus, hlo_opt = common.shared('corpus'), os.path.join(options.programs, 'hlo-opt')
    if not corpus:
        tests.skip('protos', f'no records in {common.SHARED}')
        tests.finish()
    dumps = [pb for pb in find(corpus, '.hlo.pb')
             if os.path.exists(pb[:-3]) or os.path.exists(pb[:-7] + '.txt')][::options.step]
    texts = find(os.path.join(corpus, 'modules'), '.hlo')[::options.step]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def later(check, *arguments):
            return [(os.path.relpath(a, corpus), pool.submit(check, *arguments[:-1], a)) for a in arguments[-1]]
        judge(tests, pool, 'dump', later(check_dump, hlo_opt, dumps))
        trip = lambda form, path: round_trip(hlo_opt, path, form, folder)
        judge(tests, pool, 'pb', later(trip, 'pb', texts))
        judge(tests, pool, 'pbtxt', later(trip, 'pbtxt', texts[::PBTXT_EVERY]))
        if options.reference:
            read = lambda pb: reference_reads(options.reference, hlo_opt, pb, folder)
            judge(tests, pool, 'reference', later(read, dumps[::options.every]))
            same = lambda text: compare_fields(options.reference, hlo_opt, text)
            judge(tests, pool, 'fields', later(same, texts[::options.every]))
        else:
            tests.skip('protos reference', 'needs --reference PROGRAM')
    tests.finish()


if __name__ == '__main__':
    main()

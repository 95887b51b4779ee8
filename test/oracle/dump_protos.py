#!/usr/bin/env python3
"""Protocol buffers of dumps: buffer assignments and memory usage of compiled programs beside the recorded ones.

usage: dump_protos.py [FOLDER OF PROGRAMS]

Messages are compared field by field in binary form. Left out: ids of instructions, traces and peaks of the heap
simulator, and the order of defining positions, which depends on hashing in the reference."""
import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import common

LEAST_PERCENT = 98.0
LOGICAL_BUFFERS, BUFFER_ALIASES, BUFFER_ALLOCATIONS = 1, 2, 3  # of BufferAssignmentProto
BUFFER_ASSIGNMENT = 3  # of HloProto
SHAPE_INDEX = 3  # of a location


def fields(data):
    """(number, value) for every field of a message; texts and messages as bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def take(size):
        nonlocal at
        at += size
        return data[at - size:at]

    while at < len(data):
        tag = varint()
        kind = tag & 7
        yield tag >> 3, varint() if kind == 0 else take({1: 8, 5: 4}[kind] if kind != 2 else varint())


def without_ids(message, location):
    return [(n, [f for f in fields(v) if f[0] == SHAPE_INDEX] if n == location else v) for n, v in fields(message)]


def buffers(proto):
    """The parts of a buffer assignment that are compared."""
    assignment = next((v for n, v in fields(proto) if n == BUFFER_ASSIGNMENT), b'')
    location = {LOGICAL_BUFFERS: 3, BUFFER_ALIASES: 2, BUFFER_ALLOCATIONS: None}
    return [(n, without_ids(v, location[n])) for n, v in fields(assignment) if n in location]


def usage(proto):
    return [[(n, sorted(map(repr, fields(v))) if n == 3 else v) for n, v in fields(entry)] for _, entry in fields(proto)]


def read(folder, pattern):
    paths = glob.glob(os.path.join(folder, pattern))
    return open(paths[0], 'rb').read() if paths else b''


def main():
    tests = common.Tests()
    records = common.shared('corpus', 'jax')
    recorded = sorted(glob.glob(os.path.join(records, '*', 'after.hlo.pb'))) if records else []
    if not recorded:
        tests.skip('dump_protos', f'no records in {common.SHARED}')
        tests.finish()
    hlo_opt = os.path.join(common.programs(), 'hlo-opt')
    same = {'buffers': 0, 'usage': 0}
    for path in recorded:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([hlo_opt, '--platform=cpu', '--stage=hlo-backend', '--xla_dump_hlo_as_proto',
                            f'--xla_dump_to={folder}', '-o', '/dev/null', path], capture_output=True)
            ours = read(folder, '*cpu_after_optimizations.hlo.pb'), read(folder, '*-memory-usage-report.pb')
        theirs = read(os.path.dirname(path), 'after.hlo.pb'), read(os.path.dirname(path), 'memory-usage-report.pb')
        same['buffers'] += buffers(ours[0]) == buffers(theirs[0])
        same['usage'] += usage(ours[1]) == usage(theirs[1])
    for name, count in same.items():
        percent = 100 * count / len(recorded)
        print(f'{name}: {count} of {len(recorded)} ({percent:.1f} %)')
        tests.check(f'dump_protos {name}', percent >= LEAST_PERCENT, f'{percent:.1f} %, expected {LEAST_PERCENT} %')
    tests.finish()


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""The CPU pipeline keeps what recorded programs compute, in the interpreter; a test per program.

usage: values.py [FOLDER OF PROGRAMS]

hlo-bisect --numerics compares the results before and after; where they differ its report names pass and rewrite."""
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import common

MOST_BYTES = 40000  # of text: larger programs take minutes to interpret
FOUND, NOT_FOUND = 0, 1
# Programs whose rounding the pipeline is free to change: absolute and relative error that is no difference.
BOUNDS = {
    'mlp_mixed_precision_sgd_momentum': (0.05, 0.3),  # sums of bf16 are taken in f32 and rounded once
}


def main():
    tests = common.Tests()
    records = common.shared('corpus', 'jax')
    if not records:
        tests.skip('values', f'no records in {common.SHARED}')
        tests.finish()
    program = os.path.join(common.programs(), 'hlo-bisect')
    for path in sorted(glob.glob(os.path.join(records, '*', 'module.hlo'))):
        if os.path.getsize(path) > MOST_BYTES:
            continue
        program_name = os.path.basename(os.path.dirname(path))
        name = f'values of {program_name}'
        flags = ['--numerics', '--platform=cpu']
        if program_name in BOUNDS:
            flags += ['--abs_error_bound=%g' % BOUNDS[program_name][0], '--rel_error_bound=%g' % BOUNDS[program_name][1]]
        run = subprocess.run([program, *flags, path], capture_output=True, text=True)
        if run.returncode not in (FOUND, NOT_FOUND) and 'UNIMPLEMENTED' in run.stderr:
            tests.skip(name, run.stderr.strip())
        else:
            tests.check(name, run.returncode == NOT_FOUND, run.stdout + run.stderr)
    tests.finish()


if __name__ == '__main__':
    main()

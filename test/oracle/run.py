#!/usr/bin/env python3
"""Numbers: small programs compiled and run by run_hlo_module, their results beside those the framework recorded.

A program that code generation cannot lower yet counts as skipped when it says so; any other failure is one.

usage: run.py [FOLDER OF PROGRAMS]"""
import concurrent.futures
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import common

LEAST_MATCHES = 20
LIMIT_S = 120
# Results that depend on roundings which the recorded tolerance does not allow for.
LOOSER_BOUND = {
    # The reference's pipeline drops roundings to bf16 between two operations on f32; ours keeps them.
    'mlp_mixed_precision_sgd_momentum': 1e-3,
}
UNSTABLE = {
    'unrolled_recurrence_5000': 'the recurrence amplifies the last bit: exact arithmetic gives other values too',
}


def values(folder):
    """The description of a program's arguments and results; None where some value was too large to record."""
    with open(os.path.join(folder, 'io.json')) as f:
        io = json.load(f)
    if io.get('devices', 1) != 1 or 'parameters' not in io:
        return None
    if not all(v.get('file') for v in io['parameters'] + io['outputs']):
        return None
    return io


def run(folder):
    name = os.path.basename(folder)
    if name in UNSTABLE:
        return 'skip', UNSTABLE[name]
    io = values(folder)
    if io is None:
        return 'skip', 'values are not recorded, or for several devices'
    bounds = {f'--{kind}_error_bound': max((LOOSER_BOUND.get(name, r.get(key, 0)) for r in io['outputs']), default=0)
              for kind, key in (('abs', 'atol'), ('rel', 'rtol'))}
    command = [os.path.join(common.programs(), 'run_hlo_module'), '--platform=cpu',
               f'--inputs-dir={folder}/inputs', f'--expect-dir={folder}/outputs',
               *(f'{flag}={bound}' for flag, bound in bounds.items()), f'{folder}/module.hlo']
    try:
        result = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return 'fail', f'still running after {LIMIT_S} s'
    message = result.stderr.strip()
    if result.returncode == 0:
        return 'pass', ''
    if result.returncode > 0 and message.startswith('UNIMPLEMENTED'):
        return 'skip', message[:150]
    return 'fail', f'exit {result.returncode}: {message[:300]}'


def main():
    tests = common.Tests()
    records = common.shared('corpus', 'jax')
    if not records:
        tests.skip('run', f'no records in {common.SHARED}')
        tests.finish()
    names = sorted(n for n in os.listdir(records) if os.path.exists(os.path.join(records, n, 'io.json')))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (verdict, why) in zip(names, pool.map(run, (os.path.join(records, n) for n in names))):
            if verdict == 'skip':
                tests.skip(f'run {name}', why)
            else:
                tests.check(f'run {name}', verdict == 'pass', why)
    tests.check('run enough', tests.passed >= LEAST_MATCHES, f'{tests.passed} programs match, expected {LEAST_MATCHES}')
    tests.finish()


if __name__ == '__main__':
    main()

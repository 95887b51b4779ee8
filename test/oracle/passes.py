#!/usr/bin/env python3
"""Single passes: our result beside the reference's, a test per pass.

usage: passes.py [FOLDER OF PROGRAMS]"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import common

# The share of cases with the same bytes that each pass has reached and must keep.
LEAST_PERCENT = {
    'algsimp': 100,
    'algsimp-layout-sensitive': 100,
    'fix-algsimp': 100,
    'bf16-mixed-precision-removal': 100,
    'call-inliner': 100,
    'control-dep-remover': 100,
    'copy-insertion': 100,
    'cse': 100,
    'cse-layout-sensitive': 100,
    'dce': 100,
    'defuser': 100,
    'despecializer': 100,
    'flatten-call-graph': 100,
    'float-normalization-bf16': 100,
    'float-normalization-f4e2m1fn': 100,
    'float-normalization-f8e3m4': 100,
    'float-normalization-f8e4m3': 100,
    'float-normalization-f8e4m3b11fnuz': 100,
    'float-normalization-f8e4m3fn': 100,
    'float-normalization-f8e4m3fnuz': 100,
    'float-normalization-f8e5m2': 100,
    'float-normalization-f8e5m2fnuz': 100,
    'float-normalization-f8e8m0fnu': 100,
    'hlo-descheduler': 100,
    'simplify-fp-conversions': 100,
    'sub-byte-size-removal': 100,
    'sub-byte-size-setter': 100,
    'tuple-simplifier': 100,
    'zero_sized_hlo_elimination': 100,
}


def main():
    tests = common.Tests()
    script, records = common.shared('oracle', 'check_passes.py'), common.shared('corpus', 'passes')
    if not script or not records:
        tests.skip('passes', f'no records in {common.SHARED}')
        tests.finish()
    hlo_opt = os.path.join(common.programs(), 'hlo-opt')
    run = subprocess.run([sys.executable, script, hlo_opt, '--set', records, '--pass', ','.join(LEAST_PERCENT), '--json'],
                         capture_output=True, text=True)
    if run.returncode != 0:
        tests.check('passes', False, run.stderr[-500:])
        tests.finish()
    for name, counts in json.loads(run.stdout)['per_pass'].items():
        total = sum(counts.values())
        same = 100 * sum(counts.get(k, 0) for k in ('same', 'refused', 'free')) / total
        ok = same >= LEAST_PERCENT[name] and not counts.get('crash')
        tests.check(f'pass {name}', ok, f'{same:.1f} % of {total} cases the same, {counts.get("crash", 0)} crashes')
    tests.finish()


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""The interpreter beside the reference's evaluator, on modules of the corpus with small arguments.

usage: eval.py REFERENCE [--bin DIR] [--modules DIR] [--count N] [--start K] [--step S] [--cache DIR] [--show]

run_hlo_module makes the arguments and computes; `REFERENCE eval` computes the same module on the same arguments. The
values are compared: integers exactly, floats within a few units of the type's last place times SLACK. Kinds:
  same, differs
  unimplemented    ours does not know something (counted by its message)
  refused          only the reference does not evaluate the module
  both             neither does
  fails            ours refuses what the reference evaluates, and not as unimplemented
  endless          ours gives up after MOST_STEPS; the reference is not asked
  crash, timeout   ours
--cache keeps the answers of the reference, which takes a quarter of a second to start. Exit status 1 when something
differs or crashes; a loop may be long for both."""
import argparse
import glob
import hashlib
import math
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import common

MOST_ELEMENTS = 100000
MOST_BYTES = 200000  # of a module's text
SLACK = 8
MOST_STEPS = 10000000
MANTISSA = {'f64': 52, 'c128': 52, 'f32': 23, 'c64': 23, 'f16': 10, 'bf16': 7, 'f8e5m2': 2, 'f8e5m2fnuz': 2,
            'f8e4m3': 3, 'f8e4m3fn': 3, 'f8e4m3b11fnuz': 3, 'f8e4m3fnuz': 3, 'f8e3m4': 4, 'f8e8m0fnu': 0,
            'f4e2m1fn': 1, 'f6e3m2fn': 2, 'f6e2m3fn': 3}
# What differs on purpose, by what must occur in the text; operands of several precisions besides, which the reference reads
# as if they were of the result's type.
EXCUSED = {
    r'\brng\(': 'random numbers have no common source',
    r'dynamic-update-slice\((\w+, ){2}\w+\)': 'with all starts in one array the reference writes every element to one place',
    r'operand_batching_dims=\{\d': 'of a slice that has batching dimensions the reference gathers only the first element',
    r'set-dimension-size': 'the reference forgets dynamic sizes',
}


# ---- values ---------------------------------------------------------------------------------------------

TOKEN = re.compile(r'(?P<shape>[a-z]\w*\[[^\]]*\](?:\([^)]*\))?)|(?P<number>-?(?:nan(?:\(0x[0-9a-f]+\))?|inf|[0-9][0-9.e+-]*)|true|false)'
                   r'|(?P<token>token)')


def leaves(text):
    """[(shape, numbers)] of a printed value."""
    found = []
    for match in TOKEN.finditer(re.sub(r'/\*.*?\*/', '', text)):
        if match.group('shape'):
            found.append((match.group('shape'), []))
        elif match.group('token'):
            found.append(('token', []))
        elif found:
            found[-1][1].append(match.group('number'))
    return found


def number(text):
    if text in ('true', 'false'):
        return int(text == 'true')
    text = re.sub(r'\(0x.*', '', text)
    return float(text)


def close(kind, ours, theirs):
    if ours == theirs:
        return True
    if kind not in MANTISSA:
        return {'true': '1', 'false': '0'}.get(ours, ours) == {'true': '1', 'false': '0'}.get(theirs, theirs)
    a, b = number(ours), number(theirs)
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or math.isinf(b):
        return (math.isnan(a) and math.isnan(b)) or a == b
    return abs(a - b) <= SLACK * 2.0 ** -MANTISSA[kind] * max(abs(a), abs(b), 2.0 ** -14)


def difference(ours, theirs):
    """None, or what differs first."""
    a, b = leaves(ours), leaves(theirs)
    if [shape for shape, _ in a] != [shape for shape, _ in b]:
        return f'shapes {[s for s, _ in a][:4]} and {[s for s, _ in b][:4]}'
    for k, ((shape, mine), (_, other)) in enumerate(zip(a, b)):
        kind = shape.split('[')[0]
        if len(mine) != len(other):
            return f'leaf {k} {shape}: {len(mine)} and {len(other)} numbers'
        bad = [i for i in range(len(mine)) if not close(kind, mine[i], other[i])]
        if bad:
            return f'leaf {k} {shape}: {len(bad)} of {len(mine)}, at {bad[0]} ours {mine[bad[0]]}, reference {other[bad[0]]}'
    return None


# ---- running --------------------------------------------------------------------------------------------

def run_ours(options, path):
    """(status, arguments, result, message)"""
    command = [os.path.join(options.bin, 'run_hlo_module'), '--platform=interpreter', '--print_literals',
               f'--max-steps={MOST_STEPS}', path]
    code, out, err = common.run_within(command, options.timeout)
    parts = re.split(r'\n\*\* (Argument \d+|Result[^*\n]*) \*\*\n', out)
    arguments = [parts[k + 1] for k in range(1, len(parts) - 1, 2) if parts[k].startswith('Argument')]
    results = [parts[k + 1] for k in range(1, len(parts) - 1, 2) if parts[k].startswith('Result')]
    # Of several devices, the first: the reference knows no others.
    return code, arguments, re.sub(r'\nreplica \d+, .*', '', results[0]) if results else '', err


def run_reference(options, path, arguments):
    """(status, output, message); arguments get the layouts that the reference asks for."""
    for _ in range(len(arguments) + 1):
        code, out, err = ask_reference(options, path, arguments)
        wish = re.search(r'Shape mismatch at parameter (\d+). Computation expected (\S+), but arg was (\S+)\.', err)
        if not code or not wish or wish.group(2) == wish.group(3) or int(wish.group(1)) >= len(arguments):
            break
        k = int(wish.group(1))
        arguments[k] = re.sub(r'^\s*\S+\]', wish.group(2).replace('\\', ''), arguments[k])
    return code, out, err


def ask_reference(options, path, arguments):
    key = hashlib.sha1('\0'.join([open(path, errors='replace').read()] + arguments).encode()).hexdigest()
    kept = os.path.join(options.cache, key) if options.cache else None
    if kept and os.path.exists(kept):
        code, _, rest = open(kept).read().partition('\n')
        return int(code), rest, rest
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for k, argument in enumerate(arguments):
            files.append(os.path.join(folder, f'{k}.lit'))
            with open(files[-1], 'w') as out:
                out.write(argument)
        code, out, err = common.run_within([options.reference, 'eval', path] + files, options.timeout)
    code = 124 if code is None else code
    if kept:
        os.makedirs(options.cache, exist_ok=True)
        with open(kept, 'w') as file:
            file.write(f'{code}\n{out if code == 0 else err}')
    return code, out, err


def is_small(path):
    """Whether the entry's parameters are arrays of few elements in all."""
    if os.path.getsize(path) > MOST_BYTES:
        return False
    text = open(path, errors='replace').read()
    entry = re.search(r'^\s*ENTRY\b.*?^\s*\}', text, re.S | re.M)
    if not entry or 'infeed' in text or 'outfeed' in text:
        return False
    total = 0
    for shape, dims in re.findall(r'=\s*(\(|\w+\[([0-9,<= ]*)\])(?:\{[^}]*\})?\s+parameter\(', entry.group(0)):
        if shape == '(':
            return False  # the reference reads no tuples
        total += math.prod(int(d.strip('<= ')) for d in dims.split(',') if d.strip())
    return total <= MOST_ELEMENTS


def excuse_for(options, path, text):
    excuse = next((why for word, why in EXCUSED.items() if re.search(word, text)), None)
    strict = [os.path.join(options.bin, 'hlo-opt'), '--verify', '--allow-mixed-precision=false', path]
    return excuse or ('mixed precision' if common.run_within(strict, options.timeout)[0] == 1 else None)


def classify(options, path):
    code, arguments, result, message = run_ours(options, path)
    line = next((l for l in message.strip().split('\n') if re.match('[A-Z_]+: ', l)), message.strip()[-200:])
    if code is None:
        return 'timeout', ''
    if code < 0 or code > 128 and code != 255:
        return 'crash', f'{code} {line}'
    if 'steps is reached' in line:
        return 'endless', ''
    unknown = line.startswith('UNIMPLEMENTED')
    if code == 0 or arguments or not unknown:
        ours = code
        code, out, err = run_reference(options, path, arguments)
        if code and ours:
            return 'both', ''
        if ours:
            return ('unimplemented' if unknown else 'fails'), re.sub(r'evaluating %\S+ in %\S+: ', '', line)
        if code:
            return 'refused', err.strip().split('\n')[0][:200]
        text = open(path, errors='replace').read()
        what = difference(result, out)
        excuse = what and excuse_for(options, path, text)
        return ('same', '') if not what else ('excused', excuse) if excuse else ('differs', what)
    return 'unimplemented', re.sub(r'evaluating %\S+ in %\S+: ', '', line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('reference')
    parser.add_argument('--bin', default=os.path.join(common.ROOT, 'build', 'release', 'bin'))
    parser.add_argument('--modules', default=common.shared('corpus', 'modules'))
    parser.add_argument('--count', type=int, default=500)
    parser.add_argument('--start', type=int, default=0)
    parser.add_argument('--step', type=int, default=1)
    parser.add_argument('--timeout', type=float, default=20)
    parser.add_argument('--cache')
    parser.add_argument('--show', action='store_true')
    options = parser.parse_args()
    if not os.path.exists(options.reference) or not options.modules:
        print('skipped: no reference, or no modules')
        return 0
    paths = [p for p in sorted(glob.glob(os.path.join(options.modules, '*.hlo'))) if is_small(p)]
    kinds, details = {}, {}
    for path in paths[options.start::options.step][:options.count]:
        kind, detail = classify(options, path)
        kinds[kind] = kinds.get(kind, 0) + 1
        details.setdefault(kind, []).append(detail)
        if kind in ('differs', 'crash', 'timeout', 'fails') or options.show:
            print(f'{os.path.basename(path)} {kind}: {detail}', flush=True)
    for kind in ('unimplemented', 'refused', 'excused'):
        messages = details.get(kind, [])
        for message in sorted(set(messages), key=lambda m: -messages.count(m))[:40]:
            print(f'{kind} {messages.count(message):4} {message}')
    print(', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items())))
    return 1 if kinds.get('differs') or kinds.get('crash') else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""Dumps: the files that our CPU writes beside those that the reference wrote, for every set of dump flags.

usage: dumps.py [FOLDER OF PROGRAMS] [--show]

Compared are exit statuses, names and the `debug_options`. Left out: passes that do not exist here, the folder of the
compile request, files of the emitters (the reference has one LLVM module per kernel, we have one: only whether there
are any counts), and what `spec-differences.md` gives to the version that was recorded."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import common

LEAST_PERCENT = {'names': 97.0, 'debug_options': 100.0}
# The recorded version has no such flag, or has one that today's has not.
OTHER_VERSION = {'compact-gte-false', 'riegeli'}
# What the recorded version writes without being asked to (xla_dump_emitter_re), and at other times.
EMITTED = re.compile(r'\.(ll|o|mlir|mlir-passes\.log)$')
NOT_COMPARED = re.compile(r'/(compile_options|topology)\.|/module\.mlir$|_fusion\.html$')
STEP = re.compile(r'^(.*\.)\d{4}\.([^.]+)\.after_(.*)\.before_(.*?)(\.\w+)$')


def normal_name(name):
    """Without what depends on the run: times, processes, numbers of executions."""
    name = re.sub(r'^\d{16}\.', 'TIME.', name)
    name = re.sub(r'/[^/]+_\d+/', '/HOST_PID/', name)
    return re.sub(r'snapshot\.-?\d+', 'snapshot.RUN', name)


def absent_passes(hlo_opt):
    text = subprocess.run([hlo_opt, '--platform=cpu', '--print-pipeline'], capture_output=True, text=True).stdout
    names = re.findall(r'([\w-]+)\?', text)
    return set(names) | {re.sub(r'-\d+$', '', name) for name in names}


def compared_names(names, absent, pattern):
    """The names in order. Of steps between passes (pipeline, pass before, pass after), with `*` for one that does not
    exist here; a step that is only there because of such a pass is left out."""
    result = []
    for name in sorted(names):
        if NOT_COMPARED.search(name) or EMITTED.search(name):
            continue
        match = STEP.match(name)
        if not match:
            result.append(re.sub(r'\.\d{4}\.(copy-insertion\.)', r'.STEP.\1', normal_name(name)))
            continue
        prefix, pipeline, after, before, extension = match.groups()
        if after in absent and re.search(pattern, after):
            continue
        if before in absent and not re.search(pattern, after):
            continue
        result.append((normal_name(prefix) + extension, pipeline, '*' if after in absent else after,
                       '*' if before in absent else before))
    return result


def is_same(ours, theirs):
    if isinstance(ours, str) or isinstance(theirs, str):
        return ours == theirs
    if theirs[2] == '*':
        return ours[:2] == theirs[:2] and ours[3] == theirs[3]
    return ours[:3] == theirs[:3]


def same_names(ours, theirs):
    """How many of theirs we have, which not, and what only we have."""
    missing, extra = list(theirs), []
    for name in ours:
        same = next((k for k, other in enumerate(missing) if is_same(name, other)), None)
        if same is None:
            extra.append(name)
        else:
            del missing[same]
    return len(theirs) - len(missing), missing, extra


def run_set(programs, flags, module, folder):
    flags = re.sub(r'--xla_dump_to=\S+', f'--xla_dump_to={folder}', flags)
    command = [os.path.join(programs, 'run_hlo_module'), '--platform=cpu', '--xla_cpu_enable_fast_min_max=false', module]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, 'XLA_FLAGS': flags})


def files_below(folder):
    for path, _, names in os.walk(folder):
        for name in names:
            yield os.path.relpath(os.path.join(path, name), folder)


def flag_sets(records):
    """(name of the set, flags, program, folder of the record)"""
    for flags in sorted(glob.glob(os.path.join(records, '_flags', '*', 'flags.txt'))):
        folder = os.path.dirname(flags)
        name = os.path.basename(folder)
        text = open(flags).read().strip()
        yield name, text, 'softmax_2d', folder
        for part in sorted(os.listdir(folder)):
            if os.path.exists(os.path.join(folder, part, 'listing.txt')):
                own = os.path.join(folder, part, 'flags.txt')
                yield f'{name}/{part}', open(own).read().strip() if os.path.exists(own) else text, part, os.path.join(folder, part)


def recorded_options(folder):
    paths = glob.glob(os.path.join(folder, 'files', '**', '*debug_options'), recursive=True)
    return open(paths[0]).read() if paths else None


def same_place(text):
    return re.sub(r'xla_dump_to: ".*"', 'xla_dump_to: "D"', text)


def main():
    tests = common.Tests()
    show = '--show' in sys.argv
    if show:
        sys.argv.remove('--show')
    records = common.shared('corpus', 'jax')
    if not records:
        tests.skip('dumps', f'no records in {common.SHARED}')
        tests.finish()
    programs = common.programs()
    absent = absent_passes(os.path.join(programs, 'hlo-opt'))
    found = wanted = same_options = option_files = more = 0
    for name, flags, program, record in flag_sets(records):
        if name.split('/')[0] in OTHER_VERSION:
            tests.skip(name, 'a flag of another version')
            continue
        listing = os.path.join(record, 'listing.txt')
        theirs = [line.split(None, 1)[1].strip() for line in open(listing) if not line.startswith('#')] if os.path.exists(listing) else []
        folder = tempfile.mkdtemp()
        run = run_set(programs, flags, os.path.join(records, program, 'module.hlo'), folder)
        exit_file = os.path.join(record, 'exit.txt')
        fails = os.path.exists(exit_file) and not open(exit_file).read().startswith('exit status 0')
        if fails:
            tests.check(f'{name} exit', run.returncode in (1, 255), f'exit status {run.returncode}, expected a failure')
            shutil.rmtree(folder)
            continue
        ours = list(files_below(folder))
        pattern = (re.findall(r'--xla_dump_hlo_pass_re=(\S+)', flags) or [''])[-1]
        count, missing, extra = same_names(compared_names(ours, absent, pattern),
                                           compared_names(theirs, absent, pattern))
        found, wanted, more = found + count, wanted + count + len(missing), more + len(extra)
        options, recorded = [p for p in ours if p.endswith('debug_options')], recorded_options(record)
        if recorded is not None:
            option_files += 1
            text = open(os.path.join(folder, options[0])).read() if options else ''
            same = same_place(text) == same_place(recorded)
            same_options += same
            if show and not same:
                print(f'{name}: debug_options\n{text}--- theirs\n{recorded}')
        if show and (missing or extra):
            print(f'{name}: not here {missing}, only here {extra}')
        if show and run.returncode:
            print(f'{name}: {run.stderr.strip()[:300]}')
        shutil.rmtree(folder)
    for kind, count, total in (('names', found, wanted), ('debug_options', same_options, option_files)):
        percent = 100 * count / max(total, 1)
        print(f'{kind}: {count} of {total} ({percent:.1f} %)' + (f', {more} only here' if kind == 'names' else ''))
        tests.check(f'dumps {kind}', percent >= LEAST_PERCENT[kind], f'{percent:.2f} %, expected {LEAST_PERCENT[kind]} %')
    tests.finish()


if __name__ == '__main__':
    main()

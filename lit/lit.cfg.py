# The tests in text: each .hlo or .pbtxt file holds RUN lines and what they print. tools/check and ctest pass the folder of the
# programs as --param bin=DIR; by hand the release build is taken.
import os
import shutil
import sys

import lit.formats

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)
programs = os.path.abspath(lit_config.params.get('bin', os.path.join(root, 'build', 'release', 'bin')))

config.name = 'hlo'
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = ['.hlo', '.pbtxt']
config.excludes = ['Inputs']
config.test_source_root = here
config.test_exec_root = os.path.join(os.path.dirname(programs), 'lit')

llvm_tools = [d for d in (f'/usr/lib/llvm-{v}/bin' for v in range(30, 18, -1)) if os.path.isdir(d)]
config.environment['PATH'] = os.pathsep.join([programs] + [os.environ['PATH']] + llvm_tools)
config.environment['XLA_FLAGS'] = ''
# Where comparisons leave the values that differ.
os.makedirs(config.test_exec_root, exist_ok=True)
config.environment['TEST_UNDECLARED_OUTPUTS_DIR'] = config.test_exec_root
for name in ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS', 'TMPDIR'):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(('%examples', os.path.join(root, 'examples')))
config.substitutions.append(('%programs', programs))
config.substitutions.append(('%python', sys.executable))

# Features for REQUIRES lines: code generation may be left out of a build.
if os.path.exists(os.path.join(os.path.dirname(programs), 'lib', 'hlo_llvm.so')):
    config.available_features.add('llvm')
if os.path.exists('/dev/full'):
    config.available_features.add('dev-full')
if not shutil.which('FileCheck', path=config.environment['PATH']):
    lit_config.fatal('FileCheck is not on the path; it comes with the package llvm-19-tools')

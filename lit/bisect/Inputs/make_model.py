"""Prints a module of about N instructions in which test-only-wrong-rewrites finds thousands of right rewrites and, in
the middle, one `subtract(x, x)` and one transpose.

usage: make_model.py N"""
import sys

count = int(sys.argv[1])
print('HloModule generated\n\nENTRY main {\n  x = f32[8,8] parameter(0)\n  y = f32[8,8] parameter(1)')
last = 'x'
for k in range(count // 3):
    print(f'  m{k} = f32[8,8] negate({last})\n  n{k} = f32[8,8] negate(m{k})\n  a{k} = f32[8,8] add(n{k}, y)')
    last = f'a{k}'
    if k == count // 6:
        print(f'  planted = f32[8,8] subtract({last}, {last})\n  turned = f32[8,8] transpose(planted), dimensions={{1,0}}')
        last = 'turned'
print(f'  ROOT result = f32[8,8] tanh({last})\n}}')

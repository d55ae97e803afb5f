# SPDX-License-Identifier: MIT
"""A stand-in for the package triton, written for the tests from its interface: decorators, specialisation and compilation with the names
and forms of its versions, which `style` selects ('3.0', '3.2', '3.5'). Its compiler is triton_ptx.py, which knows a few kernels."""
import collections
import inspect

import triton_ptx

from . import language, runtime
from .backends.compiler import GPUTarget

__version__ = '3.5.0'
style = '3.5'
compilations = []  # the sources that were compiled

_TYPES = {'float16': 'fp16', 'float32': 'fp32', 'float64': 'fp64', 'bfloat16': 'bf16', 'bool': 'i1', 'int8': 'i8', 'int16': 'i16',
          'int32': 'i32', 'int64': 'i64', 'uint8': 'u8', 'uint16': 'u16', 'uint32': 'u32', 'uint64': 'u64'}


class CompilationError(Exception):
    def __init__(self, node, message):
        super().__init__(f'at {node.lineno}:0:\n{message}')
        self.node = node


class Source:
    def __init__(self, fn, signature, constants, attrs):
        self.fn, self.signature, self.constants, self.attrs = fn, signature, constants, attrs


class CompiledKernel:
    def __init__(self, src, metadata, ptx):
        self.src, self.metadata, self.asm = src, metadata, {'ptx': ptx}


def specialise(value, name):
    """(type, divisible by 16) of a parameter; ('constexpr', None) if its value is known."""
    if value is None:
        return 'constexpr', False
    if isinstance(value, bool):
        return 'u1', False
    if isinstance(value, int):
        if value == 1:
            return 'constexpr', False
        return ('i32' if -2**31 <= value < 2**31 else 'i64'), value % 16 == 0
    if isinstance(value, float):
        return 'fp32', False
    if hasattr(value, 'data_ptr'):
        return '*' + _TYPES[str(value.dtype).split('.')[-1]], value.data_ptr() % 16 == 0
    raise TypeError(f'Unsupported type: {type(value)} of {name}')


class JITFunction:
    def __init__(self, fn):
        self.fn, self.__name__ = fn, fn.__name__
        self.signature = inspect.signature(fn)
        self.arg_names = list(self.signature.parameters)
        self.cache = {}

    def warmup(self, *args, grid, **kwargs):
        return self.run(*args, grid=grid, warmup=True, **kwargs)

    def run(self, *args, grid, warmup, **kwargs):
        assert warmup, 'there is no GPU'
        driver = runtime.driver.active
        if driver is None:
            raise RuntimeError('0 active drivers ([]). There should only be one.')
        options = {'num_warps': 4, 'num_ctas': 1, 'num_stages': 3}
        bound = self.signature.bind(*args, **{k: v for k, v in kwargs.items() if k in self.arg_names})
        bound.apply_defaults()
        for name, value in kwargs.items():
            if name not in self.arg_names:
                if name not in options and name != 'maxnreg':
                    raise KeyError(f'Keyword argument {name} was specified but unrecognised')
                options[name] = value
        kinds = {name: ('constexpr', False) if parameter.annotation is language.constexpr else specialise(bound.arguments[name], name)
                 for name, parameter in self.signature.parameters.items()}
        known = [value for name, value in bound.arguments.items() if kinds[name][0] == 'constexpr']
        key = (driver.get_current_device(), str(kinds), str(options), str(known))
        if key not in self.cache:
            self.cache[key] = self.compile(kinds, bound.arguments, options, driver.get_current_target())
        return self.cache[key]

    def compile(self, kinds, values, options, target):
        assert isinstance(target, GPUTarget) and target.warp_size == 32
        names = {'3.0': lambda i: i, '3.2': lambda i: self.arg_names[i], '3.5': lambda i: (i,)}[style]
        constants = {names(i): values[n] for i, n in enumerate(self.arg_names) if kinds[n][0] == 'constexpr'}
        if style == '3.5':
            signature = {n: kinds[n][0] for n in self.arg_names}
        else:
            signature = {names(i): kinds[n][0] for i, n in enumerate(self.arg_names) if kinds[n][0] != 'constexpr'}
        source = Source(self, signature, constants, {n: kinds[n][1] for n in self.arg_names})
        compilations.append(source)
        left = [(n, kinds[n][0]) for n in self.arg_names if kinds[n][0] != 'constexpr']
        known = {n: values[n] for n in self.arg_names if kinds[n][0] == 'constexpr'}
        make = triton_ptx.KERNELS.get(self.__name__)
        if make is None:
            raise CompilationError(collections.namedtuple('Node', 'lineno')(2), f'{self.__name__} is not defined')
        ptx, shared = make(self.__name__, left, known, options['num_warps'], target.arch, {'3.0': 0, '3.2': 1, '3.5': 2}[style])
        about = {'name': self.__name__, 'target': target, 'shared': shared, **options, 'cluster_dims': (1, 1, 1), 'global_scratch_size': 0}
        return CompiledKernel(source, collections.namedtuple('KernelMetadata', sorted(about))(**about), ptx)


class Config:
    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None):
        self.kwargs, self.num_warps, self.num_stages, self.num_ctas, self.maxnreg = kwargs, num_warps, num_stages, num_ctas, maxnreg
        self.pre_hook = pre_hook

    def all_kwargs(self):
        options = {'num_warps': self.num_warps, 'num_ctas': self.num_ctas, 'num_stages': self.num_stages, 'maxnreg': self.maxnreg}
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}


class Autotuner:
    def __init__(self, fn, configs, key, reset_to_zero=None, prune_configs_by=None):
        self.fn, self.configs, self.keys, self.arg_names = fn, configs, key, fn.arg_names
        self.reset_to_zero = list(reset_to_zero or ())
        self.prune = (prune_configs_by or {}).get('early_config_prune')
        self.nargs = None

    def prune_configs(self, kwargs):
        return self.prune(self.configs, self.nargs, **kwargs) if self.prune else self.configs


class Heuristics:
    def __init__(self, fn, values):
        self.fn, self.values, self.arg_names = fn, values, fn.arg_names


def jit(fn):
    return JITFunction(fn)


def autotune(configs, key, reset_to_zero=None, prune_configs_by=None):
    return lambda fn: Autotuner(fn, configs, key, reset_to_zero, prune_configs_by)


def heuristics(values):
    return lambda fn: Heuristics(fn, values)


def cdiv(x, y):
    return (x + y - 1) // y

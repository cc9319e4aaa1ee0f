"""A stand-in for a GPU: a torch device whose tensors lie in main memory, but that keeps the rules of a device.

`with stand_in() as device:` makes the device `standin` known to torch. What is sent there is computed by the
processor, with the same results. As on a GPU an operation on tensors of both kinds raises `MixedDevices`, and
a tensor of the device is no array. What costs time on a GPU is counted, see `Counts`.

It is torch's place for devices of others (PrivateUse1) with tensors that hand every operation to Python
(https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-with-a-tensor-wrapper-type).
It runs what is compiled without compiling it: graphs are counted on the processor, see `learn/test_device.py`.
"""

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from traceback import extract_stack
from weakref import WeakSet, finalize

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

NAME = 'standin'
aten = torch.ops.aten
MOVES = (aten._to_copy.default, aten.copy_.default, aten._copy_from.default)
INDEXING = (aten.index.Tensor, aten.index_put_.default, aten.index_put.default, aten._index_put_impl_.default)
PINNING = (aten.is_pinned.default, aten.pin_memory.default, aten._pin_memory.default)
# Operations whose result has a size, or is a number, that only the device knows: the host waits for it.
WAITING = {
    '_local_scalar_dense', 'bincount', 'equal', 'is_nonzero', 'masked_select', 'nonzero', 'repeat_interleave',
    'unique_consecutive', 'unique_dim', '_unique', '_unique2',
}  # fmt: skip


class MixedDevices(RuntimeError):
    "An operation on tensors of the host and of the device."


@dataclass
class Counts:
    "What happened between host and device."

    copies: int = 0  # tensors and numbers that went from one to the other
    waits: int = 0  # how often the host waited until the device had done all its work
    operations: int = 0  # on the device; what only looks at a tensor in another way is none
    held: int = 0  # bytes of the tensors of the device that were made since the counting began
    most_held: int = 0  # bytes, at any time
    places: Counter = field(default_factory=Counter)  # what waited or was copied, and where

    def __str__(self) -> str:
        return f'{self.copies} copies, {self.waits} waits, {self.operations} operations'


class DeviceTensor(torch.Tensor):
    "A tensor of the device; `data_on_host` is the tensor that it really is."

    @staticmethod
    def __new__(cls, data_on_host):
        shape = {'strides': data_on_host.stride(), 'storage_offset': data_on_host.storage_offset()}
        tensor = torch.Tensor._make_wrapper_subclass(
            cls, data_on_host.size(), dtype=data_on_host.dtype, device=torch.device(NAME, 0), **shape
        )
        tensor.data_on_host = data_on_host
        hold(data_on_host.untyped_storage())
        return tensor

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __repr__(self):
        return f'on {self.device}: {self.data_on_host!r}'

    def tolist(self):
        return self.cpu().tolist()

    def __reduce_ex__(self, protocol):
        contents = self.detach().cpu(), self.dtype, str(self.device), self.requires_grad
        return torch._utils._rebuild_device_tensor_from_cpu_tensor, contents

    def numpy(self):
        raise TypeError(f'a tensor of {self.device} is no array')

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return run(operation, args, kwargs or {})


HELD = WeakSet()  # storages of the device
PINNED = WeakSet()  # storages of main memory that a device reads while the host goes on
counts = Counts()  # of what is running


def hold(storage):
    "Count the memory of a tensor of the device as long as it lives."
    if storage in HELD:
        return
    HELD.add(storage)
    now = counts
    now.held += storage.nbytes()
    now.most_held = max(now.most_held, now.held)
    finalize(storage, let_go, now, storage.nbytes())


def let_go(now, size):
    "Memory is free again."
    now.held -= size


def on_device(value) -> bool:
    return isinstance(value, DeviceTensor)


def note(operation, copies=0, waits=0):
    "Count what happened, and which line of the library made it happen."
    counts.copies += copies
    counts.waits += waits
    lines = [frame for frame in extract_stack() if '/cube_nb/' in frame.filename]
    place = f'{lines[-1].filename.split("/")[-1]}:{lines[-1].lineno} {lines[-1].line}' if lines else 'a test'
    counts.places[f'{operation} at {place}'] += 1


def check_devices(operation, tensors):
    "Raises `MixedDevices` for tensors of both kinds, unless those of the host are single numbers."
    if operation in MOVES or not any(map(on_device, tensors)):
        return
    if operation in INDEXING:  # indices may be on the host
        target, *_ = tensors
        if not on_device(target):
            raise MixedDevices(f'{operation}: a tensor of the host indexed by one of the device')
        return
    for tensor in tensors:
        if not on_device(tensor) and tensor.dim() and tensor.numel():
            raise MixedDevices(f'{operation} of a tensor of the device and one of the host, {tensor.shape}')


def count(operation, args, kwargs, tensors, goes_to_device):
    "Add an operation to the counts."
    name = operation._schema.name.removeprefix('aten::')
    came_from_device = any(map(on_device, tensors))
    if operation is aten._to_copy.default and came_from_device != goes_to_device:
        count_move(operation, args[0], goes_to_device, kwargs.get('non_blocking'))
    elif operation is aten.copy_.default and on_device(args[0]) != on_device(args[1]):
        count_move(operation, args[1], on_device(args[0]), args[2] if len(args) > 2 else False)
    elif operation in INDEXING and came_from_device:
        count_indexing(operation, args)
    elif name in WAITING and came_from_device:
        needs_size = name != 'repeat_interleave' or kwargs.get('output_size') is None
        note(name, copies=needs_size, waits=needs_size)
    if (came_from_device or goes_to_device) and not is_view(operation):
        counts.operations += 1


def as_compiled(function):
    "The function, whose operations count as one: what a compiler makes of them."

    def run_as_one(*args):
        before = counts.operations
        found = function(*args)
        counts.operations = before + 1
        return found

    return run_as_one


def is_view(operation) -> bool:
    "Whether it gives the same memory in another shape, for which the device has nothing to do."
    aliases = [found.alias_info for found in operation._schema.returns]
    return any(alias is not None and not alias.is_write for alias in aliases)


def count_move(operation, source, goes_to_device, non_blocking):
    "A copy between host and device; the host goes on at once if it comes from pinned memory."
    at_once = goes_to_device and non_blocking and source.untyped_storage() in PINNED
    note('to device' if goes_to_device else 'to host', copies=1, waits=not at_once)


def count_indexing(operation, args):
    "Indices of the host are copied; places of a mask are counted first."
    for index in args[1]:
        if index is None:
            continue
        if not on_device(index):
            note('index of the host', copies=1, waits=1)
        elif index.dtype == torch.bool:
            note('index by a mask', copies=1, waits=1)


def pin(operation, tensor):
    "Whether memory is pinned, or a copy of it that is."
    if operation is aten.is_pinned.default:
        return tensor.untyped_storage() in PINNED
    pinned = tensor.clone()
    PINNED.add(pinned.untyped_storage())
    return pinned


def run(operation, args, kwargs):
    "Do on the host what was asked of the device."
    if operation in PINNING:
        return pin(operation, args[0])
    if torch.is_inference_mode_enabled():  # then it comes as it was called, and not its parts
        with torch.inference_mode(False), torch.no_grad():
            parts = operation.decompose(*args, **kwargs)
            return run(operation, args, kwargs) if parts is NotImplemented else parts
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    goes_to_device = any(map(on_device, tensors))
    if kwargs.get('device') is not None:
        goes_to_device = torch.device(kwargs['device']).type == NAME
        kwargs = kwargs | {'device': torch.device('cpu')}
    check_devices(operation, tensors)
    count(operation, args, kwargs, tensors, goes_to_device)
    known = {id(tensor.data_on_host): tensor for tensor in tensors if on_device(tensor)}
    found = operation(*bare(args), **bare(kwargs))
    if operation is aten.copy_.default:
        return args[0]
    if not goes_to_device:
        return found

    def wrap(tensor):
        "The tensor of the device that was there before, or a new one."
        return known[id(tensor)] if id(tensor) in known else DeviceTensor(tensor)

    return tree_map_only(torch.Tensor, wrap, found)


def bare(arguments):
    "The same arguments with the tensors that those of the device really are."

    def unwrap(tensor):
        assert (tensor.shape, tensor.dtype) == (tensor.data_on_host.shape, tensor.data_on_host.dtype)
        return tensor.data_on_host

    return tree_map_only(DeviceTensor, unwrap, arguments)


class Backend(_DummyBackendModule):
    "What torch asks of a device, besides that it is there."

    def get_amp_supported_dtype(self):
        return [torch.bfloat16]

    def mem_get_info(self, device=None):
        return 8 << 30, 16 << 30  # bytes: free, all


def autocast_kernel(operation):
    "An operation that casts its tensors to the type of `torch.autocast`, as matrix products on a GPU do."

    def cast(value):
        is_cast = isinstance(value, torch.Tensor) and value.is_floating_point()
        return value.to(torch.get_autocast_dtype(NAME)) if is_cast else value

    def cast_and_run(*args, **kwargs):
        args = [cast(arg) for arg in args]
        own = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)
        with torch._C._ExcludeDispatchKeyGuard(own):
            return operation(*args, **kwargs)

    return cast_and_run


def copy_from(source, target, non_blocking=False):
    "How torch fills a tensor of the device with what a list or an array holds."
    note('new tensor from the host', copies=1, waits=1)
    target.data_on_host.copy_(source)
    return target


def empty(size, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    return DeviceTensor(torch.empty(size, dtype=dtype))


def empty_strided(size, stride, dtype=None, layout=None, device=None, pin_memory=None):
    return DeviceTensor(torch.empty_strided(size, stride, dtype=dtype))


def stay_on_host(storage, location):
    "Where the content of a file is read to, before tensors of the device are made of it."
    return storage if location.startswith(NAME) else None


LIBRARIES = []  # what is registered lasts as long as these objects


def register_device():
    "Make the device known to torch, once in a process."
    if LIBRARIES:
        return
    _setup_privateuseone_for_python_backend(NAME, Backend())
    kernels = torch.library.Library('aten', 'IMPL')
    kernels.impl('_copy_from', copy_from, 'PrivateUse1')
    kernels.impl('empty.memory_format', empty, 'PrivateUse1')
    kernels.impl('empty_strided', empty_strided, 'PrivateUse1')
    for name in ('linear', 'conv2d', 'matmul', 'mm', 'addmm'):
        kernels.impl(name, autocast_kernel(getattr(aten, name).default), 'AutocastPrivateUse1')
    others = torch.library.Library('_', 'IMPL')
    others.fallback(torch.library.fallthrough_kernel, 'AutocastPrivateUse1')
    LIBRARIES.extend([kernels, others])
    torch.serialization.register_package(0, lambda storage: None, stay_on_host)


class Dispatch(TorchDispatchMode):
    "Sees what makes new tensors of the device from none."

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        return run(operation, args, kwargs or {})


@contextmanager
def in_new_threads():
    "A context in which threads that begin see the device too: what sees new tensors belongs to a thread."
    run = Thread.run

    def run_there(thread):
        with Dispatch():
            run(thread)

    Thread.run = run_there
    try:
        yield
    finally:
        Thread.run = run


@contextmanager
def stand_in():
    "A context in which torch has the device; its value is the name."
    register_device()
    before = torch.autograd.is_multithreading_enabled()
    torch.autograd.set_multithreading_enabled(False)  # its threads were made before there was this device
    torch.compiler.set_stance('force_eager')
    torch.__future__.set_overwrite_module_params_on_conversion(True)  # not their metadata alone
    try:
        with Dispatch(), in_new_threads():
            yield NAME
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)
        torch.compiler.set_stance('default')
        torch.autograd.set_multithreading_enabled(before)


@contextmanager
def counted():
    "A context whose value is what happens in it between host and device."
    global counts
    outer, counts = counts, Counts()
    try:
        yield counts
    finally:
        counts = outer

"""The memory of a world that Box2D simulates in compiled code, saved and put back in place.

Box2D tells neither what its solver goes on from nor in which order it looks at contacts, so that no world can be made
that goes on as another one does. But all that a world knows lies in a few pieces of memory: the world itself, the
chunks of its block allocator, and the arrays of its broad phase. Where their bytes are put back, the world is brought
back, bit by bit, with bodies and joints at the addresses that Python's objects have of them.

Where the pieces lie follows from the sources (E. Catto, Box2D 2.3: ``b2World``, ``b2BlockAllocator``,
``b2DynamicTree``). It is believed only where what is read there is what the world says of itself.
"""

import ctypes
import struct
import sys
from typing import Any

import numpy as np

from agents.bridge.classes import name_of

_WORLD = "Box2D.Box2D.b2World"

_SIZES = (16, 32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640)
_CHUNK = 16 * 1024
"""Bytes of the blocks that there are, for each of which there is a list of free ones, and of a chunk of them."""

_ALLOCATOR, _SCRATCH, _NODE, _INDEX = 16 + 8 * len(_SIZES), 100 * 1024, 40, 4
"""Bytes of the block allocator, and of the stack allocator's after it, which are free between steps; of a node of the
tree, and of the number of one."""

_CHUNKS, _NODES, _MOVES, _PAIRS = 0, 8, 48, 64
"""Where the pointer to each array stands, and two numbers after it: in the world, and from the broad phase on."""

_SAYS, _END = 88, 192
"""Where, from the broad phase on, a world keeps what it says of itself, and where it ends."""

_CHAIN = 3
"""The type of shapes that have memory of their own."""


def is_world(value: Any) -> bool:
    """Say whether something is a world of Box2D."""
    return name_of(type(value)) == _WORLD


class Memory:
    """What a world of Box2D knows, as it is now.

    Parameters
    ----------
    world : Box2D.b2World

    Attributes
    ----------
    data : list
        What bodies, fixtures and joints have as ``userData``.

    Raises
    ------
    TypeError
        If it does not lie in memory as expected, or not as a whole, as with chain shapes.
    """

    def __init__(self, world: Any) -> None:
        self._world, self._at, self._phase = world, int(world.this), int(world.contactManager.broadPhase.this)
        if not self._lies_as_expected():
            raise TypeError(f"its {_WORLD} does not lie in memory as expected, of which no other one is known")
        bodies = world.bodies
        fixtures = [fixture for body in bodies for fixture in body.fixtures]
        if any(fixture.type == _CHAIN for fixture in fixtures):
            raise TypeError(f"its {_WORLD} has chain shapes, which lie elsewhere")
        parts = [*bodies, *fixtures, *world.joints]
        self._bodies = [int(body.this) for body in bodies]
        self.data = [part.userData for part in parts if part.userData is not None]
        self._references = [0] * len(self.data)
        self._save()

    def restore(self) -> None:
        """Bring the world back."""
        self._destroy_newer()
        arrays = self._arrays()
        if arrays != self._kept_arrays:
            self._follow(arrays)
        for place, kept in self._pieces:
            place[:] = kept
        if arrays != self._kept_arrays:
            self._free(self._chunks()[self._count :])
            self._save()
        for data, now, before in zip(self.data, self._counted(), self._references, strict=True):
            for _ in range(now, before):  # dropped with what was destroyed, which is back
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(data))

    def _destroy_newer(self) -> None:
        """Destroy bodies that were made since, so that they let go of what they refer to."""
        (newest,) = self._read("P", self._phase + _SAYS + 40)
        if newest == (self._bodies or [0])[-1] or self._world.locked:
            return
        older = iter(self._bodies)
        for body in self._world.bodies:
            if int(body.this) not in older:  # they come in the order in which they were made
                self._world.DestroyBody(body)

    def count(self) -> None:
        """Count who refers to the data, once all have been found who will; what is destroyed lets go of them."""
        self._references = self._counted()

    def _counted(self) -> list[int]:
        return [sys.getrefcount(self.data[i]) for i in range(len(self.data))]

    def _lies_as_expected(self) -> bool:
        """Say whether what is read where it should stand is what the world says of itself."""
        world = self._world
        if struct.calcsize("P") != ctypes.sizeof(ctypes.c_double) or world.locked:
            return False
        listed = [{int(each.this) for each in part} or {0} for part in (world.contacts, world.bodies, world.joints)]
        contact, contacts, _, _, owner, body, joint, *counts = self._read("PiPPPPPii2f", self._phase + _SAYS)
        said = [world.bodyCount, world.jointCount, *world.gravity, world.contactCount, world.proxyCount]
        if [*counts, contacts, *self._read("i", self._phase + 40)] != said or owner != self._at:
            return False
        known = all(first in part for first, part in zip((contact, body, joint), listed, strict=True))
        return known and all(size in _SIZES for size, _ in self._chunks())

    def _save(self) -> None:
        chunks, arrays = self._chunks(), self._arrays()
        nodes, room = self._read("P4xi", self._phase + _NODES)
        moves, space = self._read("Pi", self._phase + _MOVES)
        after = self._at + _ALLOCATOR + _SCRATCH
        places = [_piece(self._at, _ALLOCATOR), _piece(after, self._phase + _END - after)]
        places += [_piece(nodes, room * _NODE), _piece(moves, space * _INDEX)]
        places += [_piece(blocks, _CHUNK) for _, blocks in chunks]
        self._pieces = [(place, place.copy()) for place in places]
        self._after, self._count, self._kept_arrays = after, len(chunks), arrays

    def _follow(self, arrays: tuple[Any, ...]) -> None:
        """Let what is kept be put where arrays are by now that have grown, and freed what they were."""
        chunks, nodes, moves, pairs = arrays
        (_, world), (_, phase), (_, tree), (_, buffer) = self._pieces[:4]
        phase = phase[self._phase - self._after :]
        struct.pack_into("Pii", world, _CHUNKS, *chunks)
        struct.pack_into("P", phase, _NODES, nodes)
        struct.pack_into("P", phase, _MOVES, moves)
        struct.pack_into("Pi", phase, _PAIRS, *pairs)  # what is in it belongs to a step
        self._pieces[2:4] = [(_piece(nodes, len(tree)), tree), (_piece(moves, len(buffer)), buffer)]

    def _free(self, chunks: list[tuple[int, int]]) -> None:
        """Append blocks of chunks that came later to the lists of the free ones, so that they are used again."""
        for size, blocks in chunks:
            free = range(blocks, blocks + _CHUNK - size + 1, size)
            for block, following in zip(free, (*free[1:], 0), strict=True):
                self._write(block, following)
            end = self._at + 16 + 8 * _SIZES.index(size)
            while following := self._read("P", end)[0]:
                end = following
            self._write(end, blocks)

    def _chunks(self) -> list[tuple[int, int]]:
        """Return the size of the blocks in each chunk, and where they are."""
        chunks, count = self._read("Pi", self._at + _CHUNKS)
        return [self._read("i4xP", chunks + 16 * i) for i in range(count)]

    def _arrays(self) -> tuple[Any, ...]:
        """Return where the arrays are that grow."""
        phase = self._phase
        (nodes,), (moves,) = self._read("P", phase + _NODES), self._read("P", phase + _MOVES)
        return self._read("Pii", self._at + _CHUNKS), nodes, moves, self._read("Pi", phase + _PAIRS)

    @staticmethod
    def _read(kind: str, at: int) -> tuple[Any, ...]:
        return struct.unpack(kind, ctypes.string_at(at, struct.calcsize(kind)))

    @staticmethod
    def _write(at: int, pointer: int) -> None:
        ctypes.c_void_p.from_address(at).value = pointer


def _piece(at: int, size: int) -> Any:
    """Return a piece of memory as an array of bytes."""
    memory: Any = (ctypes.c_ubyte * size).from_address(at)
    return np.frombuffer(memory, np.uint8)

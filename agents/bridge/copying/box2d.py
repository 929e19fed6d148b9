"""The memory of a world that Box2D simulates in compiled code, saved and put back in place.

Box2D tells neither what its solver goes on from nor in which order it looks at contacts, so that no world can be made
that goes on as another one does. But all that a world knows lies in a few pieces of memory: the world itself, the
chunks of its block allocator, and the arrays of its broad phase. Where their bytes are put back, the world is brought
back, bit by bit, with bodies and joints at the addresses that Python's objects have of them.

Where the pieces lie follows from the sources (E. Catto, Box2D 2.3: ``b2World``, ``b2BlockAllocator``,
``b2DynamicTree``). It is believed only where what is read there is what the world says of itself.
"""

import collections
import ctypes
import functools
import struct
from typing import Any

from agents.bridge.copying.classes import KINDS, name_of

_WORLD = "Box2D.Box2D.b2World"

_SIZES = (16, 32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640)
_CHUNK = 16 * 1024
"""Bytes of the blocks that there are, for each of which there is a list of free ones, and of a chunk of them."""

_ALLOCATOR, _SCRATCH, _NODE, _INDEX = 16 + 8 * len(_SIZES), 100 * 1024, 40, 4
"""Bytes of the block allocator, and of the stack allocator's after it, which are free between steps; of a node of the
tree, and of the number of one."""

_CHUNKS, _NODES, _MOVES, _PAIRS = 0, 8, 48, 64
"""Where the pointer to each array stands, and two numbers after it: in the world, and from the broad phase on."""

_SAYS, _LISTS, _END = 88, 128, 192
"""Where, from the broad phase on, a world keeps what it says of itself, its lists, and where it ends."""

_PLACE, _BYTE = ctypes.c_size_t, ctypes.c_char
"""A pointer, and what lies between those that are read."""

_SETTINGS = (
    *("autoClearForces", "continuousPhysics", "subStepping", "warmStarting"),
    *("contactFilter", "contactListener", "destructionListener", "renderer"),
)
"""What a world can be told, beside its gravity."""

_CHAIN = 3
"""The type of shapes that have memory of their own."""


class _Body(ctypes.Structure):
    """Where a body keeps what it refers to."""

    _fields_ = (("_", _BYTE * 104), ("older", _PLACE), ("fixtures", _PLACE), ("_", _BYTE * 56), ("data", _PLACE))


class _Fixture(ctypes.Structure):
    """Where a fixture does."""

    _fields_ = (("_", _BYTE * 8), ("older", _PLACE), ("_", _BYTE * 48), ("data", _PLACE))


class _Joint(ctypes.Structure):
    """Where a joint does."""

    _fields_ = (("_", _BYTE * 24), ("older", _PLACE), ("_", _BYTE * 88), ("data", _PLACE))


def is_world(value: Any) -> bool:
    """Say whether something is a world of Box2D."""
    kind: Any = type(value)
    return _are_worlds(kind)


@functools.lru_cache(KINDS)
def _are_worlds(kind: type) -> bool:
    return any(name_of(base) == _WORLD for base in kind.__mro__)


def renewed(world: Any) -> Any:
    """Return a world with nothing in it that is set as another one; that one, where there is something in it."""
    if world.bodyCount:
        return world
    made = type(world)(world.gravity)
    made.SetAllowSleeping(world.GetAllowSleeping())
    for name in _SETTINGS:
        if getattr(world, name) is not None:  # no filter is not the one that there is at first
            setattr(made, name, getattr(world, name))
    return made


class Memory:
    """What a world of Box2D knows, as it is now.

    Parameters
    ----------
    world : Box2D.b2World

    Attributes
    ----------
    data : list
        What bodies, fixtures and joints have as ``userData``: they stay alive as long as they may be put back.

    Raises
    ------
    TypeError
        If it does not lie in memory as expected, or not as a whole, as with chain shapes.
    """

    def __init__(self, world: Any) -> None:
        self._world, self._at, self._phase = world, int(world.this), int(world.contactManager.broadPhase.this)
        bodies, joints = world.bodies, world.joints  # each is a list made anew
        fixtures = [body.fixtures for body in bodies]
        if not self._lies_as_expected(bodies, fixtures, joints):
            raise TypeError(f"its {_WORLD} does not lie in memory as expected, of which no other one is known")
        parts = [fixture for held in fixtures for fixture in held]
        if any(fixture.type == _CHAIN for fixture in parts):
            raise TypeError(f"its {_WORLD} has chain shapes, which lie elsewhere")
        self.data = [part.userData for part in (*bodies, *parts, *joints)]
        self._references = self._referred()
        self._save()

    def restore(self) -> None:
        """Bring the world back."""
        references, arrays = self._referred(), self._arrays()
        changed = references != self._references
        for data in self._references if changed else ():  # what was destroyed let go of them
            ctypes.pythonapi.Py_IncRef(ctypes.c_void_p(data))
        if arrays == self._kept_arrays:
            self._put()
        else:
            self._follow(arrays)
            self._put()
            self._free(self._chunks()[self._count :])
            self._save()
        for data in references if changed else ():
            ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(data))

    def _put(self) -> None:
        """Put all pieces back, in one call of compiled code: no signal finds half of them."""
        collections.deque(map(ctypes.memmove, *self._pieces), maxlen=0)

    def _referred(self) -> list[int]:
        """Return where the userData of bodies and their fixtures, and of joints, is; each of them holds a reference."""
        found = []
        body, joint = self._read("PP", self._phase + _LISTS)
        while body:
            each = _Body.from_address(body)
            found.append(each.data)
            body, fixture = each.older, each.fixtures
            while fixture:
                part = _Fixture.from_address(fixture)
                found.append(part.data)
                fixture = part.older
        while joint:
            link = _Joint.from_address(joint)
            found.append(link.data)
            joint = link.older
        return found

    def _lies_as_expected(self, bodies: list[Any], fixtures: list[list[Any]], joints: list[Any]) -> bool:
        """Say whether what is read where it should stand is what the world says of itself."""
        world = self._world
        if struct.calcsize("P") != ctypes.sizeof(ctypes.c_double) or world.locked:
            return False
        contacts = {int(each.this) for each in world.contacts} or {0}
        contact, count, _, _, owner, body, joint, *counts = self._read("PiPPPPPii2f", self._phase + _SAYS)
        said = [world.bodyCount, world.jointCount, *world.gravity, world.contactCount, world.proxyCount]
        if [*counts, count, *self._read("i", self._phase + 40)] != said or owner != self._at or contact not in contacts:
            return False
        if [body, joint] != [_newest(bodies), _newest(joints)]:
            return False
        known = all(
            _Body.from_address(int(each.this)).fixtures == _newest(held) and _lie_linked(held, _Fixture)
            for each, held in zip(bodies, fixtures, strict=True)
        )
        known = known and _lie_linked(bodies, _Body) and _lie_linked(joints, _Joint)
        return known and all(size in _SIZES for size, _ in self._chunks())

    def _save(self) -> None:
        chunks, arrays = self._chunks(), self._arrays()
        nodes, room = self._read("P4xi", self._phase + _NODES)
        moves, space = self._read("Pi", self._phase + _MOVES)
        after = self._at + _ALLOCATOR + _SCRATCH
        places = [(self._at, _ALLOCATOR), (after, self._phase + _END - after)]
        places += [(nodes, room * _NODE), (moves, space * _INDEX), *((blocks, _CHUNK) for _, blocks in chunks)]
        kept = [ctypes.create_string_buffer(ctypes.string_at(*place), place[1]) for place in places]
        pieces = [at for at, _ in places], kept, [size for _, size in places]
        self._pieces, self._count, self._kept_arrays = pieces, len(chunks), arrays

    def _follow(self, arrays: tuple[Any, ...]) -> None:
        """Let what is kept be put where arrays are by now that have grown, and freed what they were."""
        chunks, nodes, moves, pairs = arrays
        places, (world, phase, *_), _ = self._pieces
        start = self._phase - places[1]
        struct.pack_into("Pii", world, _CHUNKS, *chunks)
        struct.pack_into("P", phase, start + _NODES, nodes)
        struct.pack_into("P", phase, start + _MOVES, moves)
        struct.pack_into("Pi", phase, start + _PAIRS, *pairs)  # what is in it belongs to a step
        places[2:4] = nodes, moves

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


def _lie_linked(parts: list[Any], kind: Any) -> bool:
    """Say whether parts lead to each other, and to their data, where they should."""
    for i, part in enumerate(parts):
        read, held = kind.from_address(int(part.this)), part.userData
        if read.older != _newest(parts[max(i - 1, 0) : i]) or (read.data or id(None)) != id(held):
            return False
    return True


def _newest(parts: list[Any]) -> int:
    """Return where the last of some parts is, which come in the order in which they were made; 0 if there is none."""
    return int(parts[-1].this) if parts else 0

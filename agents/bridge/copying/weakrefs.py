"""Copies of what refers to something without keeping it: the copy refers to the copy."""

import weakref
from collections.abc import Callable
from typing import Any


def behind(proxy: Any) -> Any:
    """Return what a weak proxy stands for; None if it has gone."""
    try:
        return proxy.__reduce_ex__.__self__
    except ReferenceError:
        return None


def _to(refer: Callable[[Any], Any], target_of: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def copied(into: Any, value: Any) -> Any:
        target = target_of(value)
        if target is None:
            return value
        into.held.append(into.of(target))  # the original may be held by others
        return refer(into.held[-1])

    return copied


def _table(into: Any, value: Any) -> Any:
    made = type(value)()
    kept = {into.of(key): into.of(item) for key, item in value.items()}
    made.update(kept)
    into._others.append((_refill, (made, kept)))
    return made


def _refill(table: Any, kept: Any) -> None:
    table.clear()
    table.update(kept)


WEAK: dict[type, Callable[[Any, Any], Any]] = {
    weakref.CallableProxyType: _to(weakref.proxy, behind),
    weakref.ProxyType: _to(weakref.proxy, behind),
    weakref.WeakKeyDictionary: _table,
    weakref.WeakMethod: _to(weakref.WeakMethod, weakref.WeakMethod.__call__),
    weakref.WeakValueDictionary: _table,
    weakref.ref: _to(weakref.ref, weakref.ref.__call__),
}
"""How each of them is copied into a :class:`agents.bridge.copying.copies.Copy`."""

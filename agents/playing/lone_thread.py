"""A thread in which all is done that concerns an environment of others, one thing after the other."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any


class LoneThread:
    """Does what it is given in a thread of its own, and keeps no program from ending: code of others may never return.

    Whoever gives it something waits until that is done; one at a time does.
    """

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        self._answer: Future[Any] = Future()
        self._left = False
        threading.Thread(target=self._work, daemon=True).start()

    def do(self, what: Callable[[], Any]) -> Any:
        """Do something there, and return what it returns.

        Raises
        ------
        Exception
            What it raises; ``RuntimeError`` where that would end the program, and if the thread is left.
        """
        self._answer = answer = Future[Any]()
        if self._left:
            self.leave()
        else:
            self._asked.put((answer, what))
        return answer.result()

    def leave(self) -> None:
        """Let nobody wait any more."""
        self._left = True
        with suppress(InvalidStateError):  # it has its answer
            self._answer.set_exception(RuntimeError("the game is left, in which something was still to be done"))

    def _work(self) -> None:
        while True:
            answer, what = self._asked.get()
            with suppress(InvalidStateError):  # nobody waits any more
                try:
                    answer.set_result(what())
                except Exception as error:
                    answer.set_exception(error)
                except BaseException as error:  # such as exit()
                    answer.set_exception(RuntimeError(f"{type(error).__name__}: {error}, which would end the program"))

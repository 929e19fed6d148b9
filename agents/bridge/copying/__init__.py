"""Copies of the Python objects that make up an environment, brought back fast and again and again.

:mod:`~agents.bridge.copying.copies` makes a copy and brings it back. How each kind of object is copied is in
:mod:`~agents.bridge.copying.makers`, and for libraries whose state lies in compiled code in a module each. Chance is
seeded anew by :mod:`~agents.bridge.copying.chance`; :mod:`~agents.bridge.copying.digest` tells copies apart.

Nothing here knows how an environment is played: the rest of the bridge does.
"""

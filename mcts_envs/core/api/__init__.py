"""The APIs over a game: Gymnasium's (``env``), PettingZoo's (``multi``), batches (``vector``), and their opponents."""

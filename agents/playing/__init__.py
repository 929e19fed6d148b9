"""Games that people sit in: a session, its server for a browser, and the same in a terminal."""

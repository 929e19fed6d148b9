"""A report as one file of HTML that stands alone: it fetches nothing, runs nothing, and takes nothing for HTML.

Beside the tables of the terminal it has what these cannot show: intervals side by side, strength against time, all
against all in colours, lengths, and the games that were slow, long or ended in an error, each with a page to watch it
where replays are kept.
"""

from agents.arena.page.document import page, write_page

__all__ = ["page", "write_page"]

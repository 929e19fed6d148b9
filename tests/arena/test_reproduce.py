"""The commands that reproduce papers: what they are going to play can be played."""

from itertools import chain

import pytest
import reproduce
import typer
import typer.testing
from papers import bomber
from papers.meetings import differences

import agents
from agents.arena.formats.lineup_figures import side_name
from agents.arena.statistics import wilson
from mcts_envs.games.bomber_grid.spec import bomber_grid

MEETINGS = {
    part.__name__: part()
    for part in (bomber._ours, bomber._plain, bomber._report_tables, bomber._aiide, bomber._future)
}


@pytest.mark.parametrize("part", MEETINGS)
def test_meetings_have_distinct_names_and_whole_boards(part):
    meetings = MEETINGS[part]
    names = [meeting.name for meeting in meetings]
    assert len(set(names)) == len(names)
    for meeting in meetings:
        assert meeting.boards(meeting.games) >= 7
        assert meeting.boards(1) == 2


@pytest.mark.parametrize("part", ["_report_tables", "_aiide"])
def test_published_shares_are_of_sides_that_meet_and_add_up(part):
    for meeting in MEETINGS[part]:
        sides = {side_name(spec.label for spec in side) for lineup in meeting.plan.lineups for side in lineup}
        assert meeting.published.keys() <= sides
        assert all(sum(shares) == pytest.approx(100) for shares in meeting.published.values())


def test_every_agent_of_the_papers_can_be_made():
    players = chain.from_iterable(meeting.players for meetings in MEETINGS.values() for meeting in meetings)
    for spec in {player.spec for player in players}:
        agent = agents.make(spec.name, **spec.settings)
        assert spec.name == "mcts" or agent.resolve(bomber_grid()) is not None


def test_a_share_differs_only_where_the_intervals_do_not_meet():
    ours = wilson(50, 100), wilson(0, 100), wilson(50, 100)
    assert list(differences((50, 0, 50), 50, ours)) == []
    assert list(differences((90, 0, 10), 50, ours)) == ["fewer wins", "more losses"]


@pytest.mark.parametrize("out", ["there", "there/below", "."])
def test_where_nothing_can_be_written_is_said_before_hours_are_played(out, tmp_path, monkeypatch):
    (tmp_path / "there").write_text("")
    (tmp_path / "lane" / "report.md").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    app = typer.Typer()
    app.command()(reproduce.main)
    result = typer.testing.CliRunner().invoke(app, ["lane", "--out", out])
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr
    assert result.stderr.count("\n") == 1

"""Football-lite: two teams, dice, and turns of many small decisions."""

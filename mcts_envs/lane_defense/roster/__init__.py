"""Lane defense with a roster: several kinds of plants and zombies, sun, recharge times and waves, on 5 x 9 cells."""

"""Wall survival: two players on a square board who wall each other in (Colosseum Survival!)."""

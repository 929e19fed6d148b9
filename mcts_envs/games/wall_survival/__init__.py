"""Wall survival: Colosseum Survival!."""

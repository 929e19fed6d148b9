"""Playing the matches of a comparison: in this process, in others, or where somebody else has them."""

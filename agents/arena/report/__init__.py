"""What a comparison found: figures, tables, plots, and what to make of them."""

"""What a search found, for people: its tree, as text, tables, pictures, and the data of a page."""

"""Words for people: names and numbers as text, tables in a terminal, objects at a prompt."""

"""The tables: frozen rows and no logic. A fact stands here once."""

"""A whole run: what its calls show one by one, and what only all of them together do.

``watch`` looks at each call, and keeps facts; a rule is a file that reads them at the end.
"""

"""Facts of a whole run: what watches a run writes them, what explains it reads them.

``facts`` has the records, ``run`` the protocol by which they are read, from memory or from a file,
``schedule`` says how much is kept of which call.
"""

"""The sections that speak of the whole pass, and of the calls of the program."""

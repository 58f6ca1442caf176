"""Ops and functions on elements, one by one."""

"""Kueue's arithmetic in plain Python: no framework, no I/O, frozen records in and out."""

"""Amounts, reasons and quota in the reader's language."""

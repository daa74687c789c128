"""The demo's past: an emulated cluster runs through weeks, and a ledger is written from it."""

"""Rules of loss, loops, interruptions and quota as plain arithmetic: no database, no clock."""

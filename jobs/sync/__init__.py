"""What a list, a watch and the events of a cluster tell, compared with the ledger."""

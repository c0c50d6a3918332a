"""What problems live on: finite domains with masses, lists, simplices, chains."""

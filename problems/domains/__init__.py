"""The domains of problems: finite domains with masses, lists, simplices, chains."""

"""Moving a live run from one definition to another: may it, what stands in the way, what does it become."""

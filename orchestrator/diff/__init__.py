"""Two versions of a flow: what changed, in words, and whether a run may go on from where it is."""

"""Why a run is where it is: what it waits for, who could send it, or why nobody can."""

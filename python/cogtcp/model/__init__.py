"""A scenario, its run and what a run's numbers mean."""

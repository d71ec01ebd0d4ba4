"""One runner for everything that makes many runs."""

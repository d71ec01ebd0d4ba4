"""Figures, pages and plots of results."""

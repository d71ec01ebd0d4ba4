"""What to choose: searches, advice, the atlas, learning agents."""

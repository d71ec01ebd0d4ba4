"""What was measured: spectrum, links, journeys, movement, captures and logs of others."""

"""The atlas: which transport wins over which kind of spectrum, from a survey of all of them.

`space` has the coordinates, `survey` makes the runs, `lookup` answers from what was found;
`docs/atlas.md` tells what it shows.
"""

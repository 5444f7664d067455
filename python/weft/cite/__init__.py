"""BibTeX references for a paper: Weft, and the sources of the models that a scenario uses."""

"""What a paper cites: Weft, and the sources of the models that a scenario uses, as BibTeX."""

"""The demo: an invented port town, its papers and a few other feeds, of our own writing, served from this machine."""

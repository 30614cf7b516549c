"""The studio: build a robot by clicking, watch it move, read its equations. A page in the browser, served from here."""

"""The studio: a server on this machine and a page in the browser."""

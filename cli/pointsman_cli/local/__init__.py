"""`pointsman local`: the whole stack on this machine, at an address."""

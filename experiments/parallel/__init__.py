"""Many tasks at once, on this machine or a cluster."""

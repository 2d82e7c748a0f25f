"""Every GPU of the host: what each reaches alone, and what its neighbours cost it. One process a GPU."""

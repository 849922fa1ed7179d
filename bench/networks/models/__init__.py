"""Networks by their published shapes, with random weights: each module has NETWORKS, name -> Network."""

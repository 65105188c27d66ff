"""Analysis of one position: where a search starts, its score, and proofs that it is lost."""

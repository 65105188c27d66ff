"""Playing agents over many deals, fairly."""

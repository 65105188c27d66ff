"""What speed is measured beside: other environments, start-up, overhead."""

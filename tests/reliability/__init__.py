"""What is promised under faults, tried at length: each module is a command that leaves a table."""

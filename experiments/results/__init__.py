"""Results: folders, tables and statistics."""

"""Results for people, as tables, plots and pages."""
